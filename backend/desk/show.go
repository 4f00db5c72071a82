package desk

import (
	"encoding/json"

	"countersign/backend/approval"
	"countersign/backend/wire"
)

// wireQuestion is a question as it is shown.
func wireQuestion(q approval.Question) wire.Question {
	out := wire.Question{
		ID: q.ID, Version: q.Version, Kind: string(q.Kind), State: string(q.State), Session: q.Session, Execution: q.Execution,
		Call: q.Call, Agent: q.Agent, Tool: q.Tool, Prompt: q.Prompt, Detail: q.Detail, Risk: q.Risk, Reason: q.Reason,
		Offers: []wire.Offer{}, CreatedAt: q.CreatedAt, ExpiresAt: q.ExpiresAt,
		HoldUntil: q.HoldUntil, ShownAt: q.ShownAt, Outcome: q.Outcome, Offer: q.Offer,
		Comment: q.Comment, Answerer: q.Answerer, ClosedAt: q.ClosedAt,
	}
	for _, o := range q.Offers {
		out.Offers = append(out.Offers, wire.Offer{Number: o.Number, Scope: string(o.Scope), Rules: o.Rules, Boundary: o.Boundary})
	}
	return out
}

// wireCall is a call as it is shown; the environment frozen with it stays in the core.
func wireCall(c approval.Call) wire.Call {
	return wire.Call{
		ID: c.ID, Session: c.Session, Project: c.Project, Execution: c.Execution, ToolCall: c.ToolCall, Agent: c.Agent,
		Tool: c.Tool, AgentTool: c.AgentTool, Args: shownArgs(c.Args), Cwd: c.Cwd, Boundary: c.Boundary, Digest: c.Digest,
		State: string(c.State), Outcome: string(c.Outcome), Verdict: c.Verdict, Question: c.Question, Comment: c.Comment,
		Answerer: c.Answerer, CreatedAt: c.CreatedAt, DecidedAt: c.DecidedAt, StartedAt: c.StartedAt, EndedAt: c.EndedAt,
		Exit: c.Exit, Signal: c.Signal, Directory: c.Directory, Receipts: c.Receipts, Failure: c.Failure,
	}
}

// wireSession is a session as it is shown.
func wireSession(s Session) wire.Session {
	return wire.Session{
		ID: s.ID, Agent: s.Agent, Claim: s.Claim, Root: s.Root, Verified: s.Verified, Roots: s.Roots, Project: s.Project,
		Mode: s.Mode, ModeVersion: s.ModeVersion, Sandbox: string(s.Policy), Interactive: s.Interactive, Attended: s.Attended,
		Paused: s.Paused, StartedAt: s.StartedAt, EndedAt: s.EndedAt,
	}
}

// Limits of a call's arguments as they are shown, in bytes. A command has its own place on the card and is never cut, and
// what a file would become is shown as its difference; other arguments that are longer are left out, and the card says how
// long they are.
const (
	maxShownArgs = 16 << 10
	maxShownArg  = 2 << 10 // of one argument, where all together are too long
)

func shownArgs(args json.RawMessage) json.RawMessage {
	if len(args) <= maxShownArgs {
		return args
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) == nil {
		for name, value := range all {
			if len(value) > maxShownArg {
				all[name] = omitted(value)
			}
		}
		if short, err := json.Marshal(all); err == nil && len(short) <= maxShownArgs {
			return short
		}
	}
	return omitted(args)
}

// omitted stands for a value that is not shown.
func omitted(value json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"omitted_bytes":` + itoa(len(value)) + `}`)
}
