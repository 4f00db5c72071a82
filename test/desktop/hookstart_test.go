//go:build window

package desktop

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// installedHook connects Claude Code while the desk runs, does what else is to be done then, ends the desk, and returns the
// command that the agent's settings hold now for a call that is about to be made.
func (d *testDesk) installedHook(then ...func(*window)) string {
	d.t.Helper()
	w := d.start()
	w.inbox()
	file := filepath.Join(filepath.Dir(d.project), "settings.json")
	if out, err := d.countersign("connect", "claude", "--settings", file); err != nil {
		d.t.Fatalf("connect: %v\n%s", err, out)
	}
	for _, do := range then {
		do(w)
	}
	d.quits()
	data, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		d.t.Fatal(err)
	}
	for _, group := range settings.Hooks["PreToolUse"] {
		for _, hook := range group.Hooks {
			if strings.Contains(hook.Command, " hook claude ") {
				return hook.Command
			}
		}
	}
	d.t.Fatalf("connect wrote no hook:\n%s", data)
	return ""
}

// noDisplay takes away what a window could be opened on.
var noDisplay = []string{"DISPLAY=", "WAYLAND_DISPLAY="}

// caller is an agent that calls a hook and then, in the same process, runs what the test has it run: an answer is good for
// the agent that asked, and no other.
type caller struct {
	t          *testing.T
	told, next string // files: what the hook said, and a pipe for what is run after it
	said       bytes.Buffer
	gone       chan struct{}
}

// agentScript is what the program called claude runs: the hook, whose command is its name, and then what comes through the
// pipe. The hook's answer is there as a whole or not at all.
const agentScript = `/bin/sh -c "$0" <"$1/event" >"$1/telling" && mv "$1/telling" "$1/told"; /bin/sh "$1/next"; exit $?`

