package desk

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/sandbox"
	"countersign/backend/winlock"
	"countersign/backend/wire"
)

// Limits of an admission.
const (
	maxArgs          = 3 << 20 // bytes of a call's arguments
	maxExpirySeconds = 7 * 24 * 3600
	maxAwait         = 55 * time.Second
	maxCommand       = 127 << 10 // bytes of a command's text: what the kernel passes in one argument, less our own words
)

// prepared is a proposed call with everything that was looked up about it, before it is decided.
type prepared struct {
	call      approval.Call
	facts     *policy.Facts
	input     policy.Input
	snapshots []winlock.Snapshot
	runs      []runFile
}

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
	verdict := policy.Decide(p.input)
	if verdict.Outcome == policy.Classify {
		// No classifier is configured in this version: step 12 fails closed.
		p.input.Classification = &policy.Classification{Err: "no classifier is configured"}
		verdict = policy.Decide(p.input)
	}
	if err := d.bindBoundary(ctx, s, &p, verdict); err != nil {
		return wire.CallStatus{}, err
	}
	p.call.Verdict = verdict
	p.call.Digest = binding(p.call)

	proposal := approval.Proposal{Call: p.call, Also: d.refusePaused}
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
	d.attach(x, admission.Call)
	return d.settle(admission.Call)
}

// prepare freezes what the call is and looks up what deciding needs.
func (d *Desk) prepare(ctx context.Context, s Session, in wire.AdmitCall) (prepared, error) {
	cwd := in.Cwd
	if cwd == "" {
		cwd = s.Roots[0]
	}
	if !filepath.IsAbs(cwd) {
		return prepared{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": cwd, "problem": "not an absolute path"}}
	}
	root, err := pathid.OpenRoot(d.fsys, cwd)
	if err != nil {
		return prepared{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": cwd, "problem": err.Error()}}
	}
	facts := policy.Examine(policy.Call{
		Tool: in.Tool, Args: in.Args, Cwd: root.Path, Roots: s.Roots, Home: d.options.OwnerHome,
		Platform: d.platform, Own: d.own,
	}, d.fsys)
	rules, err := d.rulesFor(s)
	if err != nil {
		return prepared{}, err
	}

	script, here, err := runsHere(facts, in)
	if err != nil {
		return prepared{}, err
	}
	// Where the payload names its own directory, that is where it was judged and where it must run.
	if script != "" && facts.Dir() != root.Path {
		if root, err = pathid.OpenRoot(d.fsys, facts.Dir()); err != nil {
			return prepared{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": facts.Dir(), "problem": err.Error()}}
		}
	}
	outside := !inAny(d.platform, s.Roots, root.Path)
	p := prepared{facts: facts}
	boundary := policy.BoundaryAny
	// A command counts as enforced only where the boundary was shown: the owner's override to run without it is no
	// boundary, and what is allowed because of one does not cover it. Start looks again (sandbox.Spec.Bounded).
	if here && (script == "" || d.broker.Probe(ctx).Enforcement == capability.Enforced) {
		boundary = policy.BoundaryEnforced
	}
	p.input = policy.Input{
		Facts:     facts,
		Authority: policy.AgentAuthority(s.Agent, s.ID),
		Session:   policy.Session{ID: s.ID, Mode: s.Mode, Interactive: d.options.Config.Approval.Interactive && s.Interactive && in.Interactive, Attended: s.Attended},
		Rules:     rules, Boundary: boundary, BoxedReads: d.options.Config.BoxedReads(), OutsideRoots: outside,
	}
	if _, ours := fileTools[facts.Tool()]; ours && here {
		if p.snapshots, err = takeSnapshots(facts, s.Roots); err != nil {
			return prepared{}, err
		}
	}
	p.runs = runFiles(d.platform, d.fsys, facts, root.Path, s.Roots)
	preconditions, err := json.Marshal(preconditions{Files: p.snapshots, Runs: p.runs})
	if err != nil {
		return prepared{}, err
	}
	// A command of a directory outside the roots always asks; when it is allowed, it is for that directory too, as the
	// card shows.
	roots := s.Roots
	if outside {
		roots = append(slices.Clone(s.Roots), root.Path)
	}
	p.call = approval.Call{
		ID: newID(), Session: s.ID, Project: s.Project, Execution: in.Execution, ToolCall: in.ToolCall,
		Principal: p.input.Authority, Agent: s.Agent, Tool: facts.Tool(), AgentTool: in.Tool, Args: in.Args,
		Cwd: root.Path, CwdIdentity: root.Identity, Roots: roots, Here: here, Boundary: boundary, Script: script,
		Preconditions: preconditions, Interactive: p.input.Session.Interactive, CreatedAt: d.clock.Now(),
	}
	return p, nil
}

// runsHere says whether a call is executed by the desk or the broker, and for a command the text that is given to bash. A
// command runs here in exactly the words that were judged, or not at all.
func runsHere(facts *policy.Facts, in wire.AdmitCall) (script string, here bool, err error) {
	if !policy.IsCommandTool(facts.Tool()) {
		here = in.Runs == wire.RunsDesk
		if _, ours := fileTools[facts.Tool()]; here && !ours {
			return "", false, &wire.Error{Code: "not_run_here", Args: map[string]string{"tool": in.Tool}}
		}
		return "", here, nil
	}
	script, ok := facts.Script()
	if facts.Tool() == policy.ToolBash || in.Runs == wire.RunsDesk {
		if !ok {
			return "", false, &wire.Error{Code: "command_unclear", Args: map[string]string{"tool": in.Tool}}
		}
		return script, true, nil
	}
	return "", false, nil // another shell's text: there is none here, the agent executes it
}

// takeSnapshots records the state of the file that one of the desk's own tools is to read or write. It is part of what
// is approved and never refreshed.
func takeSnapshots(facts *policy.Facts, roots []string) ([]winlock.Snapshot, error) {
	targets := facts.Writes()
	if len(targets) == 0 {
		targets = facts.Reads()
	}
	var list []winlock.Snapshot
	for _, target := range targets {
		look := winlock.Take
		if len(facts.Writes()) == 0 {
			look = winlock.Look // a read binds the place, not the content
		}
		snap, err := look(target, rootsFor(target, roots))
		if err != nil {
			return nil, &wire.Error{Code: "bad_target", Args: map[string]string{"path": target, "problem": err.Error()}}
		}
		list = append(list, snap)
	}
	return list, nil
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
	if verdict.Ceiling == string(capability.ReadOnly) || s.Mode == policy.ModePlan {
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
