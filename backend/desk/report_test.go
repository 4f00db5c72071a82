package desk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"countersign/backend/wire"
)

// What an agent executes itself is released with a decision record, and its own report is compared with what was
// decided.
func TestReleasedCallIsReported(t *testing.T) {
	f := newFixture(t, `allow = ["write(ok.txt)"]`)
	id := uuid.NewString()
	args := map[string]any{"file_path": filepath.Join(f.project, "ok.txt"), "content": "x"}
	status := f.proposeAs(id, "Write", args)
	if status.State != "released" || status.Boundary != "any" {
		t.Fatalf("status %+v, want released", status)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	report := wire.ReportCall{Agent: "tester", SessionClaim: "s1", Execution: f.turn, ToolCall: id, Tool: "Write", Args: raw, Cwd: f.project}
	var prompt wire.PermissionResult
	f.must(f.agent, wire.ActionPermissionCall, wire.PermissionCall{Agent: "tester", SessionClaim: "s1", Execution: f.turn, Tool: "Write", Args: raw, Cwd: f.project}, &prompt)
	if prompt.Outcome != wire.PermissionAllow {
		t.Errorf("the agent's own prompt: %+v, want allow from the record", prompt)
	}
	var result wire.ReportResult
	f.must(f.agent, wire.ActionReportCall, report, &result)
	if result.Paused {
		t.Fatalf("an honest report paused the session: %s", result.Message)
	}
	f.verify(1)
}

// A second hook can replace what runs after our yes; a gate can be switched off. Both show in the agent's report, and
// then nothing more goes through until the owner looked.
func TestForeignReportPausesTheSession(t *testing.T) {
	for name, change := range map[string]func(*wire.ReportCall){
		"other arguments": func(r *wire.ReportCall) { r.Args = json.RawMessage(`{"file_path":"/etc/passwd","content":"x"}`) },
		"other tool":      func(r *wire.ReportCall) { r.Tool = "Bash" },
		"never asked":     func(r *wire.ReportCall) { r.ToolCall = "toolu_other"; r.Args = json.RawMessage(`{"a":1}`) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, `allow = ["write(ok.txt)"]`)
			id := uuid.NewString()
			args := map[string]any{"file_path": filepath.Join(f.project, "ok.txt"), "content": "x"}
			f.proposeAs(id, "Write", args)
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			report := wire.ReportCall{Agent: "tester", SessionClaim: "s1", Execution: f.turn, ToolCall: id, Tool: "Write", Args: raw, Cwd: f.project}
			change(&report)
			var result wire.ReportResult
			f.must(f.agent, wire.ActionReportCall, report, &result)
			if !result.Paused {
				t.Fatal("the session goes on")
			}
			if code := f.do(f.agent, wire.ActionAdmitCall, f.admission(uuid.NewString(), "read", map[string]any{"path": "x"}), nil); code != "session_paused" {
				t.Errorf("the next call: %q, want session_paused", code)
			}
		})
	}
}

