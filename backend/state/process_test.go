package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/backend/approval"
)

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
