package policy

import (
	"fmt"
	"strings"
)

// stepNames name the thirteen steps, in order (policy.md, section 2). The first step that decides, decides.
var stepNames = [...]string{
	1:  "fixed constraints",
	2:  "authority",
	3:  "plan mode",
	4:  "deny",
	5:  "must ask",
	6:  "Web Use grant",
	7:  "bypass mode",
	8:  "allow rule",
	9:  "scheduled memory",
	10: "safe read",
	11: "accept edits",
	12: "auto mode",
	13: "approval",
}

// CeilingReadOnly is the ceiling of a boxed read: no write root but a throw-away temp, no network, no secrets.
const CeilingReadOnly = "read-only"

// decision is one run of Decide.
type decision struct {
	in    Input
	f     *Facts
	mode  Mode
	plan  bool
	allow ruleView
	cover *coverage // computed once, by the first step that needs it

	denies restraint // from step 4; step 5 asks for what might match

	unseen bool // some arguments were not looked at as commands: there were too many
}

// answer is what one step says. An empty outcome passes on to the next step.
type answer struct {
	outcome Outcome
	reason  Reason
	sub     string
	rule    *SourcedRule
	ceiling string
	detail  string
}

// Decide answers for one call. It is pure: the same Input gives the same Verdict, whatever the order of rules; it does no
// I/O and keeps no state. An Input without facts is denied.
func Decide(in Input) Verdict {
	d := &decision{in: in, f: in.Facts, mode: in.Session.Mode.effective()}
	d.plan = in.Session.Plan || d.mode == ModePlan
	if d.f == nil {
		return Verdict{Outcome: Deny, Reason: ReasonIdentityMissing, Step: 2, Trace: notReached(1)}
	}
	d.allow = d.allowView()
	steps := [...]func() answer{
		1: d.stepFixed, 2: d.stepAuthority, 3: d.stepPlan, 4: d.stepDeny, 5: d.stepAsk, 6: d.stepSurface, 7: d.stepBypass,
		8: d.stepAllow, 9: d.stepScheduled, 10: d.stepRead, 11: d.stepEdits, 12: d.stepAuto, 13: d.stepApproval,
	}
	var v Verdict
	for n := 1; n < len(steps); n++ {
		a := steps[n]()
		line := TraceLine{Step: n, Name: stepNames[n], Answer: "pass", Detail: a.detail}
		if a.outcome == "" {
			v.Trace = append(v.Trace, line)
			continue
		}
		line.Answer = string(a.outcome)
		v.Outcome, v.Reason, v.Sub, v.Step, v.Ceiling = a.outcome, a.reason, a.sub, n, a.ceiling
		parts := []string{string(a.reason)}
		if a.sub != "" {
			parts = append(parts, a.sub)
		}
		if a.rule != nil {
			v.Rule, v.Source = a.rule.Rule.String(), a.rule.Source
			parts = append(parts, fmt.Sprintf("%s (%s)", v.Rule, sourceName(v.Source)))
		}
		if a.detail != "" {
			parts = append(parts, a.detail)
		}
		line.Detail = strings.Join(parts, ": ")
		v.Trace = append(v.Trace, line)
		v.Trace = append(v.Trace, notReached(n+1)...)
		break
	}
	return d.interactive(v)
}

func sourceName(s Source) string {
	if s == "" {
		return "rule"
	}
	return string(s)
}

func notReached(from int) []TraceLine {
	var out []TraceLine
	for n := from; n < len(stepNames); n++ {
		out = append(out, TraceLine{Step: n, Name: stepNames[n], Answer: "not reached"})
	}
	return out
}

// interactive turns an ask into a deny where nobody is expected to answer. The original reason stays in the trace.
func (d *decision) interactive(v Verdict) Verdict {
	if v.Outcome != Ask || d.in.Session.Interactive {
		return v
	}
	for i := range v.Trace {
		if v.Trace[i].Step == v.Step {
			v.Trace[i].Detail += "; nobody is expected to answer: " + string(ReasonNoninteractive)
			v.Trace[i].Answer = string(Deny)
		}
	}
	v.Outcome, v.Reason = Deny, ReasonNoninteractive
	return v
}
