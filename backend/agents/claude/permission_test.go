package claude

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"countersign/backend/wire"
)

// request makes a PermissionRequest about a command.
func request(t *testing.T, command string) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"session_id": "s", "prompt_id": "p", "cwd": "/w", "hook_event_name": eventPermissionRequest, "tool_name": "Bash",
		"tool_input": map[string]string{"command": command},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const granted = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`

func TestPermissionForTheFixedLine(t *testing.T) {
	line := request(t, FixedLine("/opt/countersign", "/home/user/desk", callID))
	f := newFake(t, actions{wire.ActionPermissionCall: always(wire.PermissionResult{Outcome: wire.PermissionAllow, Call: callID})})
	want(t, run(t, f, line), granted)
	asked := f.inputs(wire.ActionPermissionCall)[0].(wire.PermissionCall)
	if asked.Call != callID || asked.Tool != "" || asked.Args != nil {
		t.Errorf("%+v", asked)
	}
	for _, result := range []wire.PermissionResult{{Outcome: wire.PermissionDeny, Message: "It expired."}, {Outcome: wire.PermissionUnknown}, {}} {
		f := newFake(t, actions{wire.ActionPermissionCall: always(result)})
		denied(t, run(t, f, line), result.Message)
	}
}

// Only the line of this very program and home is answered by its id.
func TestPermissionForACommandInItsOwnWords(t *testing.T) {
	lines := map[string]string{
		"a command":       "rm -rf x",
		"another program": FixedLine("/tmp/countersign", "/home/user/desk", callID),
		"another home":    FixedLine("/opt/countersign", "/tmp", callID),
		"no call id":      FixedLine("/opt/countersign", "/home/user/desk", "1"),
		"something added": FixedLine("/opt/countersign", "/home/user/desk", callID) + "; rm -rf x",
	}
	allow := always(wire.PermissionResult{Outcome: wire.PermissionAllow, Call: callID})
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, actions{wire.ActionPermissionCall: allow, wire.ActionAwaitCall: always(allowed)})
			denied(t, run(t, f, request(t, line)), "inside its boundary only")
			if asked := f.inputs(wire.ActionPermissionCall)[0].(wire.PermissionCall); asked.Call != "" || asked.Tool != "Bash" {
				t.Errorf("%+v", asked)
			}
			f = newFake(t, actions{wire.ActionPermissionCall: allow, wire.ActionAwaitCall: always(released)})
			want(t, run(t, f, request(t, line)), granted)
			f = newFake(t, actions{wire.ActionPermissionCall: always(wire.PermissionResult{Outcome: wire.PermissionUnknown})})
			denied(t, run(t, f, request(t, line)), "Propose it again")
			f = newFake(t, actions{wire.ActionPermissionCall: always(wire.PermissionResult{Outcome: wire.PermissionAllow})})
			denied(t, run(t, f, request(t, line)))
		})
	}
}

func TestPermissionForAnotherTool(t *testing.T) {
	event := fixture(t, "PermissionRequest.Write")
	f := newFake(t, actions{wire.ActionPermissionCall: always(wire.PermissionResult{Outcome: wire.PermissionAllow, Call: callID})})
	want(t, run(t, f, event), granted)
	f = newFake(t, actions{wire.ActionPermissionCall: always(wire.PermissionResult{Outcome: wire.PermissionDeny, Message: "no"})})
	want(t, run(t, f, event), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`)
}

// What was never decided is decided now, each request by itself: one answer allows one of two equal ones.
func TestPermissionAdmitsWhatIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unknown := always(wire.PermissionResult{Outcome: wire.PermissionUnknown})
		event := fixture(t, "PermissionRequest.Write")
		f := newFake(t, actions{
			wire.ActionPermissionCall: unknown, wire.ActionAdmitCall: always(waiting),
			wire.ActionAwaitCall: sequence(broken, always(released)),
		})
		want(t, run(t, f, event), granted)
		want(t, run(t, f, event), granted)
		in := f.inputs(wire.ActionAdmitCall)
		if len(in) != 3 {
			t.Fatalf("%d admissions", len(in))
		}
		first, again, second := in[0].(wire.AdmitCall), in[1].(wire.AdmitCall), in[2].(wire.AdmitCall)
		if first.ToolCall != "" || first.Ordinal <= 0 || first.Ordinal != again.Ordinal || first.Ordinal == second.Ordinal {
			t.Errorf("ordinals %d, %d, %d", first.Ordinal, again.Ordinal, second.Ordinal)
		}
		for _, status := range []wire.CallStatus{allowed, {Call: callID, State: "allowed"}, {Call: callID, State: "finished", Outcome: "refused"}, {}} {
			f := newFake(t, actions{wire.ActionPermissionCall: unknown, wire.ActionAdmitCall: always(status), wire.ActionCancelCall: always(status)})
			denied(t, run(t, f, event))
		}
	})
}

