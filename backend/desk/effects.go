package desk

import (
	"context"
	"slices"

	"countersign/backend/approval"
	"countersign/backend/policy"
	"countersign/backend/rules"
	"countersign/backend/wire"
)

// Limits of what a preview looks at.
const (
	maxRecorded   = 500 // recorded calls that are decided again
	maxEffects    = 50  // that are listed
	maxEffectText = 200 // bytes of a call's text
)

// effects decides the newest recorded calls that a rule would cover again, with it and without it, as their sessions stand
// now.
func (d *Desk) effects(ctx context.Context, n rules.NewRule, rule policy.SourcedRule) (checked int, out []wire.RuleEffect, err error) {
	recorded, err := d.calls.Recent(maxRecorded)
	if err != nil {
		return 0, nil, err
	}
	var inputs []policy.Input
	var calls []approval.Call
	for _, c := range recorded {
		if ctx.Err() != nil {
			return 0, nil, ctx.Err()
		}
		s, ok := d.session(c.Session)
		switch {
		case !ok, n.Source == policy.SourceSession && c.Session != n.Session, n.Source == policy.SourceProject && c.Project != n.Project:
			continue
		}
		st, err := d.standing(s)
		if err != nil {
			return 0, nil, err
		}
		in := d.input(s, st, d.examine(c.AgentTool, c.Args, c.Cwd, c.Roots, s.Surfaces))
		in.Boundary, in.OutsideRoots = c.Boundary, !inAny(d.platform, s.Roots, c.Cwd)
		inputs, calls = append(inputs, in), append(calls, c)
	}
	for _, change := range policy.Effects(inputs, rule) {
		if len(out) == maxEffects {
			break
		}
		c := calls[change.Call]
		text := shortened(policy.CallText(inputs[change.Call].Facts), maxEffectText)
		out = append(out, wire.RuleEffect{
			Call: c.ID, Agent: c.Agent, Tool: c.Tool, Text: text, Before: change.Before.Outcome, After: change.After.Outcome,
		})
	}
	slices.SortStableFunc(out, func(a, b wire.RuleEffect) int { return loosening(b) - loosening(a) })
	return len(inputs), out, nil
}

// loosening puts the calls first that a rule would let through.
func loosening(e wire.RuleEffect) int {
	if policy.Wider(e.Before, e.After) {
		return 1
	}
	return 0
}
