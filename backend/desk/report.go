package desk

import (
	"context"
	"encoding/json"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/wire"
)

// maxRecent is how many of a session's newest calls are looked at to recognise one that the agent gave no id.
const maxRecent = 1000

// permission answers an agent's own permission prompt from what was decided already: for a rewritten command by its
// id, for a released call by what it says. What was not decided is unknown: the client admits it as a call.
func (d *Desk) permission(_ context.Context, x *exchange, in wire.PermissionCall) (wire.PermissionResult, error) {
	if in.Call != "" {
		c, err := d.callOf(x, in.Call)
		if err != nil {
			return wire.PermissionResult{}, err
		}
		if s, ok := d.session(c.Session); !ok || s.goesOn() != nil {
			return wire.PermissionResult{Outcome: wire.PermissionDeny, Call: c.ID, Message: "this session is paused at the desk"}, nil
		}
		// Only a call that is still to be redeemed: its id is single use, and the prompt comes before it runs.
		if c.State == approval.CallAllowed && c.Here {
			return wire.PermissionResult{Outcome: wire.PermissionAllow, Call: c.ID}, nil
		}
		return wire.PermissionResult{Outcome: wire.PermissionDeny, Call: c.ID, Message: modelWords(c)}, nil
	}
	s, err := d.sessionFor(x.caller, in.Agent, in.SessionClaim, in.Cwd, true)
	if err != nil {
		return wire.PermissionResult{}, err
	}
	if s.Paused != "" {
		return wire.PermissionResult{Outcome: wire.PermissionDeny, Message: pausedWords(s.Paused)}, nil
	}
	recent, err := d.calls.Calls(s.ID, maxRecent)
	if err != nil {
		return wire.PermissionResult{}, err
	}
	for _, c := range recent {
		if c.State == approval.CallReleased && c.Execution == in.Execution && c.AgentTool == in.Tool && sameArgs(c.Args, in.Args) && d.grant(c.ID) {
			return wire.PermissionResult{Outcome: wire.PermissionAllow, Call: c.ID}, nil
		}
	}
	return wire.PermissionResult{Outcome: wire.PermissionUnknown}, nil
}

// grant hands a released call out to the agent's own prompt, once: an equal call is another one.
func (d *Desk) grant(call string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.granted[call] {
		return false
	}
	d.granted[call] = true
	return true
}

func sameArgs(a, b json.RawMessage) bool {
	digest := capability.Digest(a)
	return digest != "" && digest == capability.Digest(b)
}

// report takes an agent's word that a tool ran, and compares it with what was decided. A call that ran without having
// been decided, or other than it was, means that the gate is not live: the session is paused and the owner told.
func (d *Desk) report(_ context.Context, x *exchange, in wire.ReportCall) (wire.ReportResult, error) {
	s, err := d.sessionFor(x.caller, in.Agent, in.SessionClaim, in.Cwd, true)
	if err != nil {
		return wire.ReportResult{}, err
	}
	c, err := d.reported(s, in)
	if err != nil {
		return wire.ReportResult{}, err
	}
	switch {
	case c == nil:
		return d.pause(s, "the agent ran "+in.Tool+" without asking: its gate is not live")
	case c.AgentTool != in.Tool:
		return d.pause(s, "the agent ran "+in.Tool+" where "+c.AgentTool+" was decided")
	case c.Here:
		if in.Call != c.ID {
			return d.pause(s, "the agent ran something else than the call that was to run here: another hook may have replaced it")
		}
	case c.State == approval.CallFinished && c.Outcome != approval.OutcomeReported && c.Outcome != approval.OutcomeUnreported:
		return d.pause(s, "the agent ran "+in.Tool+" although the call had ended as "+string(c.Outcome))
	case !sameArgs(c.Args, in.Args):
		return d.pause(s, "the agent ran "+in.Tool+" with other arguments than were decided: another hook may have replaced them")
	case c.State == approval.CallReleased:
		_, events, err := d.calls.Finish(c.ID, approval.Finish{Outcome: approval.OutcomeReported})
		d.publish(events)
		return wire.ReportResult{}, err
	}
	return wire.ReportResult{}, nil
}

