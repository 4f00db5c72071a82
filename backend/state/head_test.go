package state

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// failingHeads is a keeper that fails on demand.
type failingHeads struct {
	head *Head
	err  error
}

func (f *failingHeads) Known() (*Head, *SetAside, error) { return f.head, nil, nil }
func (f *failingHeads) Keep(h Head) error {
	if f.err == nil {
		f.head = &h
	}
	return f.err
}

func TestHeadKeeper(t *testing.T) {
	dir, id, keeper := t.TempDir(), testIdentity(t), &failingHeads{}
	r := must(OpenReceipts(dir, nil, id, Heads(keeper)))(t)
	defer func() { _ = r.Close() }()
	must(r.Append(decision("s", "c")))(t)
	keeper.err = errors.New("full")
	must(r.Append(decision("s", "c")))(t) // durable, one ahead
	if _, err := r.Append(decision("s", "c")); !errors.Is(err, keeper.err) {
		t.Fatalf("it went further ahead: %v", err)
	}
	if keeper.head.Sequence != 1 || r.Head().Sequence != 2 {
		t.Errorf("kept %d, at %d", keeper.head.Sequence, r.Head().Sequence)
	}
	_ = r.Close()
	if _, err := OpenReceipts(dir, nil, id, Heads(keeper)); !errors.Is(err, keeper.err) {
		t.Errorf("open while it fails: %v", err)
	}
	keeper.err = nil
	r = must(OpenReceipts(dir, nil, id, Heads(keeper)))(t)
	if keeper.head.Sequence != 2 {
		t.Errorf("kept %d after opening", keeper.head.Sequence)
	}
	must(r.Append(decision("s", "c")))(t)
	_ = r.Close()
	// Without a keeper the chain opens as well, and believes only what has no line end to be torn.
	path := filepath.Join(dir, ReceiptsDir, segmentName(1))
	whole := must(os.ReadFile(path))(t)
	_ = os.WriteFile(path, append(bytes.Clone(whole), "\x00\x00\n"...), 0o600)
	if _, err := OpenReceipts(dir, nil, id, Heads(nil)); !errors.Is(err, ErrReceiptsBroken) {
		t.Errorf("destroyed line without a known head: %v", err)
	}
	_ = os.WriteFile(path, append(bytes.Clone(whole), "half"...), 0o600)
	r = must(OpenReceipts(dir, nil, id, Heads(nil)))(t)
	must(r.Append(decision("s", "c")))(t)
	_ = r.Close()
	if diff := cmp.Diff(Head{Sequence: 4}, r.Head(), cmpopts.IgnoreFields(Head{}, "Digest")); diff != "" {
		t.Error(diff)
	}
}

func TestSetAside(t *testing.T) {
	c := newChain(t, 0)
	c.append(3)
	c.edit(1, func(l []string) []string { return l[:2] })
	c.reopenFails(BreakTruncated)
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	to := must(SetAsideReceipts(c.dir, c.store, when))(t)
	if v := must(Verify(to, c.id.Public(), nil))(t); v.Entries != 2 {
		t.Errorf("set aside: %+v", v)
	}
	// Again, as after a crash in the middle: the head that was known is not forgotten.
	if _, err := SetAsideReceipts(c.dir, c.store, when.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	c.reopen()
	c.append(2)
	c.reopen()
	c.append(1)
	v := must(c.open.Verify())(t)
	want := &SetAside{Directory: "receipts-broken-20260102T030406Z", Head: c.heads[2], Time: when.Add(time.Second)}
	if diff := cmp.Diff(want, v.Follows); diff != "" || !v.Holds() || v.Entries != 3 {
		t.Errorf("%s: %+v", diff, v)
	}
	if _, err := SetAsideReceipts(c.dir, c.store, when); !errors.Is(err, os.ErrExist) {
		t.Errorf("the name was taken: %v", err)
	}
}
