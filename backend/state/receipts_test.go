package state

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"countersign/backend/capability"
)

// decision returns a valid record of the simplest kind.
func decision(session, call string) capability.Record {
	return capability.Record{
		ID: uuid.Must(uuid.NewV7()).String(), Kind: capability.RecordDecision,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Request: call, Call: call, Session: session,
		Principal: "agent/demo/" + session, Tool: "bash",
	}
}

// chain is a receipt chain in the making, with what is needed to open it again.
type chain struct {
	t     *testing.T
	dir   string
	store *Store
	id    *Identity
	open  *Receipts
	size  int64
	heads []Head
}

// newChain starts a chain whose segments take size bytes.
func newChain(t *testing.T, size int64) *chain {
	t.Helper()
	dir := t.TempDir()
	c := &chain{t: t, dir: dir, store: openTest(t, dir), id: testIdentity(t), size: size}
	c.reopen()
	t.Cleanup(func() { _ = c.open.Close() })
	return c
}

func (c *chain) reopen() {
	c.t.Helper()
	if c.open != nil {
		_ = c.open.Close()
	}
	c.open = must(OpenReceipts(c.dir, c.store, c.id, SegmentBytes(c.size)))(c.t)
}

// reopenFails closes the chain and expects that it does not open again, for the given reason.
func (c *chain) reopenFails(want BreakReason) {
	c.t.Helper()
	_ = c.open.Close()
	r, err := OpenReceipts(c.dir, c.store, c.id, SegmentBytes(c.size))
	if err == nil {
		_ = r.Close()
		c.t.Fatalf("it opened; want %s", want)
	}
	var b *Break
	if !errors.Is(err, ErrReceiptsBroken) || !errors.As(err, &b) || b.Reason != want || Hint(err) == "" {
		c.t.Fatalf("got %v, want reason %s", err, want)
	}
}

func (c *chain) append(n int) {
	c.t.Helper()
	for i := range n {
		r := decision(fmt.Sprintf("session-%d", i%2), fmt.Sprintf("call-%d", i))
		digest := must(c.open.Append(r))(c.t)
		head := c.open.Head()
		if head.Digest != digest {
			c.t.Fatalf("Append returned %s, the head is %s", digest, head.Digest)
		}
		c.heads = append(c.heads, head)
	}
}

func (c *chain) path(name string) string { return filepath.Join(c.dir, ReceiptsDir, name) }

