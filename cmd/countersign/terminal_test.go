package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// said is one thing a person waits for on the terminal, and what is typed then.
type said struct{ wait, typed string }

// typing runs a program on a terminal of its own, types each answer when its text has appeared, and returns what was
// shown and the exit status.
func typing(t *testing.T, cmd *exec.Cmd, script ...said) (string, int) {
	t.Helper()
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	var seen bytes.Buffer
	from := 0
	buf := make([]byte, 4096)
	for {
		n, err := terminal.Read(buf)
		seen.Write(buf[:n])
		for len(script) > 0 {
			at := strings.Index(seen.String()[from:], script[0].wait)
			if at < 0 {
				break
			}
			from += at + len(script[0].wait)
			if _, err := io.WriteString(terminal, script[0].typed); err != nil {
				t.Fatal(err)
			}
			script = script[1:]
		}
		if err != nil {
			break // the other end is closed
		}
	}
	_ = cmd.Wait()
	if len(script) > 0 {
		t.Errorf("never saw %q:\n%s", script[0].wait, seen.String())
	}
	return seen.String(), cmd.ProcessState.ExitCode()
}

// freshDesk is a desk with a file identity and no passphrase file, before its first start.
func freshDesk(t *testing.T) *testCore {
	t.Helper()
	home, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := os.Mkdir(filepath.Join(home, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config", "config.toml"), []byte("[identity]\nstore = \"file\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &testCore{bin: programDir(t), home: home}
}

const ctrlC = "\x03"

// The first start once took the passphrase of the owner's key untold and unconfirmed, so that a typing error sealed the
// key; and Ctrl-C at the prompt did nothing.
func TestFirstStartConfirmsThePassphrase(t *testing.T) {
	c := freshDesk(t)
	shown, code := typing(t, c.command("serve"), said{"New desk passphrase: ", ctrlC})
	if code != 1 || !strings.Contains(shown, "interrupted") {
		t.Fatalf("Ctrl-C at the prompt: exit status %d\n%s", code, shown)
	}
	if _, err := os.Stat(filepath.Join(c.home, "state", "identity.age")); err == nil {
		t.Fatal("a key was made although nobody chose its passphrase")
	}
	shown, code = typing(t, c.command("serve"),
		said{"New desk passphrase: ", "short\n"}, said{"at least", ""},
		said{"New desk passphrase: ", testPassphrase + "\n"}, said{"The same again: ", "something else\n"}, said{"not the same", ""},
		said{"New desk passphrase: ", testPassphrase + "\n"}, said{"The same again: ", testPassphrase + "\n"},
		said{"is running", ctrlC})
	if code != 0 || !strings.Contains(shown, "without it the key cannot be read again") || strings.Contains(shown, testPassphrase) {
		t.Errorf("exit status %d\n%s", code, shown)
	}
}

// A wrong passphrase may be typed again, an offer that was not made is refused before any is typed, and the rule that an
// answer saved is named with the way to take it back.
func TestAnswerOnTheTerminal(t *testing.T) {
	c := newTestCore(t, "")
	needSandbox(t, c)
	agent := newFakeAgent(t, c)
	done := make(chan error, 1)
	event := agent.event("touch saved.txt")
	go func() {
		_, err := agent.hook(event)
		done <- err
	}()
	q := c.asked(t, "saved.txt")
	if out, err := c.command("answer", q.ID, "allow", "--offer", "7").CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no offer 7") {
		t.Errorf("offer 7: %v\n%s", err, out)
	}
	shown, code := typing(t, c.command("answer", q.ID, "allow", "--offer", "2"),
		said{"Desk passphrase: ", "not this one\n"}, said{"Once more", ""}, said{"Desk passphrase: ", testPassphrase + "\n"})
	for _, want := range []string{"This terminal may answer until", "Allowed.", "Saved for this session: allow bash(touch saved.txt)", "countersign rules remove "} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	// The card is what the owner sees last: a passphrase typed after it would push it away.
	if before, after, _ := strings.Cut(shown, "This terminal may answer until"); strings.Contains(before, "saved.txt") || !strings.Contains(after, "saved.txt") {
		t.Error("the card is not shown after the passphrase, and only there")
	}
	if code != 0 || t.Failed() {
		t.Fatalf("exit status %d\n%s", code, shown)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Ctrl-C once did nothing where the guided demo asks; it left its directory behind when it was killed then.
func TestGuidedDemoEndsWithCtrlC(t *testing.T) {
	c := newTestDemo(t)
	shown, code := typing(t, c, said{"Type allow or deny", "y\n"}, said{"Nothing happened", ""}, said{"Type allow or deny", ctrlC})
	if code != 1 || !strings.Contains(shown, "interrupted") {
		t.Errorf("exit status %d\n%s", code, shown)
	}
	for _, v := range c.Env {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			if left, _ := filepath.Glob(filepath.Join(dir, "countersign-demo-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

// newTestDemo is the guided demo with a short temporary directory of its own.
func newTestDemo(t *testing.T) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("no bubblewrap here")
	}
	dir, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd := exec.Command(filepath.Join(programDir(t), "countersign"), "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	return cmd
}
