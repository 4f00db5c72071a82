package desk

import (
	"context"

	"countersign/backend/classify"
	"countersign/backend/policy"
)

// decide decides a prepared call. What takes long (gates, a classifier) is asked only where it can still change the answer;
// then the session and its rules are looked at again, because they may have changed meanwhile.
func (d *Desk) decide(ctx context.Context, s Session, p *prepared) (policy.Verdict, error) {
	verdict := policy.Decide(p.input)
	if verdict.Outcome != policy.Deny {
		if answers := d.askGates(ctx, s, *p); len(answers) > 0 {
			p.input.Gates = answers
			if err := d.refresh(s.ID, p); err != nil {
				return policy.Verdict{}, err
			}
			verdict = policy.Decide(p.input)
		}
	}
	if verdict.Outcome == policy.Classify {
		answer := d.classify(ctx, p)
		if err := d.refresh(s.ID, p); err != nil {
			return policy.Verdict{}, err
		}
		p.input.Classification = &answer
		verdict = policy.Decide(p.input)
	}
	return verdict, nil
}

// Classifier judges the calls of auto mode that nothing else decides.
type Classifier interface {
	Classify(ctx context.Context, call classify.Call) policy.Classification
}

// classify asks the classifier about a call. Without one, and whenever it fails, the call asks.
func (d *Desk) classify(ctx context.Context, p *prepared) policy.Classification {
	if d.options.Classifier == nil {
		return policy.Classification{Err: classify.CodeNoModel}
	}
	call := classify.NewCall(p.facts, p.call.Args, p.mode)
	call.Digest, call.PolicyVersion, call.RunsWorkspaceFile = p.call.Proposed, p.version, len(p.runs) > 0
	return d.options.Classifier.Classify(ctx, call)
}

// refresh brings what is decided under up to date: the session may have been paused, its mode or its rules changed.
func (d *Desk) refresh(session string, p *prepared) error {
	s, ok := d.session(session)
	if !ok {
		return unknownSession(session)
	}
	if err := s.goesOn(); err != nil {
		return err
	}
	st, err := d.standing(s)
	if err != nil {
		return err
	}
	p.mode, p.version = st.mode, st.Version
	p.input.Rules, p.input.BoxedReads, p.input.Surfaces = st.RuleSet, st.boxedReads, granted(s.Surfaces)
	p.input.Session.Mode, p.input.Session.Attended = st.mode, s.Attended
	return nil
}
