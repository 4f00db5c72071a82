package state

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"countersign/backend/capability"
)

// forge signs a statement that was changed, with the given key: what an attacker with a key of his own can do.
func forge(t *testing.T, line string, id *Identity, change func(st *statement)) string {
	t.Helper()
	p := must(parseLine([]byte(line)))(t)
	change(&p.statement)
	payload := must(json.Marshal(p.statement))(t)
	return string(must(json.Marshal(dsse.Envelope{
		PayloadType: payloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []dsse.Signature{{
			KeyID: id.Fingerprint(),
			Sig:   base64.StdEncoding.EncodeToString(id.Sign(dsse.PAE(payloadType, payload))),
		}},
	}))(t))
}

func replace(s string, i int, b byte) string { return s[:i] + string(b) + s[i+1:] }

// Every kind of tampering is named with the first entry that does not hold, offline and when the chain is opened.
func TestTampering(t *testing.T) {
	const entries = 12
	tests := []struct {
		name   string
		tamper func(t *testing.T, c *chain)
		first  uint64      // the entry that does not hold
		want   BreakReason // offline
		open   BreakReason // when opened; "" like want
	}{
		{"flip a byte of a payload", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string {
				i := strings.Index(l[1], `"payload":"`) + 60
				flipped := byte('A')
				if l[1][i] == 'A' {
					flipped = 'B'
				}
				l[1] = replace(l[1], i, flipped)
				return l
			})
		}, 2, BreakSyntax, ""}, // usually no JSON any more; where it is, see "change a word"
		{"change a word", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string {
				var env dsse.Envelope
				_ = json.Unmarshal([]byte(l[1]), &env)
				payload := must(base64.StdEncoding.DecodeString(env.Payload))(t)
				payload = []byte(strings.Replace(string(payload), `"tool":"bash"`, `"tool":"read"`, 1))
				env.Payload = base64.StdEncoding.EncodeToString(payload)
				l[1] = string(must(json.Marshal(env))(t))
				return l
			})
		}, 2, BreakSignature, BreakPrevious},
		{"flip a byte of a signature", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string {
				i := strings.Index(l[1], `"sig":"`) + 20
				flipped := byte('A')
				if l[1][i] == 'A' {
					flipped = 'B'
				}
				l[1] = replace(l[1], i, flipped)
				return l
			})
		}, 2, BreakSignature, BreakPrevious},
		{"add a space", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { l[1] += " "; return l })
		}, 2, BreakSyntax, BreakPrevious},
		{"add a member", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { l[1] = `{"x":1,` + l[1][1:]; return l })
		}, 2, BreakSyntax, BreakPrevious},
		{"second signature", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string {
				l[1] = strings.Replace(l[1], `"signatures":[`, `"signatures":[{"keyid":"x","sig":"AAAA"},`, 1)
				return l
			})
		}, 2, BreakSyntax, ""},
		{"not base64", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { l[1] = strings.Replace(l[1], `"sig":"`, `"sig":"!`, 1); return l })
		}, 2, BreakSyntax, ""},
		{"drop a line", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { return slices.Delete(l, 1, 2) })
		}, 2, BreakSequence, ""},
		{"drop the first line", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { return l[1:] })
		}, 1, BreakSequence, ""},
		{"repeat a line", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { return slices.Insert(l, 1, l[0]) })
		}, 2, BreakSequence, ""},
		{"put lines in another order", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { l[0], l[1] = l[1], l[0]; return l })
		}, 1, BreakSequence, ""},
		{"insert an empty line", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { return slices.Insert(l, 1, "") })
		}, 2, BreakSyntax, ""},
		{"insert a line that is too long", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string { return slices.Insert(l, 1, strings.Repeat("x", maxEntry+1)) })
		}, 2, BreakSyntax, ""},
		{"swap two segments", func(t *testing.T, c *chain) {
			a, b := c.path(segmentName(1)), c.path(segmentName(2))
			if err := errors.Join(os.Rename(a, a+"x"), os.Rename(b, a), os.Rename(a+"x", b)); err != nil {
				t.Fatal(err)
			}
		}, 1, BreakSegment, ""},
		{"remove the first segment", func(t *testing.T, c *chain) { _ = os.Remove(c.path(segmentName(1))) }, 1, BreakSegment, ""},
		{"remove a segment in the middle", func(t *testing.T, c *chain) { _ = os.Remove(c.path(segmentName(2))) }, 5, BreakSegment, ""},
		{"empty a segment in the middle", func(t *testing.T, c *chain) { _ = os.Truncate(c.path(segmentName(2)), 0) }, 5, BreakSegment, ""},
		{"cut a segment in the middle", func(t *testing.T, c *chain) {
			path := c.path(segmentName(1))
			_ = os.Truncate(path, must(os.Stat(path))(t).Size()-3)
		}, 4, BreakTorn, ""},
		{"remove the newest entry", func(t *testing.T, c *chain) {
			c.edit(4, func(l []string) []string { return l[:len(l)-1] })
		}, entries, BreakTruncated, ""},
		{"remove the newest segment", func(t *testing.T, c *chain) { _ = os.Remove(c.path(segmentName(4))) }, 11, BreakTruncated, ""},
		{"remove everything", func(t *testing.T, c *chain) { _ = os.RemoveAll(filepath.Join(c.dir, ReceiptsDir)) }, 1, BreakTruncated, ""},
		{"sign an entry with a foreign key", func(t *testing.T, c *chain) {
			other := testIdentity(t)
			c.edit(1, func(l []string) []string { l[1] = forge(t, l[1], other, func(*statement) {}); return l })
		}, 2, BreakForeignKey, BreakPrevious},
		{"replace the newest entry", func(t *testing.T, c *chain) {
			c.edit(4, func(l []string) []string {
				l[len(l)-1] = forge(t, l[len(l)-1], c.id, func(st *statement) {
					r := decision("other", "other")
					st.Predicate.Record = must(json.Marshal(r))(t)
					st.Subject = []subject{{Name: subjectName(r.ID), Digest: subjectDigest(st.Predicate.Record)}}
				})
				return l
			})
		}, entries, BreakRewritten, ""},
		{"replace the newest entry with a foreign key", func(t *testing.T, c *chain) {
			other := testIdentity(t)
			c.edit(4, func(l []string) []string {
				l[len(l)-1] = forge(t, l[len(l)-1], other, func(*statement) {})
				return l
			})
		}, entries, BreakForeignKey, BreakRewritten},
		{"subject of another record", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string {
				l[1] = forge(t, l[1], c.id, func(st *statement) { st.Subject[0].Digest["sha256"] = strings.Repeat("0", 64) })
				return l
			})
		}, 2, BreakSubject, BreakPrevious},
		{"another kind of statement", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string {
				l[1] = forge(t, l[1], c.id, func(st *statement) { st.PredicateType = "https://example.com/x" })
				return l
			})
		}, 2, BreakStatement, BreakPrevious},
		{"a record without id", func(t *testing.T, c *chain) {
			c.edit(1, func(l []string) []string {
				l[1] = forge(t, l[1], c.id, func(st *statement) { st.Predicate.Record = json.RawMessage(`{"kind":"start"}`) })
				return l
			})
		}, 2, BreakRecord, BreakPrevious},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t, 3000)
			c.append(entries)
			if l := must(readLayout(filepath.Join(c.dir, ReceiptsDir)))(t); l.segments != 4 {
				t.Fatalf("%d segments; the table counts on 4", l.segments)
			}
			known := c.open.Head()
			if v := c.verify(&known); !v.Holds() {
				t.Fatalf("before: %s", v)
			}
			tt.tamper(t, c)
			v := c.verify(&known)
			if v.Holds() || v.Break.Reason != tt.want || v.Break.Sequence != tt.first || v.Head.Sequence != tt.first-1 {
				t.Fatalf("got %+v (%s), want entry %d: %s", v.Break, v, tt.first, tt.want)
			}
			if !errors.Is(v.Break, ErrReceiptsBroken) || !strings.Contains(v.String(), string(tt.want)) {
				t.Errorf("text: %s", v)
			}
			want := tt.open
			if want == "" {
				want = tt.want
			}
			c.reopenFails(want)
		})
	}
}

