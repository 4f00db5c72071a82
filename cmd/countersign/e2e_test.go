package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"countersign/backend/wire"
)

// newTestCore starts a real core in a home of its own.
func newTestCore(t *testing.T, config string) *testCore {
	t.Helper()
	home, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	c := &testCore{bin: programDir(t), home: home, config: config}
	t.Cleanup(func() {
		c.kill()
		_ = os.RemoveAll(home)
	})
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// command is one run of the command line as the owner types it.
func (c *testCore) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, "countersign"), args...)
	cmd.Env = append(os.Environ(), "COUNTERSIGN_HOME="+c.home, "HOME="+c.home)
	return cmd
}

// asked waits until a command is asked about.
func (c *testCore) asked(t *testing.T, command string) wire.Question {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		for _, q := range c.pending(t) {
			if strings.Contains(string(q.Detail), command) {
				return q
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nobody was asked about %q within a minute", command)
	return wire.Question{}
}

func (c *testCore) pending(t *testing.T) []wire.Question {
	t.Helper()
	out, err := c.command("pending", "--json").Output()
	if err != nil {
		return nil // the core may just be starting
	}
	var list []wire.Question
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("pending --json: %v\n%s", err, out)
	}
	return list
}

// onTerminal runs a program on a terminal of its own, types the passphrase when asked, and returns what it showed.
func onTerminal(t *testing.T, cmd *exec.Cmd, passphrase string) (string, error) {
	t.Helper()
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	var seen bytes.Buffer
	typed := false
	buf := make([]byte, 4096)
	for {
		n, err := terminal.Read(buf)
		seen.Write(buf[:n])
		if !typed && strings.Contains(seen.String(), "passphrase:") {
			typed = true
			if _, err := io.WriteString(terminal, passphrase+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break // the other end is closed
		}
	}
	err = cmd.Wait()
	return seen.String(), err
}

func (c *testCore) answer(t *testing.T, q wire.Question, args ...string) {
	t.Helper()
	shown, err := onTerminal(t, c.command(append([]string{"answer", q.ID}, args...)...), testPassphrase)
	if err != nil {
		t.Fatalf("answer %v: %v\n%s", args, err, shown)
	}
	if strings.Contains(shown, testPassphrase) {
		t.Error("the passphrase was shown")
	}
}

func needSandbox(t *testing.T, c *testCore) {
	t.Helper()
	if out, err := c.command("doctor", "sandbox").CombinedOutput(); err != nil {
		t.Skipf("no sandbox here:\n%s", out)
	}
}

// A core that dies between question and answer loses nothing: the approval is there again under its id, the hook finds
// it, and the answer reaches the agent.
func TestCoreDiesBetweenAskAndAnswer(t *testing.T) {
	c := newTestCore(t, "")
	needSandbox(t, c)
	agent := newFakeAgent(t, c)
	command := "mkdir sub && cd sub && echo from-the-box && exit 7"
	type result struct {
		answer hookAnswer
		err    error
	}
	done := make(chan result, 1)
	event := agent.event(command)
	go func() {
		answer, err := agent.hook(event)
		done <- result{answer, err}
	}()
	q := c.asked(t, "from-the-box")
	c.kill()
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	if again := c.asked(t, "from-the-box"); again.ID != q.ID || again.Version != q.Version {
		t.Fatalf("after the restart: %s version %d, was %s version %d", again.ID, again.Version, q.ID, q.Version)
	}
	c.answer(t, q, "allow", "--comment", "with my blessing")
	r := <-done
	if r.err != nil || r.answer.Specific.Permission != "allow" || !strings.Contains(r.answer.Specific.Context, "with my blessing") {
		t.Fatalf("the hook answered %+v, %v", r.answer, r.err)
	}
	line := r.answer.Specific.Input.Command
	if strings.Contains(line, "from-the-box") {
		t.Errorf("text of the command stands in the rewritten line: %s", line)
	}
	report := agent.run("", "bash", "-c", line+"\necho \"$? $PWD\"")
	want := "from-the-box\n7 " + filepath.Join(agent.project, "sub") + "\n"
	if report.Output != want {
		t.Errorf("the rewritten line printed %q, want %q", report.Output, want)
	}
	if again := agent.run("", "bash", "-c", line); again.Status == 0 || !strings.Contains(again.Output, "already run") {
		t.Errorf("the same line again: %+v, want a refusal", again)
	}
	if out, err := c.command("receipts", "verify").CombinedOutput(); err != nil || !strings.Contains(string(out), "2 receipts verify") {
		t.Errorf("receipts verify: %v\n%s", err, out)
	}
}

// An agent cannot answer for the owner: not from below, not from a session of its own, and not from a terminal that it
// made after leaving its ancestry, where only the passphrase is missing.
func TestAgentCannotAnswer(t *testing.T) {
	c := newTestCore(t, "")
	needSandbox(t, c)
	agent := newFakeAgent(t, c)
	event := agent.event("touch wanted")
	go func() { _, _ = agent.hook(event) }()
	q := c.asked(t, "touch wanted")
	// The hook holds the agent's one line of orders: a second agent process stands for its other children.
	other := newFakeAgent(t, c)
	program := filepath.Join(c.bin, "countersign")
	for name, argv := range map[string][]string{
		"a child":                    {program, "answer", q.ID, "allow"},
		"a child in its own session": {"setsid", "-w", program, "answer", q.ID, "allow"},
		"a child sets the mode":      {program, "mode", q.Session, "bypass"},
		"a child looks":              {program, "pending"},
		"a child disconnects":        {program, "disconnect", "claude", "--settings", filepath.Join(other.project, "settings.json")},
	} {
		if report := other.run("", argv...); report.Status != 1 || !strings.Contains(report.Output, "open to the owner only") {
			t.Errorf("%s: %+v, want a refusal", name, report)
		}
	}
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("the script program is not installed: the made-up terminal was not tried")
	}
	shown := filepath.Join(t.TempDir(), "shown")
	report := other.run("", "setsid", "-f", "bash", "-c", "exec >/dev/null 2>&1; sleep 0.2; yes guess | head -n 20 | script -qec '"+program+" answer "+q.ID+" allow' "+shown)
	if report.Status != 0 {
		t.Fatalf("double fork: %+v", report)
	}
	deadline := time.Now().Add(30 * time.Second)
	var text []byte
	for time.Now().Before(deadline) && !strings.Contains(string(text), "not the desk passphrase") {
		time.Sleep(100 * time.Millisecond)
		text, _ = os.ReadFile(shown)
	}
	if !strings.Contains(string(text), "not the desk passphrase") {
		t.Errorf("the made-up terminal showed %q, want a refusal for want of the passphrase", text)
	}
	if list := c.pending(t); len(list) != 1 || list[0].ID != q.ID {
		t.Errorf("pending after all that: %+v, want the question still open", list)
	}
}

// A hook that finds no core starts one, with an environment of its own making, and asks it.
func TestHookStartsCore(t *testing.T) {
	c := newTestCore(t, "")
	needSandbox(t, c)
	c.kill()
	agent := newFakeAgent(t, c)
	// A core has three seconds; on a busy machine it may take longer, and then the call is denied and the next one finds it.
	var report agentReport
	for range 10 {
		report = agent.run(agent.event("true"), filepath.Join(c.bin, "countersign"), "hook", "claude", "--home", c.home)
		if !strings.Contains(report.Output, "no core is running") {
			break
		}
		t.Logf("the core needed longer than a client waits: %s", report.Output)
		time.Sleep(time.Second)
	}
	out, _ := c.command("status", "--json").Output() // it ends with 1: nothing is connected here
	var st struct {
		Core *wire.Status `json:"core"`
	}
	if err := json.Unmarshal(out, &st); err != nil || st.Core == nil {
		t.Fatalf("status says %s; the hook answered %q", out, report.Output)
	}
	started, err := os.FindProcess(st.Core.PID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = started.Kill() }()
	if !strings.Contains(report.Output, `"permissionDecision":"allow"`) {
		t.Errorf("the hook answered %q", report.Output)
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(st.Core.PID) + "/environ")
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	if strings.Contains(string(environ), fakeAgentVariable) {
		t.Errorf("the core inherited the agent's environment: %q", environ)
	}
}

// Signals and a lost client reach the command: nothing of it goes on running unseen.
func TestCommandEndsWithItsClient(t *testing.T) {
	c := newTestCore(t, "[rules]\nallow = [\"bash(sleep:*)\"]\n")
	needSandbox(t, c)
	agent := newFakeAgent(t, c)
	allowed := func(command string) string {
		t.Helper()
		answer, err := agent.hook(agent.event(command))
		if err != nil || answer.Specific.Permission != "allow" {
			t.Fatalf("%s: %+v, %v", command, answer, err)
		}
		return answer.Specific.Input.Command
	}
	script := func(line string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "line.sh")
		if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	// A signal to the client is passed on, and what the shell says about it comes back.
	first := script(allowed("sleep 31.7"))
	report := agent.run("", "bash", "-c", "bash "+first+" & sleep 1; pkill -INT -P $!; wait $!; echo status $?; pgrep -f '^sleep 31.7' || echo none-left")
	if !strings.Contains(report.Output, "status 130") || !strings.Contains(report.Output, "none-left") {
		t.Errorf("after SIGINT: %q, want status 130 and nothing left", report.Output)
	}
	// A client that is killed takes its command along.
	second := script(allowed("sleep 32.7"))
	report = agent.run("", "bash", "-c", "bash "+second+" & sleep 1; pgrep -f '^sleep 32.7' >/dev/null && echo was-there; pkill -KILL -P $!; sleep 1; pgrep -f '^sleep 32.7' || echo none-left")
	if !strings.Contains(report.Output, "was-there") || !strings.Contains(report.Output, "none-left") {
		t.Errorf("after its client was killed: %q, want nothing left", report.Output)
	}
}

// A huge command, and one with bytes that hide something, are not allowed and break nothing.
func TestHostileCommands(t *testing.T) {
	c := newTestCore(t, "[rules]\nallow = [\"bash(echo:*)\"]\n\n[approval]\ninteractive = false\n")
	agent := newFakeAgent(t, c)
	for name, command := range map[string]string{
		"one megabyte": "echo " + strings.Repeat("a", 1<<20),
		"NUL":          "echo a\x00b",
		"bidi":         "echo \u202eabc",
		"escape":       "echo \x1b[2K",
		"nested":       strings.Repeat("(", 5000) + "echo" + strings.Repeat(")", 5000),
	} {
		answer, err := agent.hook(agent.event(command))
		if err != nil || answer.Specific.Permission != "deny" || answer.Specific.Reason == "" {
			t.Errorf("%s: %+v, %v; want a denial with a reason", name, answer, err)
		}
	}
	if answer, err := agent.hook(agent.event("true")); err != nil || answer.Specific.Permission != "allow" {
		t.Errorf("afterwards an ordinary command: %+v, %v; want allow", answer, err)
	}
}