// reported finds the call that a report is about: by the agent's own id, however long ago it was admitted, else among
// the newest by the id in the line that ran or by what it says. nil means that there is none.
func (d *Desk) reported(s Session, in wire.ReportCall) (*approval.Call, error) {
	if in.ToolCall != "" {
		c, ok, err := d.calls.Find(approval.Key(s.ID, in.Execution, in.ToolCall, "", 0))
		if err != nil || ok {
			return &c, err
		}
	}
	recent, err := d.calls.Calls(s.ID, maxRecent)
	if err != nil {
		return nil, err
	}
	return recognise(recent, in), nil
}

func recognise(recent []approval.Call, in wire.ReportCall) *approval.Call {
	for i, c := range recent {
		if in.ToolCall != "" && c.ToolCall == in.ToolCall || in.ToolCall == "" && in.Call != "" && c.ID == in.Call {
			return &recent[i]
		}
	}
	for i, c := range recent {
		if c.ToolCall == "" && c.Execution == in.Execution && (c.ID == in.Call || in.Call == "" && c.AgentTool == in.Tool && sameArgs(c.Args, in.Args)) {
			return &recent[i]
		}
	}
	return nil
}

// pause refuses everything further from a session until the owner resumes it.
func (d *Desk) pause(s Session, why string) (wire.ReportResult, error) {
	d.log.Warn("session paused", "session", s.ID, "agent", s.Agent, "why", why)
	err := d.setPaused(s, why)
	return wire.ReportResult{Paused: true, Message: "Countersign paused this session: " + why + ". The owner can resume it at the desk."}, err
}

// sessionEvent notes the beginning and end of an agent's session and of its turns.
func (d *Desk) sessionEvent(_ context.Context, x *exchange, in wire.SessionEvent) (wire.SessionEventResult, error) {
	s, err := d.sessionFor(x.caller, in.Agent, in.SessionClaim, in.Cwd, true)
	if err != nil {
		return wire.SessionEventResult{}, err
	}
	out := wire.SessionEventResult{Session: s.ID, Paused: s.Paused != ""}
	switch in.Event {
	case wire.SessionStart, wire.SessionPrompt:
		out.Context = "Countersign permission mode: " + string(d.mode(s)) + "."
	case wire.SessionEnd:
		err = d.endSession(s.ID)
	case wire.SessionStop:
		err = d.turnEnded(s)
	default:
		err = &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": "event must be start, prompt, stop or end"}}
	}
	return out, err
}

// turnEnded closes the released calls of a turn that were never reported.
func (d *Desk) turnEnded(s Session) error {
	recent, err := d.calls.Calls(s.ID, maxRecent)
	if err != nil {
		return err
	}
	for _, c := range recent {
		if c.State != approval.CallReleased {
			continue
		}
		_, events, err := d.calls.Finish(c.ID, approval.Finish{Outcome: approval.OutcomeUnreported})
		d.publish(events)
		if err != nil {
			return err
		}
	}
	return nil
}

// cancel ends a call that was not run, and logs when it cannot.
func (d *Desk) cancel(id string, reason approval.CallOutcome) {
	_, events, err := d.calls.Cancel(id, reason)
	d.publish(events)
	if err != nil {
		d.log.Error("cancel call", "call", id, "error", err)
	}
}

// cancelCall ends a waiting or unredeemed call for the client that proposed it.
func (d *Desk) cancelCall(_ context.Context, x *exchange, in wire.CancelCall) (wire.CallStatus, error) {
	if _, err := d.callOf(x, in.Call); err != nil {
		return wire.CallStatus{}, err
	}
	reason := approval.OutcomeCancelled
	if in.AnsweredInAgent {
		reason = approval.OutcomeAnsweredInAgent
	}
	c, events, err := d.calls.Cancel(in.Call, reason)
	d.publish(events)
	if err != nil {
		return wire.CallStatus{}, err
	}
	return d.status(c), nil
}
