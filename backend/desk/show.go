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
	args, omitted := shownArgs(c.Args)
	return wire.Call{
		ID: c.ID, Session: c.Session, Project: c.Project, Execution: c.Execution, ToolCall: c.ToolCall, Agent: c.Agent,
		Tool: c.Tool, AgentTool: c.AgentTool, Args: args, Omitted: omitted, Cwd: c.Cwd, Boundary: c.Boundary, Digest: c.Digest,
		State: string(c.State), Outcome: string(c.Outcome), Verdict: c.Verdict, Question: c.Question, Comment: c.Comment,
		Answerer: c.Answerer, CreatedAt: c.CreatedAt, DecidedAt: c.DecidedAt, StartedAt: c.StartedAt, EndedAt: c.EndedAt,
		Exit: c.Exit, Signal: c.Signal, Directory: c.Directory, Receipts: c.Receipts, Failure: c.Failure,
	}
}

// wireSession is a session as it is shown.
func (d *Desk) wireSession(s Session) wire.Session {
	return wire.Session{
		ID: s.ID, Agent: s.Agent, Claim: s.Claim, Root: s.Root, Verified: s.Verified, Roots: s.Roots, Project: s.Project,
		Mode: d.mode(s), ModeVersion: s.ModeVersion, AutoPaused: s.AutoBlocks >= maxAutoBlocks, Sandbox: string(s.Policy), Interactive: s.Interactive, Attended: s.Attended,
		Paused: s.Paused, StartedAt: s.StartedAt, EndedAt: s.EndedAt,
	}
}

// Limits of a call's arguments as they are shown, in bytes. A command has its own place on the card and is never cut.
const (
	maxShownArgs = 32 << 10
	maxShownArg  = 4 << 10 // of one argument, where all together are too long
)

// shownArgs returns the arguments that are shown and, beside them, what is left out for its length: name to bytes, "" for
// all of them. It stands beside because anything inside the arguments could have been put there by the agent.
func shownArgs(args json.RawMessage) (shown json.RawMessage, omitted map[string]int) {
	if len(args) <= maxShownArgs {
		return args, nil
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) == nil {
		omitted = map[string]int{}
		for name, value := range all {
			if len(value) > maxShownArg && len(name) <= maxShownArg {
				omitted[name] = len(value)
				delete(all, name)
			}
		}
		if short, err := json.Marshal(all); err == nil && len(short) <= maxShownArgs && len(omitted) <= maxShownArgs/maxShownArg {
			return short, omitted
		}
	}
	return json.RawMessage("{}"), map[string]int{"": len(args)}
}
