package app

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// pageDouble makes a copy of this test program that is called like the page's process, and plays it.
const pageDouble = "COUNTERSIGN_TEST_PAGE"

// TestWaitForEnd: the end of a process is told by the kernel, and the process is not reaped: that is its parent's to
// do.
func TestWaitForEnd(t *testing.T) {
	program := filepath.Join(t.TempDir(), pageProgram)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, program); err != nil {
		data, readErr := os.ReadFile(self)
		if readErr != nil {
			t.Fatal(err, readErr)
		}
		if err := os.WriteFile(program, data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	page := exec.Command(program)
	page.Env = append(os.Environ(), pageDouble+"=1")
	in, err := page.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := page.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = page.Process.Kill() // it ended long ago, or the test failed
		_ = page.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	pid := findPageProcess()
	if pid == 0 {
		t.Fatal("it is not found")
	}

	ctx, stop := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- waitOnDescriptor(ctx, pid) }()
	select {
	case err := <-waited:
		t.Skipf("this kernel does not tell: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough for a wait that does not wait
	}
	stop()
	if err := <-waited; err != nil || !drawsPage(pid, os.Getpid()) {
		t.Fatalf("the end of the app: %v", err)
	}

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waitForEnd(t.Context(), pid)
	}()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if findPageProcess() != 0 {
		t.Error("it is found after its end")
	}
	if err := page.Wait(); err != nil {
		t.Errorf("its parent was told: %v", err)
	}
	waitForEnd(t.Context(), pid) // one that is gone is not waited for
}

// playPage is the page's process: there until its input ends.
func playPage() {
	_, _ = os.Stdout.Write([]byte("."))
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func init() {
	if os.Getenv(pageDouble) != "" {
		playPage()
	}
}