func TestCheckedFileTools(t *testing.T) {
	f := newFixture(t, `allow = ["edit(a.txt)", "write(new.txt)"]`)
	name := filepath.Join(f.project, "a.txt")
	if err := os.WriteFile(name, []byte("one two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	perform := func(s wire.CallStatus) (wire.PerformResult, string) {
		var out wire.PerformResult
		code := f.do(f.agent, wire.ActionPerformCall, wire.PerformCall{Call: s.Call}, &out)
		return out, code
	}
	read := f.propose("read", map[string]any{"path": "a.txt"})
	if out, code := perform(read); code != "" || out.IsError || out.Content == "" {
		t.Errorf("read: %q %+v", code, out)
	}
	edit := f.propose("edit", map[string]any{"path": "a.txt", "old_string": "two", "new_string": "three"})
	if !edit.Allowed() {
		t.Fatalf("edit: %+v", edit)
	}
	if out, code := perform(edit); code != "" || out.IsError {
		t.Errorf("edit: %q %+v", code, out)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "one three\n" {
		t.Errorf("after the edit: %q %v", data, err)
	}
	// Changed between approval and write: nothing is written.
	stale := f.propose("edit", map[string]any{"path": "a.txt", "old_string": "three", "new_string": "four"})
	if err := os.WriteFile(name, []byte("someone else saved: three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := perform(stale); code == "" && !out.IsError {
		t.Errorf("a stale edit was written: %+v", out)
	}
	if data, _ := os.ReadFile(name); string(data) != "someone else saved: three\n" {
		t.Errorf("after the stale edit: %q", data)
	}
	made := f.propose("write", map[string]any{"path": "new.txt", "content": "made\n"})
	if out, code := perform(made); code != "" || out.IsError {
		t.Errorf("write: %q %+v", code, out)
	}
	f.verify(6) // a decision each, and a write record for the two that were written
}

// Two waiting writes of a megabyte each made every listing of the inbox too long for one message: nothing could be seen or
// denied any more, other sessions' questions included.
func TestLargeCallsKeepTheInboxUsable(t *testing.T) {
	f := newFixture(t, `deny = ["bash(git push:*)"]`)
	for i := range 3 {
		f.propose("Write", map[string]any{"file_path": filepath.Join(f.project, "big"), "content": strings.Repeat(string(rune('a'+i)), 2<<20)})
	}
	var list wire.Questions
	f.must(f.desk.Owner(), wire.ActionListQuestions, wire.ListQuestions{}, &list)
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Questions) != 3 || len(data) > wire.MaxMessage/2 {
		t.Errorf("%d questions in %d bytes, want 3 within half a message", len(list.Questions), len(data))
	}
	var calls wire.Calls
	f.must(f.desk.Owner(), wire.ActionListCalls, wire.ListCalls{Session: list.Questions[0].Session}, &calls)
	if data, err = json.Marshal(calls); err != nil || len(data) > wire.MaxMessage/2 {
		t.Errorf("calls take %d bytes, %v", len(data), err)
	}
	// Calls whose arguments are shown in full add up as well.
	for range 150 {
		f.propose("bash", map[string]any{"command": "git push", "note": strings.Repeat("n", 15<<10)})
	}
	for _, session := range []string{list.Questions[0].Session, ""} {
		f.must(f.desk.Owner(), wire.ActionListCalls, wire.ListCalls{Session: session}, &calls)
		if data, err = json.Marshal(calls); err != nil || len(data) > wire.MaxMessage*3/4 || len(calls.Calls) < 100 {
			t.Errorf("%d calls take %d bytes, %v", len(calls.Calls), len(data), err)
		}
	}
	if !strings.Contains(string(list.Questions[0].Detail), `"omitted":{`) {
		t.Errorf("the card does not say that something was left out: %.300s", list.Questions[0].Detail)
	}
}

// A task with seventy calls inside came back after the sixty-four newest had pushed its own out of sight, and the session
// was paused for a call that had been decided.
func TestReportOfALongTaskIsRecognised(t *testing.T) {
	f := newFixture(t, `allow = ["write(ok.txt)"]`)
	id := uuid.NewString()
	args := map[string]any{"file_path": filepath.Join(f.project, "ok.txt"), "content": "x"}
	f.proposeAs(id, "Write", args)
	for range 70 {
		f.propose("read", map[string]any{"path": "x"})
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var result wire.ReportResult
	f.must(f.agent, wire.ActionReportCall, wire.ReportCall{Agent: "tester", SessionClaim: "s1", Execution: f.turn, ToolCall: id, Tool: "Write", Args: raw, Cwd: f.project}, &result)
	if result.Paused {
		t.Errorf("paused: %s", result.Message)
	}
}

// A paused agent went on under another session id, and under its own after saying that the session had ended. The pause is
// the process's; only the owner lifts it.
func TestPauseCannotBeLeft(t *testing.T) {
	f := newFixture(t, "")
	var result wire.ReportResult
	f.must(f.agent, wire.ActionReportCall, wire.ReportCall{Agent: "tester", SessionClaim: "s1", ToolCall: "never asked", Tool: "Bash", Args: json.RawMessage(`{"a":1}`), Cwd: f.project}, &result)
	if !result.Paused {
		t.Fatal("not paused")
	}
	other := f.admission(uuid.NewString(), "read", map[string]any{"path": "x"})
	other.SessionClaim = "s2"
	if code := f.do(f.agent, wire.ActionAdmitCall, other, nil); code != "session_paused" {
		t.Errorf("another session id: %q, want session_paused", code)
	}
	f.must(f.agent, wire.ActionSessionEvent, wire.SessionEvent{Agent: "tester", SessionClaim: "s1", Event: wire.SessionEnd, Cwd: f.project}, nil)
	if code := f.do(f.agent, wire.ActionAdmitCall, f.admission(uuid.NewString(), "read", map[string]any{"path": "x"}), nil); code != "session_paused" {
		t.Errorf("after the session ended: %q, want session_paused", code)
	}
	var sessions wire.Sessions
	f.must(f.desk.Owner(), wire.ActionListSessions, wire.ListSessions{}, &sessions)
	f.must(f.desk.Owner(), wire.ActionResumeSession, wire.ResumeSession{Session: sessions.Sessions[0].ID}, nil)
	if code := f.do(f.agent, wire.ActionAdmitCall, other, nil); code == "session_paused" {
		t.Error("still paused after the owner resumed it")
	}
}