func TestReports(t *testing.T) {
	ran := func(event, command string) []byte {
		data, err := json.Marshal(map[string]any{
			"session_id": "s", "prompt_id": "p", "cwd": "/w", "hook_event_name": event, "tool_name": "Bash",
			"tool_input": map[string]string{"command": command}, "tool_use_id": "t", "tool_response": map[string]string{"stdout": "a\x00b"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	line := FixedLine("/opt/countersign", "/home/user/desk", callID)
	for _, tc := range []struct {
		name, event, command, call string
	}{
		{"the line that was redeemed", eventPostToolUse, line, callID},
		{"the line, failed", eventPostToolUseFailure, line, callID},
		{"something else", eventPostToolUse, "echo foreign", ""},
		{"the line of another program", eventPostToolUse, FixedLine("/tmp/countersign", "/home/user/desk", callID), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFake(t, actions{wire.ActionReportCall: always(wire.ReportResult{})})
			want(t, run(t, f, ran(tc.event, tc.command)), "{}")
			got := f.inputs(wire.ActionReportCall)[0].(wire.ReportCall)
			if got.Call != tc.call || got.ToolCall != "t" || got.Tool != "Bash" || got.Failed != (tc.event == eventPostToolUseFailure) || len(got.Args) == 0 {
				t.Errorf("%+v", got)
			}
		})
	}
	paused := actions{wire.ActionReportCall: always(wire.ReportResult{Paused: true, Message: "other arguments ran."})}
	text := "Countersign paused this session: other arguments ran. Everything further is refused until the owner resumes it at the desk."
	want(t, run(t, newFake(t, paused), ran(eventPostToolUse, "x")),
		`{"continue":false,"stopReason":"`+text+`","systemMessage":"`+text+`","decision":"block","reason":"`+text+`"}`)
	want(t, run(t, newFake(t, paused), ran(eventPostToolUseFailure, "x")),
		`{"continue":false,"stopReason":"`+text+`","systemMessage":"`+text+`","hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"`+text+`"}}`)
	failed := newFake(t, actions{wire.ActionReportCall: refuse("internal_error")})
	want(t, run(t, failed, ran(eventPostToolUse, "x")), `{"systemMessage":"Countersign could not check what ran: the desk failed; its log says why."}`)
}

func TestSessionEvents(t *testing.T) {
	for event, word := range map[string]string{"SessionStart": "start", "SessionEnd": "end", "UserPromptSubmit": "prompt", "Stop": "stop"} {
		f := newFake(t, actions{wire.ActionSessionEvent: always(wire.SessionEventResult{Session: "x", Context: "Mode: ask."})})
		got := run(t, f, fixture(t, event))
		in := f.inputs(wire.ActionSessionEvent)[0].(wire.SessionEvent)
		if in.Event != word || in.Agent != "claude" || in.SessionClaim == "" || in.Cwd != "/home/user/project" {
			t.Errorf("%s: %+v", event, in)
		}
		switch event {
		case "SessionStart", "UserPromptSubmit":
			want(t, got, `{"hookSpecificOutput":{"hookEventName":"`+event+`","additionalContext":"Mode: ask."}}`)
		default:
			want(t, got, "{}")
		}
	}
	gone := func(o *HookOptions) {
		o.Connect = func(context.Context) (Desk, error) { return nil, wire.ErrNoCore }
	}
	want(t, run(t, newFake(t, nil), fixture(t, "SessionStart"), gone),
		`{"systemMessage":"Countersign cannot be reached, so tools will be refused: no core is running. To mend it: open Countersign, or run COUNTERSIGN_HOME=/home/user/desk /opt/countersign serve, and propose the call again."}`)
	want(t, run(t, newFake(t, nil), fixture(t, "Stop"), gone), "{}")
	f := newFake(t, actions{wire.ActionSessionEvent: always(wire.SessionEventResult{Paused: true})})
	want(t, run(t, f, fixture(t, "UserPromptSubmit")),
		`{"systemMessage":"Countersign paused this session. Everything further is refused until the owner resumes it at the desk."}`)
}

// A skill's own shell lines are refused without asking anybody: the event takes nothing but a refusal.
func TestSkillShellIsRefused(t *testing.T) {
	f := newFake(t, nil)
	want(t, run(t, f, fixture(t, "PreSkillShellCommand")),
		`{"hookSpecificOutput":{"hookEventName":"PreSkillShellCommand","permissionDecision":"deny","permissionDecisionReason":"`+skillShellWords+`"}}`)
	if f.dialed != 0 {
		t.Error("the core was dialed")
	}
}