// Removing the newest entries leaves a chain that verifies: only a head from elsewhere tells.
func TestTruncationNeedsAKnownHead(t *testing.T) {
	c := newChain(t, 0)
	c.append(5)
	c.edit(1, func(l []string) []string { return l[:3] })
	v := c.verify(nil)
	if !v.Holds() || v.Entries != 3 || !strings.Contains(v.String(), "cannot be said") {
		t.Errorf("without a head: %s", v)
	}
	v = c.verify(&c.heads[2])
	if !v.Holds() || !strings.Contains(v.String(), "Complete to entry 3") {
		t.Errorf("with an older head: %s", v)
	}
	if v = c.verify(&c.heads[4]); v.Holds() || v.Break.Reason != BreakTruncated || v.Break.Sequence != 4 {
		t.Errorf("with the newest head: %s", v)
	}
	foreign := Head{Sequence: 2, Digest: c.heads[0].Digest}
	if v = c.verify(&foreign); v.Holds() || v.Break.Reason != BreakRewritten || v.Break.Sequence != 2 {
		t.Errorf("with a head of another chain: %s", v)
	}
}

// An entry that holds in itself and repeats a record is refused: a record is one thing that happened.
func TestRepeatedRecord(t *testing.T) {
	c := newChain(t, 0)
	c.append(2)
	head := c.heads[1]
	_ = c.open.Close()
	c.edit(1, func(l []string) []string {
		return append(l, forge(t, l[0], c.id, func(st *statement) { st.Predicate.Sequence, st.Predicate.Previous = 3, head.Digest }))
	})
	if v := c.verify(&head); v.Holds() || v.Break.Reason != BreakRecord || v.Break.Sequence != 3 {
		t.Errorf("offline: %s", v)
	}
	c.reopenFails(BreakRecord)
}

