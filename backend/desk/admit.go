package desk

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/policy"
	"countersign/backend/sandbox"
	"countersign/backend/wire"
)

// Limits of an admission.
const (
	maxArgs          = 3 << 20 // bytes of a call's arguments
	maxExpirySeconds = 7 * 24 * 3600
	maxAwait         = 55 * time.Second
	maxCommand       = 127 << 10 // bytes of a command's text: what the kernel passes in one argument, less our own words
)

// admit decides a proposed call, stores it, and tells where it stands. The same admission key with the same proposal
// re-attaches to the stored call, also across a restart of the core.
func (d *Desk) admit(ctx context.Context, x *exchange, in wire.AdmitCall) (wire.CallStatus, error) {
	if len(in.Args) > maxArgs {
		return wire.CallStatus{}, &wire.Error{Code: "too_large", Args: map[string]string{"limit": strconv.Itoa(maxArgs) + " bytes"}}
	}
	if len(in.Args) == 0 {
		in.Args = json.RawMessage("{}")
	}
	if in.Tool == "" || len(in.Tool) > maxClaimBytes || len(in.Execution) > maxClaimBytes || len(in.ToolCall) > maxClaimBytes {
		return wire.CallStatus{}, &wire.Error{Code: "bad_arguments", Args: map[string]string{"problem": "tool must be given; tool, execution and tool_call have at most 256 bytes each"}}
	}
	s, err := d.sessionFor(x.caller, in.Agent, in.SessionClaim, in.Cwd, in.Interactive)
	if err != nil {
		return wire.CallStatus{}, err
	}
	return d.admitTo(ctx, x, s, in)
}

// admitTo is admit for a session that is known already.
func (d *Desk) admitTo(ctx context.Context, x *exchange, s Session, in wire.AdmitCall) (wire.CallStatus, error) {
	unlock := d.lockSession(s.ID)
	defer unlock()
	// Looked at once it is this call's turn: meanwhile the session may have been paused, or its mode changed.
	s, ok := d.session(s.ID)
	if !ok {
		return wire.CallStatus{}, unknownSession(s.ID)
	}
	if err := s.goesOn(); err != nil {
		return wire.CallStatus{}, err
	}

	proposed := capability.Digest(struct {
		Agent, Tool, Cwd string
		Args             json.RawMessage
	}{in.Agent, in.Tool, in.Cwd, in.Args})
	if proposed == "" {
		return wire.CallStatus{}, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": "args have no canonical form: a name stands twice, or text is not valid"}}
	}
	key := approval.Key(s.ID, in.Execution, in.ToolCall, proposed, in.Ordinal)
	if stored, ok, err := d.calls.Find(key); err != nil {
		return wire.CallStatus{}, err
	} else if ok {
		if stored.Proposed != proposed {
			return wire.CallStatus{}, &wire.Error{Code: "admission_mismatch", Args: map[string]string{"call": stored.ID}}
		}
		d.attach(x, stored)
		return d.settle(stored)
	}

	// Asked here too, so that nothing is looked up in vain.
	if err := d.store.View(d.refusePaused); err != nil {
		return wire.CallStatus{}, err
	}
	p, err := d.prepare(ctx, s, in)
	if err != nil {
		return wire.CallStatus{}, err
	}
	p.call.Key, p.call.Proposed = key, proposed
	verdict, err := d.decide(ctx, s, &p)
	if err != nil {
		return wire.CallStatus{}, err
	}
	if err := d.bindBoundary(ctx, s, &p, verdict); err != nil {
		return wire.CallStatus{}, err
	}
	p.call.Verdict = verdict
	p.call.Digest = binding(p.call)

	proposal := approval.Proposal{Call: p.call, Also: func(tx approval.Tx) error {
		if err := d.refusePaused(tx); err != nil {
			return err
		}
		return d.book.Used(tx, verdict)
	}}
	if verdict.Outcome == policy.Ask {
		q := d.question(s, p, verdict, in)
		proposal.Question = &q
		proposal.Call.Question = q.ID
	}
	admission, err := d.calls.Admit(proposal)
	if err != nil {
		return wire.CallStatus{}, err
	}
	d.publish(admission.Events)
	for _, e := range policy.Events(p.input, verdict) {
		d.log.Warn("security event", "event", e.Name, "session", e.Session, "tool", e.Tool, "source", e.Source, "level", e.Level, "reason", e.Reason)
		d.frame(wire.FrameSecurityEvent, e)
	}
	if err := d.countBlocks(s, verdict); err != nil {
		d.log.Error("count blocks", "session", s.ID, "error", err)
	}
	d.attach(x, admission.Call)
	return d.settle(admission.Call)
}

