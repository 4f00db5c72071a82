package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpenStartsTheDesk(t *testing.T) {
	bin, home, display := deskDir(t), deskHome(t, false), fakeDisplay(t)
	const link = "countersign://project/work"
	if out, err := typedCommand(bin, home, display, "open", link).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("open: %v\n%s", err, out)
	}
	first := started(t, home)
	if diff := cmp.Diff([]string{link}, first.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if first.value("WAYLAND_DISPLAY") != "wayland-5" || first.value("COUNTERSIGN_HOME") != home || first.value("LD_LIBRARY_PATH") != "" {
		t.Errorf("environment: %q", first.Env)
	}
	// A second start hands over to the first and starts nothing.
	if out, err := typedCommand(bin, home, display, "open").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("open again: %v\n%s", err, out)
	}
	if second := started(t, home); second.PID != first.PID {
		t.Errorf("another desk was started beside the first")
	}
}

// The end of an id that pending prints opens its approval in the window. Once it opened nothing, and nothing was said.
func TestOpenTakesWhatPendingPrints(t *testing.T) {
	bin, home := deskDir(t), deskHome(t, false)
	c := &testCore{bin: bin, home: home}
	unknown := typedCommand(bin, home, fakeDisplay(t), "open", "countersign://approval/3f9a1c20")
	// The desk is started for a link to nothing too: only a desk that runs knows what is there.
	if out, err := unknown.CombinedOutput(); err == nil || !strings.Contains(string(out), `no approval "3f9a1c20" is here`) {
		t.Errorf("open: %v\n%s", err, out)
	}
	started(t, home)
	a := newFakeAgent(t, c)
	event := a.event("touch wanted")
	go func() { _, _ = a.hook(event) }()
	q := c.asked(t, "touch wanted")
	printed, err := c.command("pending").Output()
	line := "countersign open countersign://approval/" + shortID(q.ID)
	if err != nil || !strings.Contains(string(printed), line+"\n") {
		t.Fatalf("pending: %v\n%s", err, printed)
	}
	if out, err := c.command("open", strings.TrimPrefix(line, "countersign open ")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

func TestOpenSaysWhatTheDeskWaitsFor(t *testing.T) {
	t.Parallel() // it takes as long as a person is made to wait
	bin, home := deskDir(t), deskHome(t, true)
	out, err := typedCommand(bin, home, fakeDisplay(t), "open").CombinedOutput()
	started(t, home)
	if err == nil || !strings.Contains(string(out), "waits for the passphrase") {
		t.Errorf("open: %v\n%s", err, out)
	}
}

// agentBelowShell is a hook's process as it is in real use: a shell that a person opened, an agent below it, the hook
// below that. The agent's environment is a repository's, the shell's is the person's.
func agentBelowShell(t *testing.T, bin, home string, shell, agent []string, hook ...string) hookAnswer {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "claude"), self, 0o700); err != nil {
		t.Fatal(err)
	}
	event := fmt.Sprintf(`{"session_id":"s1","cwd":%q,"prompt_id":"p1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`, dir)
	order, err := json.Marshal(agentOrder{Argv: append([]string{filepath.Join(bin, "countersign"), "hook", "claude", "--home", home}, hook...), Stdin: event, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", fakeAgentVariable+"=1 "+strings.Join(agent, " ")+` ./claude; true`)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, append(os.Environ(), shell...), strings.NewReader(string(order)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var report agentReport
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	var answer hookAnswer
	if err := json.Unmarshal([]byte(report.Output), &answer); err != nil {
		t.Fatalf("%v: %q", err, report.Output)
	}
	return answer
}

// needBelievedDisplay skips where a display of a test is none that a hook opens the desk on.
func needBelievedDisplay(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: of other accounts' displays only those of a login count, and a test cannot log in")
	}
}

// TestHookStartsTheDeskWhereTheAgentWasStarted: the agent's own environment names another display, as a repository's
// settings could.
func TestHookStartsTheDeskWhereTheAgentWasStarted(t *testing.T) {
	needBelievedDisplay(t)
	bin, home, mine, evil := deskDir(t), deskHome(t, false), fakeDisplay(t), fakeDisplay(t)
	answer := agentBelowShell(t, bin, home, mine, append(evil, "LANG=evil"))
	start := started(t, home)
	if diff := cmp.Diff([]string{"--hidden"}, start.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if "XDG_RUNTIME_DIR="+start.value("XDG_RUNTIME_DIR") != mine[2] || start.value("LANG") == "evil" {
		t.Errorf("the desk's environment comes from the agent: %q", start.Env)
	}
	// On a busy machine the desk takes longer than a hook waits; then that is what the hook says.
	if reason := answer.Specific.Reason; strings.Contains(reason, "could not decide") && !strings.Contains(reason, "did not answer within 3 seconds") {
		t.Errorf("the desk was not asked: %+v", answer)
	}
}

func TestHookSaysThatTheDeskWaitsForItsPassphrase(t *testing.T) {
	needBelievedDisplay(t)
	t.Parallel()
	bin, home := deskDir(t), deskHome(t, true)
	answer := agentBelowShell(t, bin, home, fakeDisplay(t), nil)
	started(t, home)
	if answer.Specific.Permission != "deny" || !strings.Contains(answer.Specific.Reason, "window waits for the passphrase") {
		t.Errorf("answered %+v", answer)
	}
}

func TestHookThatMayStartNothing(t *testing.T) {
	bin, home := deskDir(t), deskHome(t, false)
	answer := agentBelowShell(t, bin, home, fakeDisplay(t), nil, "--no-start")
	if _, err := os.Stat(filepath.Join(home, startFile)); err == nil {
		started(t, home)
		t.Error("a desk was started")
	}
	if answer.Specific.Permission != "deny" {
		t.Errorf("answered %+v", answer)
	}
}

func TestOpenIsNotForAgents(t *testing.T) {
	c := newTestCore(t, "")
	a := newFakeAgent(t, c)
	running := a.run("", filepath.Join(c.bin, "countersign"), "open", "countersign://approval/3f9a1c20")
	c.kill()
	alone := a.run("", filepath.Join(c.bin, "countersign"), "open", "countersign://approval/3f9a1c20")
	for name, report := range map[string]agentReport{"refused by the core": running, "refused where none runs": alone} {
		if report.Status != 1 || !strings.Contains(report.Output, "descends from an agent") {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

func TestDemoInTheWindow(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	bin, home := deskDir(t), deskHome(t, false)
	tmp := filepath.Join(home, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := typedCommand(bin, home, append(fakeDisplay(t), "TMPDIR="+tmp), "demo")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("demo: %v\n%s", err, text)
	}
	for _, want := range []string{"HELLO, COUNTERSIGN", "look at the card in the window", "allowed by you", "receipts verify", "window was closed"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "NOT AS IT SHOULD BE") {
		t.Errorf("a step went wrong:\n%s", text)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(home, startFile)); err == nil {
		t.Error("the person's own desk was touched")
	}
}

func TestDemoWhoseDeskDies(t *testing.T) {
	bin, home := deskDir(t), deskHome(t, false)
	if err := os.WriteFile(filepath.Join(bin, dieFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := typedCommand(bin, home, fakeDisplay(t), "demo").CombinedOutput()
	for _, want := range []string{"did not open (exit status 3", `cannot open \u001b[31mdisplay`, "demo --terminal"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if err == nil {
		t.Error("it claims to have worked")
	}
}

// TestDemoIsEndedInTheMiddle: whatever ends first, nothing is left behind and the person is told what happened.
func TestDemoIsEndedInTheMiddle(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	tests := []struct {
		name   string
		end    func(demo *os.Process, desk int) error
		says   string
		status int
	}{
		{"Ctrl-C", func(demo *os.Process, _ int) error { return demo.Signal(os.Interrupt) }, "Interrupted", 0},
		{"the desk dies", func(_ *os.Process, desk int) error { return syscall.Kill(desk, syscall.SIGKILL) }, "ended unexpectedly (it was killed)", 1},
		{"the window is quit", func(_ *os.Process, desk int) error { return syscall.Kill(desk, syscall.SIGTERM) }, "window was closed", 0},
	}
	bin := deskDir(t)
	if err := os.WriteFile(filepath.Join(bin, idleFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tmp, err := os.MkdirTemp("", "cs-") // sockets' paths are short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(tmp) })
			cmd := typedCommand(bin, t.TempDir(), append(fakeDisplay(t), "TMPDIR="+tmp), "demo")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var complaint strings.Builder
			cmd.Stderr = &complaint
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			lines := bufio.NewScanner(out)
			text := ""
			for lines.Scan() {
				text += lines.Text() + "\n"
				if !strings.Contains(lines.Text(), "waits for you") {
					continue
				}
				homes, err := filepath.Glob(filepath.Join(tmp, "countersign-demo-*", "desk"))
				if err != nil || len(homes) != 1 {
					t.Fatalf("the throw-away home: %v, %v", homes, err)
				}
				if err := tt.end(cmd.Process, started(t, homes[0]).PID); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			text += complaint.String()
			if !strings.Contains(text, tt.says) || cmd.ProcessState.ExitCode() != tt.status {
				t.Errorf("exit status %d:\n%s", cmd.ProcessState.ExitCode(), text)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
