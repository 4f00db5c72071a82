package claude

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

// rewritten is the one tool whose command becomes the fixed line: the line is of the POSIX shell, and Claude reads the
// directory that shell ends in.
const rewritten = "Bash"

// preToolUse decides a call before it runs.
func (h *hook) preToolUse(ctx context.Context, e event) answer {
	call := h.admission(e)
	call.ToolCall = e.toolUse
	status, err := h.decide(ctx, call)
	if err != nil {
		return deny(e.name, h.failureWords(err))
	}
	return h.release(e, status)
}

// admission is what is proposed to the core about an event.
func (h *hook) admission(e event) wire.AdmitCall {
	// The question ends a little before the hook does, so that its end is the core's word.
	expires := int((h.options.Deadline - time.Minute).Seconds())
	return wire.AdmitCall{
		Agent: Name, SessionClaim: e.session, Execution: e.execution, Tool: e.tool, Args: e.input, Cwd: e.cwd,
		Interactive: !h.options.Absent, ExpiresInSeconds: max(expires, 1),
	}
}

// release turns a decided call into Claude's own words. Only what was recognised allows.
func (h *hook) release(e event, status wire.CallStatus) answer {
	switch {
	case status.State == "released" && !status.Here:
		return allow(nil, allowWords(status))
	case status.State == "allowed" && status.Here && e.tool == rewritten && validID(status.Call):
		input, err := e.withCommand(FixedLine(h.options.Binary, h.options.Home, status.Call))
		if err != nil {
			h.withdraw(status.Call, false)
			return deny(e.name, "Countersign could not rewrite this call ("+err.Error()+"), so it was not run.")
		}
		return allow(input, allowWords(status))
	case status.State == "allowed":
		// Allowed inside a boundary, but this tool cannot be brought there.
		h.withdraw(status.Call, false)
		return deny(e.name, "Countersign can run this only inside its boundary, and the tool "+shown(e.tool)+" cannot be brought there. It was not run. Use the Bash tool for commands.")
	}
	return deny(e.name, denialWords(status))
}

// permissionRequest answers Claude's own permission prompt. A rewritten command is answered from what was recorded for
// the id in it. For another tool the decision is found by what it is about, or made now.
func (h *hook) permissionRequest(ctx context.Context, e event) answer {
	if id, ours := h.fixedLineID(e); ours {
		result, err := h.permission(ctx, wire.PermissionCall{Agent: Name, SessionClaim: e.session, Execution: e.execution, Call: id, Cwd: e.cwd})
		switch {
		case err != nil:
			return deny(e.name, h.failureWords(err))
		case result.Outcome == wire.PermissionAllow:
			return grant()
		}
		return deny(e.name, permissionWords(result))
	}
	result, err := h.permission(ctx, wire.PermissionCall{
		Agent: Name, SessionClaim: e.session, Execution: e.execution, Tool: e.tool, Args: e.input, Cwd: e.cwd,
	})
	if err != nil {
		return deny(e.name, h.failureWords(err))
	}
	command := policy.IsCommandTool(policy.CanonicalTool(e.tool))
	switch {
	case result.Outcome == wire.PermissionAllow && !command:
		return grant()
	case result.Outcome == wire.PermissionAllow:
		// A command in its own words may run only if it was released to run so: not if it was allowed inside a boundary.
		return h.grantReleased(ctx, e, result)
	case result.Outcome != wire.PermissionUnknown:
		return deny(e.name, permissionWords(result))
	case command:
		// Claude takes no other command from here, so asking for this one would ask in vain.
		return deny(e.name, "Countersign did not see this command before Claude Code asked about it, so it was not run. Propose it again.")
	}
	call := h.admission(e)
	// There is no tool_use_id here. A number drawn once keeps this request apart from equal ones, also across a lost
	// connection: one answer allows one of them.
	if call.Ordinal, err = drawOrdinal(); err != nil {
		return deny(e.name, h.failureWords(err))
	}
	status, err := h.decide(ctx, call)
	if err != nil {
		return deny(e.name, h.failureWords(err))
	}
	if status.State == "released" && !status.Here {
		return grant()
	}
	if status.Allowed() {
		h.withdraw(status.Call, false)
		return deny(e.name, "Countersign can run this only inside its boundary, and Claude Code cannot be told so at this point. It was not run.")
	}
	return deny(e.name, denialWords(status))
}

// fixedLineID tells the call of a command that is exactly a fixed line of this very program and home.
func (h *hook) fixedLineID(e event) (string, bool) {
	if e.tool != rewritten || e.command == nil {
		return "", false
	}
	binary, home, id, ok := ParseFixedLine(e.command.Text)
	if !ok || binary != h.options.Binary || home != h.options.Home || !validID(id) {
		return "", false
	}
	return id, true
}

// permission asks the core for a recorded decision, as often as the first contact allows.
func (h *hook) permission(ctx context.Context, in wire.PermissionCall) (wire.PermissionResult, error) {
	var out wire.PermissionResult
	err := h.persist(ctx, wire.ActionPermissionCall, in, &out)
	return out, err
}

// persist asks for an action that may be repeated, over a connection that may break.
func (h *hook) persist(ctx context.Context, action string, in, out any) error {
	for try := newPatience(firstContact); ; {
		err := h.link.do(ctx, answerLimit, action, in, out)
		if err == nil {
			return nil
		}
		var unreachable *connectError
		if ctx.Err() != nil {
			return errWithdrawn
		}
		if !again(err) || asConnectError(err, &unreachable) || !try.wait(ctx) {
			return err
		}
	}
}

// grantReleased grants a command only when its call is released.
func (h *hook) grantReleased(ctx context.Context, e event, result wire.PermissionResult) answer {
	if result.Call == "" {
		return deny(e.name, permissionWords(wire.PermissionResult{}))
	}
	var status wire.CallStatus
	if err := h.persist(ctx, wire.ActionAwaitCall, wire.AwaitCall{Call: result.Call}, &status); err != nil {
		return deny(e.name, h.failureWords(err))
	}
	if status.Call == result.Call && status.State == "released" && !status.Here {
		return grant()
	}
	return deny(e.name, "Countersign allowed this command inside its boundary only, and what Claude Code is about to run is not the line that leads there. It was not run.")
}

// drawOrdinal draws a positive number.
func drawOrdinal() (int, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, err
	}
	return 1 + int(binary.BigEndian.Uint32(b[:])>>2), nil
}

// shown makes a tool's name fit for a sentence.
func shown(tool string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return '?'
		}
		return r
	}, tool)
}