// bindBoundary computes the capability a command will run under and freezes it with the call. Where isolation cannot
// be shown, a command that was to run here is refused now, so that nobody is asked in vain.
func (d *Desk) bindBoundary(ctx context.Context, s Session, p *prepared, verdict policy.Verdict) error {
	if p.call.Script == "" || verdict.Outcome == policy.Deny {
		return nil
	}
	if len(p.call.Script) > maxCommand {
		return &wire.Error{Code: "too_large", Args: map[string]string{"limit": strconv.Itoa(maxCommand) + " bytes, the longest a command can be executed with"}}
	}
	if report := d.broker.Probe(ctx); report.Enforcement != capability.Enforced && !d.options.Config.RunUnavailable() {
		return unavailable(report)
	}
	request := d.broker.Request(s.Policy, p.call.Roots, p.call.Cwd)
	ceilings := []capability.Ceiling{capability.FullCeiling()}
	if verdict.Ceiling == policy.CeilingReadOnly || p.mode == policy.ModePlan {
		ceilings = append(ceilings, capability.ReadOnlyCeiling())
	}
	effective, err := capability.Intersect(request, ceilings...)
	if err != nil {
		return &wire.Error{Code: "bad_capability", Args: map[string]string{"problem": err.Error()}}
	}
	// What could not start is refused now, so that nobody is asked in vain.
	if err := d.broker.Check(effective); err != nil {
		return &wire.Error{Code: "bad_capability", Args: map[string]string{"problem": err.Error()}}
	}
	snapshot := effective.Snapshot()
	p.call.Capability = &snapshot
	p.call.Environment = sandbox.Environment(sandbox.EnvOptions{})
	return nil
}

// unavailable says which protection is missing and how to mend it.
func unavailable(r sandbox.Report) error {
	args := map[string]string{"backend": r.Backend}
	for _, p := range r.Protections {
		if !p.OK {
			args["protection"], args["detail"], args["hint"] = p.Name, p.Detail, p.Fix
			break
		}
	}
	return &wire.Error{Code: "sandbox_unavailable", Args: args}
}

// settle takes a freshly decided call as far as it goes without the client: an allowed call that the agent executes
// itself is released, with a decision record first.
func (d *Desk) settle(c approval.Call) (wire.CallStatus, error) {
	if c.State != approval.CallAllowed || c.Here {
		return d.status(c), nil
	}
	// Two clients may ask about one call: it is released, and recorded, once.
	d.releasing.Lock()
	defer d.releasing.Unlock()
	c, err := d.calls.Get(c.ID)
	if err != nil || c.State != approval.CallAllowed {
		return d.status(c), err
	}
	receipt := d.record(c, capability.RecordDecision)
	receipt.Extra = map[string]string{"outcome": string(policy.Allow), "reason": string(c.Verdict.Reason), "executed_by": c.Agent}
	if _, err := d.receipts.Append(receipt); err != nil {
		d.log.Error("decision record", "call", c.ID, "error", err)
		return wire.CallStatus{}, &wire.Error{Code: "receipt_failed", Args: map[string]string{"call": c.ID, "detail": err.Error()}}
	}
	released, events, err := d.calls.Release(c.ID)
	d.publish(events)
	if err != nil {
		return wire.CallStatus{}, err
	}
	return d.status(released), nil
}

// await waits until a call is no longer waiting, at most in.WaitMS, and tells where it stands. The wait lives in the
// core: a client that goes away and comes back loses nothing.
func (d *Desk) await(ctx context.Context, x *exchange, in wire.AwaitCall) (wire.CallStatus, error) {
	wait := min(time.Duration(in.WaitMS)*time.Millisecond, maxAwait)
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	if _, err := d.callOf(x, in.Call); err != nil {
		return wire.CallStatus{}, err
	}
	for {
		changed := d.changed(in.Call)
		c, err := d.callOf(x, in.Call)
		if err != nil {
			return wire.CallStatus{}, err
		}
		if c.State != approval.CallWaiting {
			return d.settle(c)
		}
		d.attach(x, c)
		select {
		case <-changed:
		case <-timer.C:
			return d.status(c), nil
		case <-ctx.Done():
			return wire.CallStatus{}, ctx.Err()
		}
	}
}

// callOf returns a call to a process of the agent that proposed it, or to the owner. To anybody else it does not exist.
func (d *Desk) callOf(x *exchange, id string) (approval.Call, error) {
	c, err := d.calls.Get(id)
	if err != nil {
		return approval.Call{}, err
	}
	if x.authority.Kind == policy.PrincipalOwner {
		return c, nil
	}
	// The nearest agent above the caller: one that runs below another has no part in the other's calls.
	if s, ok := d.session(c.Session); ok {
		if nearest, ok := d.sessionAbove(x.caller.Peer.Chain); ok && nearest.Root.PID == s.Root.PID && nearest.Root.Start == s.Root.Start {
			return c, nil
		}
	}
	return approval.Call{}, &wire.Error{Code: "unknown_call", Args: map[string]string{"call": id}}
}
