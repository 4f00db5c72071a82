package desk

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/winlock"
	"countersign/backend/wire"
)

// prepared is a proposed call with everything that was looked up about it, before it is decided.
type prepared struct {
	call      approval.Call
	facts     *policy.Facts
	mode      policy.Mode
	once      bool   // the administrator lets no rule be saved, so none is offered
	version   string // of the rules it is decided by
	input     policy.Input
	snapshots []winlock.Snapshot
	runs      []runFile
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
	facts := d.examine(in.Tool, in.Args, root.Path, s.Roots, s.Surfaces)
	st, err := d.standing(s)
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
	p := prepared{facts: facts, mode: st.mode, version: st.Version}
	boundary := policy.BoundaryAny
	// A command counts as enforced only where the boundary was shown: the owner's override to run without it is no
	// boundary, and what is allowed because of one does not cover it. Start looks again (sandbox.Spec.Bounded).
	if here && (script == "" || d.broker.Probe(ctx).Enforcement == capability.Enforced) {
		boundary = policy.BoundaryEnforced
	}
	if policy.IsCommandTool(facts.Tool()) && boundary != policy.BoundaryEnforced && st.Constraints.SandboxRequired {
		return prepared{}, &wire.Error{Code: "managed_sandbox", Args: map[string]string{"tool": in.Tool}}
	}
	p.once = st.Constraints.NoSavedRules || st.Constraints.ManagedAllowOnly
	p.input = d.input(s, st, facts)
	p.input.Boundary, p.input.OutsideRoots = boundary, outside
	p.input.ToolAsks = shortened(in.ToolAsks, maxClaimBytes)
	p.input.Session.Interactive = d.options.Config.Approval.Interactive && s.Interactive && in.Interactive
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

// examine looks at one call as it was sent. Which surface a browser tool acts on is what was registered for it, never what
// the call says.
func (d *Desk) examine(tool string, args json.RawMessage, cwd string, roots []string, surfaces []Surface) *policy.Facts {
	return policy.Examine(policy.Call{
		Tool: tool, Args: args, Cwd: cwd, Roots: roots, Home: d.options.OwnerHome, Platform: d.platform, Own: d.own,
		Surface: surfaceOf(tool, surfaces),
	}, d.fsys)
}

// input is what deciding about facts of a session begins with: somebody is there to be asked, and nothing holds the call.
func (d *Desk) input(s Session, st standing, facts *policy.Facts) policy.Input {
	return policy.Input{
		Facts: facts, Authority: policy.AgentAuthority(s.Agent, s.ID), Rules: st.RuleSet, BoxedReads: st.boxedReads,
		Session:  policy.Session{ID: s.ID, Mode: st.mode, Interactive: true, Attended: s.Attended},
		Boundary: policy.BoundaryAny, Surfaces: granted(s.Surfaces),
	}
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
