//go:build linux || darwin || windows

package winlock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// counterEnv makes the test binary a second process that counts in the named file.
const counterEnv = "WINLOCK_TEST_COUNTER"

func TestMain(m *testing.M) {
	if path := os.Getenv(counterEnv); path != "" {
		if err := count(path, os.Getpid(), 50); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// count appends n lines to the file, each by a checked write of its own.
func count(path string, who, n int) error {
	roots := []string{filepath.Dir(path)}
	for i := range n {
		line := fmt.Sprintf("%d/%d\n", who, i)
		for {
			data, s, err := ReadChecked(path, ReadOptions{Roots: roots})
			if err == nil {
				_, err = WriteChecked(context.Background(), s, append(data, line...), Options{Roots: roots})
			}
			if err == nil {
				break
			}
			if !retry(err) {
				return err
			}
		}
	}
	return nil
}

func TestLock(t *testing.T) {
	f := newField(t)
	path := f.write("dir/a", "old")
	want := f.take("dir/a")
	other, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer other.Close()
	must(t, lock(context.Background(), other, 0))

	_, err = WriteChecked(context.Background(), want, []byte("new"), f.options())
	var locked *LockedError
	if !errors.Is(err, ErrLocked) || !errors.As(err, &locked) {
		t.Fatalf("error %v", err)
	}
	if runtime.GOOS == "linux" && (len(locked.Holders) != 1 || locked.Holders[0] != os.Getpid()) {
		t.Logf("the kernel does not name the holder here: %v", locked.Holders)
	}
	o := f.options()
	o.Wait = 30 * time.Millisecond
	if _, err := WriteChecked(context.Background(), want, []byte("new"), o); !errors.Is(err, ErrLocked) {
		t.Errorf("bounded wait: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	o.Wait = time.Minute
	if _, err := WriteChecked(ctx, want, []byte("new"), o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled wait: %v", err)
	}
	if f.content("dir/a") != "old" {
		t.Error("written under another's lock")
	}
	var free sync.WaitGroup
	free.Go(func() { other.Close() })
	o.Wait = 0
	if _, err := WriteChecked(context.Background(), want, []byte("new"), o); err != nil {
		t.Errorf("after the lock was given back: %v", err)
	}
	free.Wait()
	f.onlyFiles("dir/a")
}

func TestLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("1 GiB sparse file: not in short mode")
	}
	t.Parallel()
	f := newField(t)
	path := f.write("dir/a", "x")
	must(t, os.Truncate(path, 1<<30))
	want := f.take("dir/a")
	if want.Size != 1<<30 {
		t.Fatalf("size %d", want.Size)
	}
	if _, _, err := ReadChecked(path, ReadOptions{Roots: []string{f.root}}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("ReadChecked: %v", err)
	}
	_, err := WriteChecked(context.Background(), want, []byte("small"), f.options())
	must(t, err)
	f.onlyFiles("dir/a")
	path = f.write("dir/b", "")
	must(t, os.Truncate(path, MaxSize+1))
	if _, err := Take(path, []string{f.root}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over MaxSize: %v", err)
	}
}

// 8 writers increment one counter 50 times each through ReadChecked and WriteChecked: no update is lost.
func TestNoLostUpdate(t *testing.T) {
	const writers, each = 8, 50
	f := newField(t)
	path := f.write("dir/counter", "")
	var all sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		all.Go(func() {
			if err := count(path, w, each); err != nil {
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	seen := map[string]int{}
	for line := range bytes.Lines([]byte(f.content("dir/counter"))) {
		seen[string(line)]++
	}
	for w := range writers {
		for n := range each {
			if line := fmt.Sprintf("%d/%d\n", w, n); seen[line] != 1 {
				t.Errorf("line %q stands %d times", line, seen[line])
			}
		}
	}
	f.onlyFiles("dir/counter")
}

// Two processes count in one file: what holds between goroutines holds between processes.
func TestTwoProcesses(t *testing.T) {
	f := newField(t)
	path := f.write("dir/counter", "")
	exe, err := os.Executable()
	must(t, err)
	var both []*exec.Cmd
	for range 2 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), counterEnv+"="+path)
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		both = append(both, cmd)
	}
	for _, cmd := range both {
		must(t, cmd.Wait())
	}
	if got := strings.Count(f.content("dir/counter"), "\n"); got != 2*50 {
		t.Errorf("%d lines, want 100", got)
	}
	f.onlyFiles("dir/counter")
}

// retry reports whether a writer that lost a race may look again and try once more.
func retry(err error) bool {
	return errors.Is(err, ErrChanged) || errors.Is(err, ErrReplaced) || errors.Is(err, ErrLocked) || errors.Is(err, ErrDeleted)
}
