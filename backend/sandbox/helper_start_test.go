package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// playHelper is the helper's side of these tests, in a process of its own.
func playHelper(part string) int {
	switch part {
	case "echo": // until its input ends
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			fmt.Println("heard", in.Text())
		}
		return 7
	case "environment":
		for _, entry := range os.Environ() {
			fmt.Println(entry)
		}
	case "shout":
		fmt.Fprint(os.Stderr, strings.Repeat("x", helperComplaint), "the last words")
	case "deaf": // neither reads nor ends
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		fmt.Println("here")
		time.Sleep(time.Hour)
	}
	return 0
}

func startTestHelper(t *testing.T, part string, env ...string) *Helper {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := StartHelper(self, []string{"play", "helper", part}, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestHelperTalks(t *testing.T) {
	h := startTestHelper(t, "echo")
	if _, err := io.WriteString(h.Stdin, "hello\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(h.Stdout).ReadString('\n')
	if err != nil || line != "heard hello\n" {
		t.Fatalf("answered %q, %v", line, err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if code, complaint := h.Wait(); code != 7 || complaint != "" {
		t.Errorf("ended with %d, %q", code, complaint)
	}
	if _, err := io.WriteString(h.Stdin, "too late\n"); err == nil {
		t.Error("a closed helper still takes input")
	}
}

func TestHelperHasOnlyItsEnvironment(t *testing.T) {
	t.Setenv("COUNTERSIGN_LEAK", "1")
	h := startTestHelper(t, "environment", "ONE=1")
	out, err := io.ReadAll(h.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if !strings.HasPrefix(line, "SYSTEMROOT=") { // Windows adds it to every environment
			ours = append(ours, line)
		}
	}
	if diff := cmp.Diff([]string{"ONE=1"}, ours); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestHelperComplaintIsBounded(t *testing.T) {
	_, complaint := startTestHelper(t, "shout").Wait()
	if len(complaint) != helperComplaint || !strings.HasSuffix(complaint, "the last words") {
		t.Errorf("kept %d bytes ending in %q", len(complaint), complaint[max(0, len(complaint)-20):])
	}
}

// TestHelperThatHangsIsKilled: a full pipe to a helper that does not read blocks its writer, and must not block Close.
func TestHelperThatHangsIsKilled(t *testing.T) {
	h := startTestHelper(t, "deaf")
	if _, err := bufio.NewReader(h.Stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stuck := make(chan error, 1)
	go func() {
		_, err := h.Stdin.Write(make([]byte, 1<<20))
		stuck <- err
	}()
	_ = h.Close()
	if err := <-stuck; err == nil {
		t.Error("the write succeeded although nobody read")
	}
	if code, _ := h.Wait(); code == 0 {
		t.Error("it ended of its own will")
	}
}

func TestHelperIsNotSearchedFor(t *testing.T) {
	for _, exe := range []string{"", "countersign-tray", "./countersign-tray"} {
		if _, err := StartHelper(exe, nil, nil); !errors.Is(err, ErrSpec) {
			t.Errorf("StartHelper(%q): %v", exe, err)
		}
	}
	if _, err := StartHelper(t.TempDir()+"/missing", nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing program: %v", err)
	}
}