func TestVerifyWithAnotherKey(t *testing.T) {
	c := newChain(t, 0)
	c.append(2)
	v := must(Verify(filepath.Join(c.dir, ReceiptsDir), testIdentity(t).Public(), nil))(t)
	if v.Holds() || v.Break.Reason != BreakForeignKey || v.Break.Sequence != 1 {
		t.Errorf("%s", v)
	}
	if _, err := Verify(c.dir, nil, nil); err == nil {
		t.Error("no key, no error")
	}
	c.id = testIdentity(t)
	c.reopenFails(BreakForeignKey)
}

func TestVerifySaysWhatElseItSaw(t *testing.T) {
	c := newChain(t, 0)
	one, two := decision("s", "c"), decision("s", "c")
	effective := must(capability.Intersect(capability.Request{
		Class: capability.ClassIntegration, Policy: capability.DangerFullAccess, Cwd: "/", Network: capability.NetworkOpen,
		ReadRoots: []string{"/"}, WriteRoots: []string{"/"},
	}))(t).Snapshot()
	for _, r := range []*capability.Record{&one, &two} {
		r.Kind, r.Class, r.Enforcement, r.Backend = capability.RecordStart, capability.ClassIntegration, capability.Advisory, "host"
		r.ArgvDigest, r.StartedAt = capability.Digest("argv"), r.Time
		r.Cwd, r.Effective = "/", &effective
	}
	end := decision("s", "c")
	zero := 0
	end.Kind, end.Start, end.ExitStatus, end.StartedAt, end.EndedAt = capability.RecordEnd, one.ID, &zero, one.Time, one.Time
	end.Class, end.Enforcement, end.Backend, end.ArgvDigest, end.Cwd = one.Class, one.Enforcement, one.Backend, one.ArgvDigest, one.Cwd
	for _, r := range []capability.Record{one, two, end} {
		if _, err := c.open.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.WriteFile(c.path("notes.txt"), nil, 0o600)
	v := must(c.open.Verify())(t)
	if !v.Holds() || !slices.Equal(v.Unended, []string{two.ID}) || !slices.Equal(v.Foreign, []string{"notes.txt"}) {
		t.Errorf("%+v", v)
	}
	if !strings.Contains(v.String(), "1 starts have no end") || !strings.Contains(Proof, "unboxed process") {
		t.Errorf("%s", v)
	}
}

func TestVerifyOffline(t *testing.T) {
	dir := t.TempDir()
	if _, err := VerifyOffline(dir); !errors.Is(err, ErrNoIdentity) {
		t.Errorf("no store: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, StoreFile)); err == nil {
		t.Error("a store was made")
	}
	s := openTest(t, dir)
	if _, err := VerifyOffline(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("while a core has it: %v", err)
	}
	_ = s.Close()
	if _, err := VerifyOffline(dir); !errors.Is(err, ErrNoIdentity) {
		t.Errorf("no identity yet: %v", err)
	}
	s = openTest(t, dir)
	id := must(OpenIdentity(context.Background(), s, fileOptions(dir, "open sesame")))(t)
	r := must(OpenReceipts(dir, s, id))(t)
	must(r.Append(decision("s", "c")))(t)
	must(r.Append(decision("s", "c")))(t)
	_ = errors.Join(r.Close(), s.Close())
	v := must(VerifyOffline(dir))(t)
	if !v.Holds() || v.Entries != 2 || v.Known == nil || v.Known.Sequence != 2 {
		t.Errorf("%+v", v)
	}
	_ = os.RemoveAll(filepath.Join(dir, ReceiptsDir))
	if v := must(VerifyOffline(dir))(t); v.Holds() || v.Break.Reason != BreakTruncated {
		t.Errorf("all removed: %s", v)
	}
}

// An entry that was changed on the disk while the core runs is noticed when it is read.
func TestReadNoticesChanges(t *testing.T) {
	c := newChain(t, 0)
	c.append(3)
	id := must(c.open.List(Filter{Limit: 1}))(t)[0].Record.ID
	path := c.path(segmentName(1))
	data := must(os.ReadFile(path))(t)
	data[len(data)-20] ^= 1
	_ = os.WriteFile(path, data, 0o600)
	if _, err := c.open.Get(id); !errors.Is(err, ErrReceiptsBroken) {
		t.Errorf("Get: %v", err)
	}
	if _, err := c.open.List(Filter{}); !errors.Is(err, ErrReceiptsBroken) {
		t.Errorf("List: %v", err)
	}
	_ = os.Truncate(path, 10)
	if _, err := c.open.Get(id); !errors.Is(err, ErrReceiptsBroken) {
		t.Errorf("Get after a cut: %v", err)
	}
	_ = os.Remove(path)
	if _, err := c.open.List(Filter{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("List of a removed segment: %v", err)
	}
}

func FuzzParseLine(f *testing.F) {
	id := newIdentity(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	record := decision("s", "c")
	record.ID = "019b7f3e-0000-7000-8000-000000000000"
	signed := must(predicate{Sequence: 1, Segment: 1}.sign(id, record))(f)
	f.Add(signed[:len(signed)-1])
	f.Add([]byte(`{"payloadType":"","payload":"","signatures":[{}]}`))
	f.Add([]byte(`{"payload":"bnVsbA==","signatures":[{"sig":""}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		v := &verifier{public: id.public, ids: map[string]bool{}, open: map[string]uint64{}, named: map[string]bool{}}
		v.place = at{segment: 1, line: 1}
		// Nobody but the key's holder makes a line that holds; the one he made is in the corpus.
		if b := v.entry(line); b == nil && string(line)+"\n" != string(signed) {
			t.Fatalf("a forged line holds: %q", line)
		}
	})
}
