package desk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/backend/wire"
)

func (f *fixture) pauseOf() wire.DeskPause {
	f.t.Helper()
	var st wire.Status
	f.must(f.desk.Owner(), wire.ActionStatus, wire.Empty{}, &st)
	return st.Pause
}

func TestPausedDeskRefusesNewCalls(t *testing.T) {
	f := newFixture(t, `allow = ["write(ok.txt)"]`)
	id := uuid.NewString()
	f.proposeAs(id, "Write", map[string]any{"file_path": "a.txt", "content": "x"})
	q := f.only()
	var pause wire.DeskPause
	f.must(f.desk.Owner(), wire.ActionPauseDesk, wire.PauseDesk{Seconds: 900}, &pause)
	if until := f.clock.Now().Add(15 * time.Minute); !pause.Paused || !pause.Until.Equal(until) || f.pauseOf() != pause {
		t.Fatalf("paused %+v, status %+v, want until %v", pause, f.pauseOf(), until)
	}
	for name, call := range map[string]map[string]any{
		"what a rule allows": {"file_path": "ok.txt", "content": "x"}, "what asks": {"file_path": "b.txt", "content": "x"},
	} {
		if code := f.do(f.agent, wire.ActionAdmitCall, f.admission(uuid.NewString(), "Write", call), nil); code != "desk_paused" {
			t.Errorf("%s: %q, want desk_paused", name, code)
		}
	}
	// What waited already stays: its client may come back, and it may be answered.
	f.restart()
	if again := f.proposeAs(id, "Write", map[string]any{"file_path": "a.txt", "content": "x"}); again.Question != q.ID {
		t.Errorf("the waiting call is %+v", again)
	}
	f.allow(q, 1, "")
	if code := f.do(f.agent, wire.ActionAdmitCall, f.admission(uuid.NewString(), "Write", map[string]any{"file_path": "ok.txt", "content": "x"}), nil); code != "desk_paused" {
		t.Errorf("after a restart: %q, want desk_paused", code)
	}
	// It ends by the wall clock, and everybody is told.
	sub, err := f.desk.Subscribe(f.desk.Owner(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Cancel()
	f.clock.advance(15 * time.Minute)
	if status := f.propose("Write", map[string]any{"file_path": "ok.txt", "content": "x"}); !status.Allowed() {
		t.Errorf("after the pause: %+v", status)
	}
	if pause := f.pauseOf(); pause.Paused {
		t.Errorf("status after the pause: %+v", pause)
	}
	for limit := time.After(20 * time.Second); ; {
		select {
		case frame := <-sub.Frames:
			if frame.Frame == wire.FrameDeskPaused && string(frame.Data) == `{"paused":false}` {
				return
			}
		case <-limit:
			t.Fatal("nobody was told that the pause ended")
		}
	}
}

func TestPauseUntilResumed(t *testing.T) {
	f := newFixture(t, `allow = ["write(ok.txt)"]`)
	f.must(f.desk.Owner(), wire.ActionPauseDesk, wire.PauseDesk{Seconds: wire.PauseForever}, nil)
	f.clock.advance(365 * 24 * time.Hour)
	f.restart()
	ok := f.admission(uuid.NewString(), "Write", map[string]any{"file_path": "ok.txt", "content": "x"})
	if code := f.do(f.agent, wire.ActionAdmitCall, ok, nil); code != "desk_paused" {
		t.Errorf("after a year: %q, want desk_paused", code)
	}
	f.must(f.desk.Owner(), wire.ActionPauseDesk, wire.PauseDesk{}, nil)
	if code := f.do(f.agent, wire.ActionAdmitCall, ok, nil); code != "" {
		t.Errorf("after it was resumed: %q", code)
	}
	for _, seconds := range []int{-2, 7*24*3600 + 1} {
		if code := f.do(f.desk.Owner(), wire.ActionPauseDesk, wire.PauseDesk{Seconds: seconds}, nil); code != wire.CodeBadArgument {
			t.Errorf("%d seconds: %q", seconds, code)
		}
	}
	if code := f.do(f.agent, wire.ActionPauseDesk, wire.PauseDesk{}, nil); code != "agent_not_allowed" {
		t.Errorf("the agent resumes: %q", code)
	}
}

func TestOwnerPausesASession(t *testing.T) {
	f := newFixture(t, "")
	f.ask("a.txt")
	session := f.only().Session
	f.must(f.desk.Owner(), wire.ActionPauseSession, wire.PauseSession{Session: session}, nil)
	call := f.admission(uuid.NewString(), "read", map[string]any{"path": "x"})
	if code := f.do(f.agent, wire.ActionAdmitCall, call, nil); code != "session_paused" {
		t.Errorf("the next call: %q, want session_paused", code)
	}
	var list wire.Sessions
	f.must(f.desk.Owner(), wire.ActionListSessions, wire.ListSessions{}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Paused != wire.PausedByOwner {
		t.Errorf("sessions %+v", list.Sessions)
	}
	var prompt wire.PermissionResult
	f.must(f.agent, wire.ActionPermissionCall, wire.PermissionCall{Agent: "tester", SessionClaim: "s1", Tool: "Write", Args: call.Args, Cwd: f.project}, &prompt)
	if prompt.Outcome != wire.PermissionDeny || strings.Contains(prompt.Message, wire.PausedByOwner) {
		t.Errorf("the agent's own prompt: %+v", prompt)
	}
	f.must(f.desk.Owner(), wire.ActionResumeSession, wire.ResumeSession{Session: session}, nil)
	if code := f.do(f.agent, wire.ActionAdmitCall, call, nil); code != "" {
		t.Errorf("after it was resumed: %q", code)
	}
	if code := f.do(f.desk.Owner(), wire.ActionPauseSession, wire.PauseSession{Session: "no"}, nil); code != "unknown_session" {
		t.Errorf("a session that is not there: %q", code)
	}
	// What the agent did is worth more than that the owner paused it too.
	var reported wire.ReportResult
	f.must(f.agent, wire.ActionReportCall, wire.ReportCall{Agent: "tester", SessionClaim: "s1", ToolCall: "never asked", Tool: "Bash", Args: call.Args, Cwd: f.project}, &reported)
	f.must(f.desk.Owner(), wire.ActionPauseSession, wire.PauseSession{Session: session}, nil)
	f.must(f.desk.Owner(), wire.ActionListSessions, wire.ListSessions{}, &list)
	if !strings.Contains(list.Sessions[0].Paused, "without asking") {
		t.Errorf("paused: %q, want what the agent did", list.Sessions[0].Paused)
	}
}