// calls runs a hook as Claude Code does: a person's shell, which has terminal in its environment; below it a program called
// claude, which has agents in its own; below that the shell that runs the command of the settings. The person's shell is not
// below this test, whose own display would be found above it.
func (d *testDesk) calls(hook, command string, terminal, agents []string) *caller {
	d.t.Helper()
	place, err := os.MkdirTemp(filepath.Dir(d.project), "agent-")
	if err != nil {
		d.t.Fatal(err)
	}
	c := &caller{t: d.t, told: filepath.Join(place, "told"), next: filepath.Join(place, "next"), gone: make(chan struct{})}
	event, err := json.Marshal(map[string]any{
		"session_id": "s1", "cwd": d.project, "prompt_id": "p1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": map[string]any{"command": command}, "tool_use_id": "toolu_1",
	})
	if err != nil {
		d.t.Fatal(err)
	}
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		d.t.Fatal(err)
	}
	program := filepath.Join(place, "claude")
	for _, err := range []error{
		os.WriteFile(program, shell, 0o700), os.WriteFile(filepath.Join(place, "event"), event, 0o600), syscall.Mkfifo(c.next, 0o600),
	} {
		if err != nil {
			d.t.Fatal(err)
		}
	}
	// What follows the command keeps the person's shell from becoming what it runs.
	cmd := exec.Command("setsid", append([]string{"-f", "/bin/sh", "-c", `"$@"; exit $?`, "terminal", "/usr/bin/env"},
		append(agents, program, "-c", agentScript, hook, place)...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = d.project, &c.said, &c.said, append(os.Environ(), terminal...)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // setsid(1) is gone at once; what is said is read until the agent is gone too
		close(c.gone)
	}()
	d.t.Cleanup(func() {
		if pid, waits := d.running("countersign"); waits && !c.ended() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for !c.ended() { // an agent that waits for more is told that there is none
			if pipe, err := os.OpenFile(c.next, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				_ = pipe.Close()
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return c
}

// running returns a process of this program that was told of this desk on its command line.
func (d *testDesk) running(program string) (int, bool) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range found {
		data, err := os.ReadFile(file)
		words := strings.Split(string(data), "\x00")
		if err == nil && words[0] == filepath.Join(d.bin, program) && slices.Contains(words, d.home) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid, err == nil
		}
	}
	return 0, false
}

func (c *caller) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// answered reports whether the hook has answered.
func (c *caller) answered() bool {
	_, err := os.Stat(c.told)
	return err == nil
}

// runs has the agent run a line of shell and end, and returns what that printed.
func (c *caller) runs(line string) string {
	c.t.Helper()
	if err := os.WriteFile(c.next, []byte(line+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	comes(c.t, "the agent has ended", c.ended)
	return c.said.String()
}

// answer is what a hook tells Claude Code.
type answer struct {
	Permission string `json:"permissionDecision"`
	Reason     string `json:"permissionDecisionReason"`
	Input      struct {
		Command string `json:"command"`
	} `json:"updatedInput"`
}

func (c *caller) answer() answer {
	c.t.Helper()
	comes(c.t, "the hook has answered", c.answered)
	data, err := os.ReadFile(c.told)
	if err != nil {
		c.t.Fatal(err)
	}
	var said struct {
		Specific answer `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		c.t.Fatalf("the hook said %q: %v", data, err)
	}
	return said.Specific
}

// startedByHook returns the process of the desk that a hook started, and what it was started with.
func (d *testDesk) startedByHook() (pid int, arguments, environment []string) {
	d.t.Helper()
	comes(d.t, "a desk runs", func() (ok bool) { pid, ok = d.another(); return ok })
	d.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	for name, into := range map[string]*[]string{"cmdline": &arguments, "environ": &environment} {
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
		if err != nil {
			d.t.Fatal(err)
		}
		*into = strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
	}
	return pid, arguments, environment
}

// fakeScreen makes another display that listens, as a repository could name one for its agent.
func fakeScreen(t *testing.T) (display string) {
	t.Helper()
	display, stop, err := startScreen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return display
}

// drawn returns the windows that programs opened on a display.
func drawn(t *testing.T, display string) string {
	t.Helper()
	cmd := exec.Command("xdotool", "search", "--name", ".+")
	cmd.Env = append(os.Environ(), "DISPLAY="+display)
	out, _ := cmd.Output() // nothing found is status 1
	return strings.TrimSpace(string(out))
}

// No desk runs when an agent is about to make a call. The hook that connect installed starts the desk where the person
// started the agent, hidden in its tray; the person reviews the call and allows it there; the hook tells the agent, and the
// command leaves its receipts. The agent's environment names another display, which a repository's settings could have
// put there: nothing is drawn on it.
func TestHookStartsTheDesk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: of other accounts' displays only those of a login count, and a test cannot log in")
	}
	d := newDesk(t, "")
	hook := d.installedHook()
	comes(t, "the tray is empty", trayIsEmpty)
	evil := fakeScreen(t)
	call := func() *caller {
		return d.calls(hook, "echo from-the-hook > made.txt", nil, []string{"DISPLAY=" + evil, "LC_ALL=evil", "COUNTERSIGN_HOME=/nowhere"})
	}
	c := call()
	_, arguments, environment := d.startedByHook()
	if !slices.Equal(arguments[1:], []string{"--hidden"}) || filepath.Base(arguments[0]) != "countersign-desk" {
		t.Errorf("the desk was started as %q", arguments)
	}
	if !slices.Contains(environment, "DISPLAY="+os.Getenv("DISPLAY")) || !slices.Contains(environment, "COUNTERSIGN_HOME="+d.home) ||
		slices.Contains(environment, "LC_ALL=evil") {
		t.Errorf("the desk was started with %q", environment)
	}
	waits := func() bool {
		out, err := d.countersign("pending")
		return err == nil && strings.Contains(out, "from-the-hook")
	}
	comes(t, "the person is asked", func() bool { return waits() || c.answered() })
	if c.answered() && strings.Contains(c.answer().Reason, "did not answer within 3 seconds") {
		t.Log("the desk needed longer than a hook waits, as on a busy machine; the next call finds it")
		c.runs("true")
		c = call()
	}
	trayWaits(t, trayItem(t), "1 waiting")
	if shown() {
		t.Error("the window raised itself")
	}
	if c.answered() {
		t.Fatalf("the hook did not wait for the person: %+v", c.answer())
	}
	oneBubble(t).press(t, 1, 3) // Default, Review, Deny
	w := &window{t: t, app: windowName}
	w.wait("the card", func(n node) bool {
		return n.Role == "heading" && strings.Contains(n.Name, "Claude Code wants to run a command")
	})
	w.says("echo from-the-hook > made.txt")
	comes(t, "the window is on the screen", shown)
	for range 5 {
		w.press("Allow once")
		if eventually(patience/10, func() error {
			if !c.answered() {
				return os.ErrDeadlineExceeded
			}
			return nil
		}) == nil {
			break
		}
	}
	told := c.answer()
	if told.Permission != "allow" || !strings.Contains(told.Input.Command, " run ") || !strings.Contains(told.Input.Command, " --call ") || strings.Contains(told.Input.Command, "from-the-hook") {
		t.Fatalf("the agent was told %+v", told)
	}
	// The agent runs the line that it was given, and the command runs here.
	said := c.runs(told.Input.Command)
	if made, err := os.ReadFile(filepath.Join(d.project, "made.txt")); err != nil || string(made) != "from-the-hook\n" {
		t.Errorf("the command left %q, %v; the agent read %q", made, err, said)
	}
	if out, err := d.countersign("receipts", "list"); err != nil || !strings.Contains(out, "from-the-hook") || strings.Count(out, "\n") != 2 {
		t.Errorf("receipts list: %v\n%s", err, out)
	}
	if out, err := d.countersign("receipts", "verify"); err != nil || !strings.Contains(out, "2 receipts verify") {
		t.Errorf("receipts verify: %v\n%s", err, out)
	}
	if windows := drawn(t, evil); windows != "" {
		t.Errorf("windows were opened on the display that the agent named: %s", windows)
	}
}

// Where nothing above the agent has a display, the one that the agent names is none either: the core starts without a
// window. With nobody to ask, its answer is a denial.
func TestHookStartNeedsAPersonsDisplay(t *testing.T) {
	d := newDesk(t, "")
	file := filepath.Join(filepath.Dir(d.project), "passphrase")
	d.write(file, passphrase+"\n")
	d.write(filepath.Join(d.home, "config", "config.toml"), fileIdentity+"passphrase_file = "+strconv.Quote(file)+"\n\n[approval]\ninteractive = false\n")
	hook := d.installedHook()
	evil := fakeScreen(t)
	c := d.calls(hook, "echo from-the-hook > made.txt", noDisplay, []string{"DISPLAY=" + evil})
	t.Cleanup(func() {
		if out, err := d.countersign("stop"); err != nil {
			t.Errorf("stop: %v\n%s", err, out)
		}
	})
	if told := c.answer(); told.Permission != "deny" || !strings.Contains(told.Reason, "owner") {
		t.Errorf("the agent was told %+v", told)
	}
	var status struct {
		Core *struct {
			Window bool `json:"window"`
		} `json:"core"`
	}
	out, _ := d.countersign("status", "--json") // its status is 1 while these settings are not the account's own
	if err := json.Unmarshal([]byte(out), &status); err != nil || status.Core == nil || status.Core.Window {
		t.Errorf("the core: %v\n%s", err, out)
	}
	if pid, runs := d.another(); runs {
		t.Errorf("the desk's window runs as process %d", pid)
	}
	if windows := drawn(t, evil); windows != "" {
		t.Errorf("windows were opened on the display that the agent named: %s", windows)
	}
}

func trayIsEmpty() bool {
	out, err := gdbus("org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher", "org.freedesktop.DBus.Properties.Get",
		"org.kde.StatusNotifierWatcher", "RegisteredStatusNotifierItems")
	return err == nil && traySlot.FindString(out) == ""
}
