package approvaltest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"countersign/backend/approval"

	"github.com/google/go-cmp/cmp"
)

var (
	_ approval.Store = (*Store)(nil)
	_ approval.Clock = (*Clock)(nil)
)

func keys(t *testing.T, tx approval.Tx, bucket, prefix string, stopAfter int) []string {
	t.Helper()
	var out []string
	err := tx.Each(bucket, prefix, func(key string, _ json.RawMessage) error {
		out = append(out, key)
		if len(out) == stopAfter {
			return approval.ErrStop
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return out
}

func TestStore(t *testing.T) {
	s := NewStore()
	put := func(tx approval.Tx, names ...string) error {
		for _, name := range names {
			if err := tx.Put("b", name, name); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.Update(func(tx approval.Tx) error { return put(tx, "b1", "a2", "a1", "c") }); err != nil {
		t.Fatal(err)
	}
	err := s.Update(func(tx approval.Tx) error {
		if err := errors.Join(put(tx, "a3"), tx.Delete("b", "a1"), tx.Delete("b", "none")); err != nil {
			return err
		}
		if got := keys(t, tx, "b", "a", 0); !slices.Equal(got, []string{"a2", "a3"}) {
			t.Errorf("inside: %q", got)
		}
		var v string
		if ok, err := tx.Get("b", "a1", &v); ok || err != nil {
			t.Errorf("a deleted key: %v, %v", ok, err)
		}
		if ok, err := tx.Get("b", "a3", &v); !ok || err != nil || v != "a3" {
			t.Errorf("a new key: %v, %v", ok, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.View(func(tx approval.Tx) error {
		if got := keys(t, tx, "b", "", 3); !slices.Equal(got, []string{"a2", "a3", "b1"}) {
			t.Errorf("after: %q", got)
		}
		return nil
	})
	if s.Commits() != 2 {
		t.Errorf("%d commits", s.Commits())
	}
}

func TestFailuresChangeNothing(t *testing.T) {
	s := NewStore()
	boom := errors.New("boom")
	write := func(tx approval.Tx) error { return errors.Join(tx.Put("b", "x", 2), tx.Delete("b", "y")) }
	if err := s.Update(func(tx approval.Tx) error { return errors.Join(tx.Put("b", "x", 1), tx.Put("b", "y", 1)) }); err != nil {
		t.Fatal(err)
	}
	before := s.Dump()
	for name, fail := range map[string]func() error{
		"function": func() error {
			return s.Update(func(tx approval.Tx) error { return errors.Join(write(tx), boom) })
		},
		"commit": func() error {
			s.FailCommits(boom)
			defer s.FailCommits(nil)
			return s.Update(write)
		},
		"write": func() error {
			s.SetFault(func(step Step) error {
				if step == (Step{Op: "delete", Bucket: "b", Key: "y"}) {
					return boom
				}
				return nil
			})
			defer s.SetFault(nil)
			return s.Update(write)
		},
	} {
		if err := fail(); !errors.Is(err, boom) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, s.Dump()); diff != "" {
			t.Errorf("%s left:\n%s", name, diff)
		}
	}
}

func TestStrictness(t *testing.T) {
	s := NewStore()
	var kept approval.Tx
	if err := s.Update(func(tx approval.Tx) error { kept = tx; return tx.Put("b", "k", 1) }); err != nil {
		t.Fatal(err)
	}
	nothing := func(string, json.RawMessage) error { return nil }
	_, get := kept.Get("b", "k", new(int))
	for name, tt := range map[string]struct{ got, want error }{
		"get after the end":  {get, errDone},
		"put after the end":  {kept.Put("b", "k", 1), errDone},
		"each after the end": {kept.Each("b", "", nothing), errDone},
		"write in a view":    {s.View(func(tx approval.Tx) error { return tx.Delete("b", "k") }), errReadOnly},
		"write in a walk": {s.Update(func(tx approval.Tx) error {
			return tx.Each("b", "", func(string, json.RawMessage) error { return tx.Put("b", "l", 1) })
		}), errWalking},
		"empty key": {s.Update(func(tx approval.Tx) error { return tx.Put("b", "", 1) }), errEmptyKey},
	} {
		if !errors.Is(tt.got, tt.want) {
			t.Errorf("%s: %v", name, tt.got)
		}
	}
	if err := s.Update(func(tx approval.Tx) error { return tx.Put("b", "k", func() {}) }); err == nil {
		t.Error("stored what is not JSON")
	}
	if err := s.View(func(tx approval.Tx) error { _, err := tx.Get("b", "k", new(string)); return err }); err == nil {
		t.Error("read a number as a string")
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := NewClock(now)
	c.Advance(-time.Second)
	if !c.Now().Equal(now.Add(-time.Second)) {
		t.Error(c.Now())
	}
	c.Set(now)
	if !c.Now().Equal(now) {
		t.Error(c.Now())
	}
}
