package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/backend/approval"
)

func put(t testing.TB, s approval.Store, bucket, key string, v any) {
	t.Helper()
	if err := s.Update(func(tx approval.Tx) error { return tx.Put(bucket, key, v) }); err != nil {
		t.Fatal(err)
	}
}

func get[T any](t testing.TB, s approval.Store, bucket, key string) (v T, found bool) {
	t.Helper()
	err := s.View(func(tx approval.Tx) (err error) { found, err = tx.Get(bucket, key, &v); return err })
	if err != nil {
		t.Fatal(err)
	}
	return v, found
}

func keys(t testing.TB, s approval.Store, bucket, prefix string) []string {
	t.Helper()
	var out []string
	err := s.View(func(tx approval.Tx) error {
		return tx.Each(bucket, prefix, func(key string, _ json.RawMessage) error { out = append(out, key); return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStoreKeepsValues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	s := openTest(t, dir)
	if s.Dir() != dir {
		t.Errorf("Dir is %s", s.Dir())
	}
	type value struct{ A, B string }
	put(t, s, "calls", "k1", value{"x", "y"})
	put(t, s, "calls", "k2", value{"z", ""})
	put(t, s, "calls", "other", value{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("second Close: %v", err)
	}
	if err := s.View(func(approval.Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Fatalf("View after Close: %v", err)
	}

	s = openTest(t, dir)
	got, found := get[value](t, s, "calls", "k1")
	if diff := cmp.Diff(value{"x", "y"}, got); !found || diff != "" {
		t.Fatalf("found %v: %s", found, diff)
	}
	for _, missing := range [][2]string{{"calls", "k3"}, {"nobody", "k1"}} {
		if _, found := get[value](t, s, missing[0], missing[1]); found {
			t.Errorf("%v was found", missing)
		}
	}
	if diff := cmp.Diff([]string{"k1", "k2"}, keys(t, s, "calls", "k")); diff != "" {
		t.Error(diff)
	}
	if err := s.Update(func(tx approval.Tx) error {
		return errors.Join(tx.Delete("calls", "k1"), tx.Delete("calls", "never"), tx.Delete("nobody", "never"))
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"k2", "other"}, keys(t, s, "calls", "")); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateChangesNothingWhenItFails(t *testing.T) {
	s := openTest(t, t.TempDir())
	put(t, s, "b", "k", 1)
	broken := errors.New("no")
	if err := s.Update(func(tx approval.Tx) error { return errors.Join(tx.Put("b", "k", 2), broken) }); !errors.Is(err, broken) {
		t.Fatalf("Update: %v", err)
	}
	func() {
		defer func() {
			if p := recover(); p != "fn" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = s.Update(func(tx approval.Tx) error {
			_ = tx.Put("b", "k", 3)
			panic("fn")
		})
	}()
	if got, _ := get[int](t, s, "b", "k"); got != 1 {
		t.Errorf("value is %d", got)
	}
	put(t, s, "b", "k", 4) // the writer's turn was given back
	if err := s.Err(); err != nil {
		t.Errorf("a panic of the caller stopped the store: %v", err)
	}
}

func TestTransactionRefuses(t *testing.T) {
	s := openTest(t, t.TempDir())
	put(t, s, "b", "k", 1)
	big := strings.Repeat("x", MaxValue)
	tests := []struct {
		name string
		do   func() error
		want error
	}{
		{"write in a View", func() error { return s.View(func(tx approval.Tx) error { return tx.Put("b", "k", 2) }) }, ErrTxDone},
		{"new bucket in a View", func() error { return s.View(func(tx approval.Tx) error { return tx.Put("c", "k", 2) }) }, ErrTxDone},
		{"delete in a View", func() error { return s.View(func(tx approval.Tx) error { return tx.Delete("b", "k") }) }, ErrTxDone},
		{"value too large", func() error { return s.Update(func(tx approval.Tx) error { return tx.Put("b", "k", big) }) }, ErrTooLarge},
		{"key too large", func() error {
			return s.Update(func(tx approval.Tx) error { return tx.Put("b", strings.Repeat("k", MaxKey+1), 1) })
		}, ErrTooLarge},
		{"used after its function", func() error {
			var kept approval.Tx
			if err := s.View(func(tx approval.Tx) error { kept = tx; return nil }); err != nil {
				return err
			}
			_, err := kept.Get("b", "k", new(int))
			return err
		}, ErrTxDone},
		{"walk that outlives its function", func() error {
			var kept *transaction
			return s.View(func(tx approval.Tx) error {
				kept = tx.(*transaction)
				return tx.Each("b", "", func(string, json.RawMessage) error { kept.rollback(); return nil })
			})
		}, ErrTxDone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.do(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	for name, do := range map[string]func(tx approval.Tx) error{
		"empty key":          func(tx approval.Tx) error { return tx.Put("b", "", 1) },
		"empty bucket":       func(tx approval.Tx) error { return tx.Put("", "k", 1) },
		"value without JSON": func(tx approval.Tx) error { return tx.Put("b", "k", make(chan int)) },
		"other type":         func(tx approval.Tx) error { _, err := tx.Get("b", "k", new(string)); return err },
	} {
		if err := s.Update(do); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got, _ := get[int](t, s, "b", "k"); got != 1 || s.Err() != nil {
		t.Errorf("value is %d, store says %v", got, s.Err())
	}
}

func TestEach(t *testing.T) {
	s := openTest(t, t.TempDir())
	for i := range 50 {
		put(t, s, "b", fmt.Sprintf("k%02d", i), i)
	}
	t.Run("stops early without an error", func(t *testing.T) {
		n := 0
		err := s.View(func(tx approval.Tx) error {
			return tx.Each("b", "k", func(string, json.RawMessage) error {
				if n++; n == 3 {
					return fmt.Errorf("enough: %w", approval.ErrStop)
				}
				return nil
			})
		})
		if err != nil || n != 3 {
			t.Errorf("%d keys, %v", n, err)
		}
	})
	t.Run("hands errors on", func(t *testing.T) {
		broken := errors.New("no")
		err := s.View(func(tx approval.Tx) error {
			return tx.Each("b", "k", func(string, json.RawMessage) error { return broken })
		})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	})
	// A walk that deletes what it sees is what expiry does. With bbolt's own cursor it skips every second key.
	t.Run("may delete and add while it walks", func(t *testing.T) {
		seen := 0
		err := s.Update(func(tx approval.Tx) error {
			return tx.Each("b", "k", func(key string, raw json.RawMessage) error {
				seen++
				var v int
				if err := json.Unmarshal(raw, &v); err != nil {
					return err
				}
				if v == 0 {
					if err := tx.Put("b", "k99", 99); err != nil {
						return err
					}
				}
				return tx.Delete("b", key)
			})
		})
		if err != nil || seen != 51 || len(keys(t, s, "b", "")) != 0 {
			t.Errorf("saw %d, left %v, %v", seen, keys(t, s, "b", ""), err)
		}
	})
}

func TestStoreManyWriters(t *testing.T) {
	s := openTest(t, t.TempDir())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				err := s.Update(func(tx approval.Tx) error {
					var n int
					if _, err := tx.Get("b", "n", &n); err != nil {
						return err
					}
					return tx.Put("b", "n", n+1)
				})
				if err != nil {
					t.Error(err)
				}
				_ = s.View(func(tx approval.Tx) error { _, err := tx.Get("b", "n", new(int)); return err })
			}
		})
	}
	wg.Wait()
	if n, _ := get[int](t, s, "b", "n"); n != 80 {
		t.Errorf("counted %d", n)
	}
}

func TestStoreIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owner and mode are not checked on Windows")
	}
	dir := filepath.Join(t.TempDir(), "state")
	_ = openTest(t, dir).Close()
	mode := func(path string) fs.FileMode {
		return must(os.Stat(path))(t).Mode().Perm()
	}
	path := filepath.Join(dir, StoreFile)
	if mode(dir) != 0o700 || mode(path) != 0o600 {
		t.Errorf("modes are %#o and %#o", mode(dir), mode(path))
	}
	if names := must(os.ReadDir(dir))(t); len(names) != 1 {
		t.Errorf("more than the store was left: %v", names)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_ = openTest(t, dir).Close()
	if mode(dir) != 0o700 {
		t.Errorf("a readable directory was left at %#o", mode(dir))
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
	}{
		{"directory others may write", func(t *testing.T, dir string) { _ = os.Chmod(dir, 0o770) }},
		{"file others may read", func(t *testing.T, dir string) { _ = os.Chmod(filepath.Join(dir, StoreFile), 0o640) }},
		{"symbolic link to a store", func(t *testing.T, dir string) {
			path := filepath.Join(dir, StoreFile)
			if err := errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path)); err != nil {
				t.Fatal(err)
			}
		}},
		{"dangling symbolic link", func(t *testing.T, dir string) {
			path := filepath.Join(dir, StoreFile)
			if err := errors.Join(os.Remove(path), os.Symlink(path+".gone", path)); err != nil {
				t.Fatal(err)
			}
		}},
		{"directory in its place", func(t *testing.T, dir string) {
			path := filepath.Join(dir, StoreFile)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}},
		{"file in the directory's place", func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}},
		{"link in the directory's place", func(t *testing.T, dir string) {
			if err := errors.Join(os.Rename(dir, dir+".real"), os.Symlink(dir+".real", dir)); err != nil {
				t.Fatal(err)
			}
		}},
		{"owned by another account", func(t *testing.T, dir string) {
			if os.Getuid() != 0 {
				t.Skip("needs root to give a file away")
			}
			_ = os.Chown(filepath.Join(dir, StoreFile), 1, 1)
		}},
		{"directory owned by another account", func(t *testing.T, dir string) {
			if os.Getuid() != 0 {
				t.Skip("needs root to give a directory away")
			}
			_ = os.Chown(dir, 1, 1)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			_ = openTest(t, dir).Close()
			tt.prepare(t, dir)
			s, err := Open(dir, Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was opened")
			}
			if tt.name == "directory in its place" {
				return // EISDIR is as good
			}
			if !errors.Is(err, ErrInsecure) || Hint(err) == "" {
				t.Errorf("got %v, hint %q", err, Hint(err))
			}
		})
	}
}

func TestStoreIsLocked(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	start := time.Now()
	_, err := Open(dir, Options{LockTimeout: 50 * time.Millisecond})
	if !errors.Is(err, ErrLocked) || Hint(err) == "" {
		t.Fatalf("second Open: %v", err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %s", d)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, dir)
}

func init() {
	roles["count"] = func(args []string) error {
		rounds, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		for done := 0; done < rounds; {
			s, err := Open(args[0], Options{LockTimeout: 10 * time.Millisecond})
			if errors.Is(err, ErrLocked) {
				continue
			}
			if err != nil {
				return err
			}
			err = s.Update(func(tx approval.Tx) error {
				var n int
				if _, err := tx.Get("b", "n", &n); err != nil {
					return err
				}
				return tx.Put("b", "n", n+1)
			})
			if err := errors.Join(err, s.Close()); err != nil {
				return err
			}
			done++
		}
		return nil
	}
	roles["write forever"] = func(args []string) error {
		s, err := Open(args[0], Options{})
		if err != nil {
			return err
		}
		for n := 1; ; n++ {
			err := s.Update(func(tx approval.Tx) error {
				return errors.Join(tx.Put("b", "n", n), tx.Put("c", fmt.Sprintf("%08d", n), strings.Repeat("x", n%5000)))
			})
			if err != nil {
				return err
			}
			fmt.Println(n)
		}
	}
}

// Two and more processes begin on an empty directory and fight for the store: each gets its turns, none is lost.
func TestProcessesFightForTheStore(t *testing.T) {
	const processes, rounds = 3, 15
	dir := filepath.Join(t.TempDir(), "state")
	var wg sync.WaitGroup
	for range processes {
		cmd := asRole(t, "count", os.Environ(), dir, strconv.Itoa(rounds))
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	s := openTest(t, dir)
	if n, _ := get[int](t, s, "b", "n"); n != processes*rounds {
		t.Errorf("counted %d, want %d", n, processes*rounds)
	}
}

// A process that is killed while it writes leaves a store that opens, with everything it had acknowledged.
func TestKilledWriterLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for round := range 5 {
		cmd := asRole(t, "write forever", os.Environ(), dir)
		out := must(cmd.StdoutPipe())(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := 0
		for want := 20 + 13*round; acknowledged < want; {
			if _, err := fmt.Fscanln(out, &acknowledged); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Process.Kill()
		for {
			if _, err := fmt.Fscanln(out, &acknowledged); err != nil {
				break
			}
		}
		_ = cmd.Wait()
		s := openTest(t, dir)
		if n, _ := get[int](t, s, "b", "n"); n < acknowledged {
			t.Errorf("round %d: %d was acknowledged, %d is there", round, acknowledged, n)
		}
		_ = s.Close()
	}
}

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
