package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	helperPatience  = 2 * time.Second // for a helper whose input ended; then it is killed
	helperComplaint = 16 << 10        // bytes kept of what a helper writes to its standard error: the last ones
)

// Helper is a process of our own that does one thing beside the program that runs: it has no boundary and no receipt,
// because nothing an agent says reaches its arguments or its environment. It ends when its input ends, so it also ends
// when its parent is killed.
type Helper struct {
	Stdin  io.Writer // may block when the helper does not read; Close unblocks it
	Stdout io.Reader

	process       *os.Process
	stdin, stdout *os.File
	complaint     tail
	closing       sync.Once
	done          chan struct{}
	code          int // valid after done
}

// StartHelper starts the program exe, which is absolute. args are without the program's name; env is the composed
// environment, and nothing is inherited but that and three pipes. The helper stays in the process group of its parent:
// who ends the group ends both. Descriptors that a foreign library left open for children are the helper's to close.
func StartHelper(exe string, args []string, env []string) (*Helper, error) {
	if !filepath.IsAbs(exe) {
		return nil, fmt.Errorf("start helper: %w: %q is not absolute", ErrSpec, exe)
	}
	var pipes [3][2]*os.File // for each of the three streams: reading end, writing end
	closeAll := func() {
		for _, p := range pipes {
			for _, f := range p {
				if f != nil {
					_ = f.Close()
				}
			}
		}
	}
	for i := range pipes {
		var err error
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("start helper: %w", err)
		}
	}
	theirs := []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]}
	process, err := os.StartProcess(exe, append([]string{exe}, args...), &os.ProcAttr{
		Dir: filepath.VolumeName(exe) + string(filepath.Separator), Env: append([]string{}, env...), Files: theirs, Sys: attached(),
	})
	if err != nil {
		closeAll()
		return nil, fmt.Errorf("start helper: %w", err)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	h := &Helper{
		Stdin: pipes[0][1], Stdout: pipes[1][0], process: process, stdin: pipes[0][1], stdout: pipes[1][0], done: make(chan struct{}),
	}
	go h.follow(pipes[2][0])
	return h, nil
}

// follow waits for the helper. Its standard error is read beside, and no longer than it lives: a grandchild that holds
// the pipe must not keep us.
func (h *Helper) follow(stderr *os.File) {
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(&h.complaint, stderr) // the pipe's end, or its closing below
	}()
	state, err := h.process.Wait()
	select {
	case <-copied:
	case <-time.After(helperPatience):
	}
	_ = stderr.Close()
	<-copied
	h.code = -1
	if err == nil {
		h.code = state.ExitCode()
	}
	close(h.done)
}

// Done is closed when the helper has ended.
func (h *Helper) Done() <-chan struct{} { return h.done }

// Wait waits for the helper's end and returns its exit code, -1 when a signal ended it, and the last of what it wrote to
// its standard error, which is the helper's own words.
func (h *Helper) Wait() (code int, complaint string) {
	<-h.done
	return h.code, h.complaint.String()
}

// Kill ends the helper at once and does not wait.
func (h *Helper) Kill() error {
	if err := h.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill helper: %w", err)
	}
	return nil
}

// Close ends the helper's input, waits for its end, and kills it when it takes too long. It may be called more than once.
func (h *Helper) Close() error {
	var err error
	h.closing.Do(func() {
		// Before the input is closed: where pipes cannot be polled, closing waits for a write that is stuck.
		late := time.AfterFunc(helperPatience, func() { _ = h.Kill() })
		defer late.Stop()
		_ = h.stdin.Close()
		<-h.done
		err = h.stdout.Close()
	})
	<-h.done
	return err
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
}

// Write implements io.Writer; it never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - helperComplaint; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