// edit changes the lines of a segment.
func (c *chain) edit(segment int, change func(lines []string) []string) {
	c.t.Helper()
	path := c.path(segmentName(segment))
	text := strings.TrimSuffix(string(must(os.ReadFile(path))(c.t)), "\n")
	text = strings.Join(change(strings.Split(text, "\n")), "\n")
	if text != "" {
		text += "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chain) verify(known *Head) Verification {
	c.t.Helper()
	return must(Verify(filepath.Join(c.dir, ReceiptsDir), c.id.Public(), known))(c.t)
}

func TestReceiptsAppendAndRead(t *testing.T) {
	c := newChain(t, 0)
	if v := c.verify(nil); !v.Holds() || v.Entries != 0 {
		t.Errorf("empty chain: %+v", v)
	}
	var records []capability.Record
	for i := range 7 {
		r := decision(fmt.Sprintf("s%d", i%2), fmt.Sprintf("c%d", i%3))
		records = append(records, r)
		if _, err := c.open.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	check := func(t *testing.T) {
		t.Helper()
		for i, want := range records {
			e, err := c.open.Get(want.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, e.Record); diff != "" || e.Sequence != uint64(i+1) || e.Segment != 1 {
				t.Errorf("entry %d: %s", i, diff)
			}
		}
		for name, tt := range map[string]struct {
			filter Filter
			want   []uint64
		}{
			"all":                 {Filter{}, []uint64{7, 6, 5, 4, 3, 2, 1}},
			"limit":               {Filter{Limit: 2}, []uint64{7, 6}},
			"next page":           {Filter{Limit: 2, Before: 6}, []uint64{5, 4}},
			"session":             {Filter{Session: "s0"}, []uint64{7, 5, 3, 1}},
			"session, next page":  {Filter{Session: "s0", Before: 5, Limit: 1}, []uint64{3}},
			"call":                {Filter{Call: "c0"}, []uint64{7, 4, 1}},
			"call and session":    {Filter{Call: "c0", Session: "s1"}, []uint64{4}},
			"kind":                {Filter{Kind: capability.RecordDecision, Limit: 1}, []uint64{7}},
			"kind nobody has":     {Filter{Kind: capability.RecordWrite}, nil},
			"session nobody has":  {Filter{Session: "s9"}, nil},
			"call nobody has":     {Filter{Call: "c9"}, nil},
			"before the first":    {Filter{Before: 1}, nil},
			"more than there are": {Filter{Limit: 1 << 40}, []uint64{7, 6, 5, 4, 3, 2, 1}},
		} {
			list, err := c.open.List(tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			for _, e := range list {
				got = append(got, e.Sequence)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
	check(t)
	c.reopen()
	check(t)
	if _, err := c.open.Get("nothing"); !errors.Is(err, ErrNoReceipt) || Hint(err) == "" {
		t.Errorf("unknown id: %v", err)
	}
	if runtime.GOOS != "windows" {
		if mode := must(os.Stat(c.path("000001.jsonl")))(t).Mode().Perm(); mode != 0o600 {
			t.Errorf("mode %#o", mode)
		}
	}
}

// The envelope is what other programs read: DSSE around an in-toto Statement v1, checked here without our own types.
func TestReceiptsAreDSSE(t *testing.T) {
	c := newChain(t, 0)
	first, second := decision("s", "c"), decision("s", "c")
	d1 := must(c.open.Append(first))(t)
	if _, err := c.open.Append(second); err != nil {
		t.Fatal(err)
	}
	e := must(c.open.Get(second.ID))(t)
	var env struct {
		PayloadType, Payload string
		Signatures           []struct{ KeyID, Sig string }
	}
	if err := json.Unmarshal(e.Envelope, &env); err != nil {
		t.Fatal(err)
	}
	payload := must(base64.StdEncoding.DecodeString(env.Payload))(t)
	sig := must(base64.StdEncoding.DecodeString(env.Signatures[0].Sig))(t)
	pae := fmt.Sprintf("DSSEv1 %d %s %d %s", len(env.PayloadType), env.PayloadType, len(payload), payload)
	if env.PayloadType != "application/vnd.in-toto+json" || !ed25519.Verify(c.id.Public(), []byte(pae), sig) || env.Signatures[0].KeyID != c.id.Fingerprint() {
		t.Error("the envelope does not verify")
	}
	var got, want map[string]any
	if err := json.Unmarshal(payload, &got); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1",
		"subject":[{"name":"record/%s","digest":{"sha256":"%s"}}],
		"predicateType":"https://countersign.dev/receipt/v1",
		"predicate":{"sequence":2,"segment":1,"previous":"%s"}}`,
		second.ID, strings.TrimPrefix(capability.Digest(second), "sha256:"), d1)
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	delete(got["predicate"].(map[string]any), "record")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReceiptsRotate(t *testing.T) {
	c := newChain(t, 3000)
	c.append(20)
	l := must(readLayout(filepath.Join(c.dir, ReceiptsDir)))(t)
	if l.segments < 4 || l.gap != 0 || len(l.foreign) != 0 {
		t.Fatalf("layout %+v", l)
	}
	c.reopen()
	c.append(3)
	v := must(c.open.Verify())(t)
	if !v.Holds() || v.Entries != 23 || v.Segments < 4 || v.Known == nil {
		t.Errorf("%+v", v)
	}
	list := must(c.open.List(Filter{Session: "session-0"}))(t)
	if len(list) != 12 || list[0].Segment == list[11].Segment {
		t.Errorf("%d entries", len(list))
	}
	// A crash right after the next segment was made.
	_ = c.open.Close()
	var next string
	for n := 1; ; n++ {
		if _, err := os.Stat(c.path(segmentName(n))); err != nil {
			next = c.path(segmentName(n))
			break
		}
	}
	if err := os.WriteFile(next, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if v := c.verify(nil); !v.Holds() {
		t.Errorf("empty newest segment: %+v", v)
	}
	c.reopen()
	c.append(2)
	if v := c.verify(nil); !v.Holds() || v.Entries != 25 {
		t.Errorf("%+v", v)
	}
}

func TestReceiptsManyAtOnce(t *testing.T) {
	c := newChain(t, 10_000)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 5 {
				if _, err := c.open.Append(decision(fmt.Sprint(i), "c")); err != nil {
					t.Error(err)
				}
				if _, err := c.open.List(Filter{Session: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
				if v, err := c.open.Verify(); err != nil || !v.Holds() {
					t.Errorf("verify meanwhile: %v, %v", v, err)
				}
			}
		})
	}
	wg.Wait()
	if v := c.verify(nil); !v.Holds() || v.Entries != 40 {
		t.Errorf("%+v", v)
	}
}

func TestReceiptsAreLocked(t *testing.T) {
	c := newChain(t, 0)
	if _, err := OpenReceipts(c.dir, c.store, c.id); !errors.Is(err, ErrLocked) {
		t.Errorf("second open: %v", err)
	}
}
