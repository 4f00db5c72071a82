package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeAgentVariable makes this test binary play an agent: copied to a program named claude, it is what the desk takes
// for Claude Code, and it runs what the test tells it to, as its own child processes.
const fakeAgentVariable = "COUNTERSIGN_TEST_FAKE_AGENT"

// agentOrder is one command for the fake agent to run.
type agentOrder struct {
	Argv  []string `json:"argv"`
	Stdin string   `json:"stdin"`
	Dir   string   `json:"dir"`
}

type agentReport struct {
	Output string `json:"output"` // of both streams
	Status int    `json:"status"`
}

// playAgent runs orders from standard input until it is closed.
func playAgent() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var order agentOrder
		if err := in.Decode(&order); err != nil {
			return
		}
		cmd := exec.Command(order.Argv[0], order.Argv[1:]...)
		cmd.Dir, cmd.Stdin = order.Dir, strings.NewReader(order.Stdin)
		text, err := cmd.CombinedOutput()
		report := agentReport{Output: string(text)}
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit):
			report.Status = exit.ExitCode()
		case err != nil:
			report = agentReport{Output: err.Error(), Status: -1}
		}
		if err := out.Encode(report); err != nil {
			return
		}
	}
}

// fakeAgent is a running agent process, in a project of its own.
type fakeAgent struct {
	t       *testing.T
	core    *testCore
	project string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	calls   int
}

func newFakeAgent(t *testing.T, core *testCore) *fakeAgent {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "claude")
	if err := os.WriteFile(program, self, 0o700); err != nil {
		t.Fatal(err)
	}
	a := &fakeAgent{t: t, core: core, project: filepath.Join(dir, "project")}
	if err := os.Mkdir(a.project, 0o700); err != nil {
		t.Fatal(err)
	}
	a.cmd = exec.Command(program)
	a.cmd.Dir = a.project
	a.cmd.Env = append(os.Environ(), fakeAgentVariable+"=1", "COUNTERSIGN_HOME="+core.home)
	a.cmd.Stderr = os.Stderr
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.out = json.NewDecoder(out)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.in.Close()
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
	})
	return a
}

// run has the agent run a program and returns what it printed.
func (a *fakeAgent) run(stdin string, argv ...string) agentReport {
	a.t.Helper()
	report, err := a.try(stdin, argv...)
	if err != nil {
		a.t.Fatal(err)
	}
	return report
}

func (a *fakeAgent) try(stdin string, argv ...string) (agentReport, error) {
	if err := json.NewEncoder(a.in).Encode(agentOrder{Argv: argv, Stdin: stdin, Dir: a.project}); err != nil {
		return agentReport{}, err
	}
	var report agentReport
	err := a.out.Decode(&report)
	return report, err
}

// event is the PreToolUse event of one Bash call, under a new tool_use_id.
func (a *fakeAgent) event(command string) string {
	a.t.Helper()
	a.calls++
	data, err := json.Marshal(map[string]any{
		"session_id": "s1", "cwd": a.project, "prompt_id": "p1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": map[string]any{"command": command}, "tool_use_id": fmt.Sprintf("toolu_%d", a.calls),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return string(data)
}

// hookAnswer is what the tests read of a hook's answer.
type hookAnswer struct {
	Specific struct {
		Permission string `json:"permissionDecision"`
		Reason     string `json:"permissionDecisionReason"`
		Input      struct {
			Command string `json:"command"`
		} `json:"updatedInput"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// hook has the agent ask about a command; it returns when that is answered.
func (a *fakeAgent) hook(event string) (hookAnswer, error) {
	report, err := a.try(event, filepath.Join(a.core.bin, "countersign"), "hook", "claude", "--home", a.core.home, "--agent", "claude", "--no-start")
	if err != nil {
		return hookAnswer{}, err
	}
	var answer hookAnswer
	if err := json.NewDecoder(bytes.NewReader([]byte(report.Output))).Decode(&answer); err != nil {
		return hookAnswer{}, fmt.Errorf("%w: %q", err, report.Output)
	}
	return answer, nil
}
