package state

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/backend/approval"
)

func TestFailedCommit(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	put(t, s, "b", "k", "before")
	// The disk is gone: nothing of the commit is written, and the store can still be read.
	_ = s.file.Close()
	err := s.Update(func(tx approval.Tx) error { return tx.Put("b", "k", "after") })
	if err == nil || errors.Is(err, ErrInterrupted) {
		t.Fatalf("Update: %v", err)
	}
	if v, _ := get[string](t, s, "b", "k"); v != "before" || s.Err() != nil {
		t.Errorf("value is %q, store says %v", v, s.Err())
	}
	// The header was written and then could not be forced out: nobody knows what is on the disk.
	if err := s.failedCommit(1, errors.New("fdatasync: input/output error")); !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	if err := s.View(func(approval.Tx) error { return nil }); !errors.Is(err, ErrInterrupted) || Hint(err) == "" {
		t.Errorf("the store went on: %v", err)
	}
	_ = s.Close()
	// The mapping of this process still holds the lock of the file whose descriptor was pulled away: look at a copy.
	next := t.TempDir()
	if err := os.WriteFile(filepath.Join(next, StoreFile), must(os.ReadFile(filepath.Join(dir, StoreFile)))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, next)
	if v, _ := get[string](t, s, "b", "k"); v != "before" {
		t.Errorf("after a restart the value is %q", v)
	}
}

// The store against a map: any sequence of transactions, some of which fail, and restarts.
func TestStoreModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s, err := Open(dir, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		model := map[string]string{}
		buckets := []string{"a", "b"}
		rt.Repeat(map[string]func(*rapid.T){
			"update": func(rt *rapid.T) {
				next := maps.Clone(model)
				fail := rapid.Bool().Draw(rt, "fail")
				err := s.Update(func(tx approval.Tx) error {
					for range rapid.IntRange(1, 20).Draw(rt, "steps") {
						b := rapid.SampledFrom(buckets).Draw(rt, "bucket")
						k := rapid.StringMatching(`[a-c]{1,3}`).Draw(rt, "key")
						if rapid.IntRange(0, 3).Draw(rt, "delete") == 0 {
							delete(next, b+"/"+k)
							if err := tx.Delete(b, k); err != nil {
								return err
							}
							continue
						}
						v := strings.Repeat("v", rapid.IntRange(0, 3000).Draw(rt, "size"))
						next[b+"/"+k] = fmt.Sprintf("%q", v)
						if err := tx.Put(b, k, v); err != nil {
							return err
						}
					}
					if fail {
						return errors.New("fails")
					}
					return nil
				})
				if (err != nil) != fail {
					rt.Fatal(err)
				}
				if !fail {
					model = next
				}
			},
			"restart": func(rt *rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = Open(dir, Options{}); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				got, err := content(s, buckets)
				if diff := cmp.Diff(model, got); err != nil || diff != "" {
					rt.Fatalf("%v: %s", err, diff)
				}
			},
		})
	})
}
