package claude

import (
	"context"
	"errors"

	"countersign/backend/wire"
)

// postToolUse tells the core what ran, to be compared with what was allowed. When they differ the core pauses the
// session; then the turn is stopped, and the model and the person are told.
func (h *hook) postToolUse(ctx context.Context, e event) answer {
	report := wire.ReportCall{
		Agent: Name, SessionClaim: e.session, Execution: e.execution, ToolCall: e.toolUse, Tool: e.tool, Args: e.input,
		Cwd: e.cwd, Failed: e.name == eventPostToolUseFailure,
	}
	if id, ours := h.fixedLineID(e); ours {
		report.Call = id
	}
	var result wire.ReportResult
	if err := h.persist(ctx, wire.ActionReportCall, report, &result); err != nil {
		return answer{SystemMessage: "Countersign could not check what ran: " + h.problem(err)}
	}
	if !result.Paused {
		return answer{}
	}
	return halt(e.name, pausedWords(result.Message))
}

// sessionEvents are the words of the wire for Claude's own.
var sessionEvents = map[string]string{
	eventSessionStart: wire.SessionStart, eventSessionEnd: wire.SessionEnd,
	eventUserPromptSubmit: wire.SessionPrompt, eventStop: wire.SessionStop,
}

// sessionEvent tells the core what the session does. It is a courtesy: a failure is shown where a person can see it,
// and stops nothing, since every call is asked about anyway.
func (h *hook) sessionEvent(ctx context.Context, e event) answer {
	ctx, cancel := context.WithTimeout(ctx, noticeLimit)
	defer cancel()
	in := wire.SessionEvent{
		Agent: Name, SessionClaim: e.session, Event: sessionEvents[e.name], Cwd: e.cwd, Execution: e.execution,
		Interactive: !h.options.Absent,
	}
	var out wire.SessionEventResult
	err := h.link.do(ctx, noticeLimit, wire.ActionSessionEvent, in, &out)
	var a answer
	switch {
	case err != nil && e.name == eventSessionStart:
		a.SystemMessage = "Countersign cannot be reached, so tools will be refused: " + h.problem(err)
	case err != nil:
		return answer{}
	case out.Paused:
		a.SystemMessage = pausedWords("")
	}
	if out.Context != "" && (e.name == eventSessionStart || e.name == eventUserPromptSubmit) {
		a.Specific = &specific{Event: e.name, AdditionalContext: out.Context}
	}
	return a
}

func asConnectError(err error, into **connectError) bool { return errors.As(err, into) }
