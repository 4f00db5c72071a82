package policy

import "countersign/backend/pathid"

// The codes of findings.
const (
	LintUnreachable    = "unreachable"     // a deny or an ask rule stops everything that this ask or allow rule is about
	LintCoveredByDeny  = "covered_by_deny" // a deny rule refuses everything that this allow rule would allow
	LintCovered        = "covered"         // a wider rule of the same list does all that this one does
	LintDuplicate      = "duplicate"       // the same rule stands in the same list already
	LintDangerousAllow = "dangerous_allow" // an allow rule that gives away more than one can oversee; Args["why"]
	LintNeverMatches   = "never_matches"   // as it is written, it can hardly match any call; Args["why"]
	LintExampleFails   = "example_fails"   // Args["example"] is not what the rule does; Args["expected"]
)

// Finding is something about one rule of a set that its owner will want to know. It changes nothing.
type Finding struct {
	Code  string            `json:"code"`
	Rule  SourcedRule       `json:"rule"`
	Other *SourcedRule      `json:"other,omitempty"` // the rule that makes it so; nil where there is none
	Args  map[string]string `json:"args,omitempty"`
}

// Key names the sentence for a finding: its code, and where there are several causes the cause.
func (f Finding) Key() string {
	switch f.Code {
	case LintDangerousAllow, LintNeverMatches:
		return f.Code + "." + f.Args["why"]
	case LintExampleFails:
		return f.Code + "." + f.Args["expected"]
	}
	return f.Code
}

// Lint looks through the rules that apply to one decision, in their order. It is pure.
//
// It is careful rather than thorough: a rule that it calls unreachable, covered or a duplicate can be taken out and no call
// is decided otherwise (the last of two that say the same is the one it names). A rule that it says nothing about may still
// be superfluous. A rule of never_matches is one whose form is most likely a mistake. An allow rule of a repository that
// is not trusted does nothing, and nothing is said about it.
func Lint(set RuleSet, at ExamplePlace) []Finding {
	at = at.orMadeUp()
	l := newLinter(set.Rules, at)
	var out []Finding
	for i := range set.Rules {
		r := &set.Rules[i]
		if r.Rule.c == nil || r.idle() {
			continue
		}
		find := func(code string, other *SourcedRule, args map[string]string) {
			f := Finding{Code: code, Rule: *r, Args: args}
			if other != nil {
				o := *other
				f.Other = &o
			}
			out = append(out, f)
		}
		if code, other := l.superfluous(i); code != "" {
			find(code, other, nil)
		}
		if why := dangerousAllow(r, at); why != "" {
			find(LintDangerousAllow, nil, map[string]string{"why": why})
		}
		if why, what := neverMatches(r, at); why != "" {
			find(LintNeverMatches, nil, map[string]string{"why": why, "what": what})
		}
		for _, bad := range CheckExamples(*r, at) {
			find(LintExampleFails, nil, map[string]string{"example": bad.Text, "expected": bad.Expected})
		}
	}
	return out
}

// idle reports whether the rule counts nowhere.
func (r *SourcedRule) idle() bool {
	return r.List == ListAllow && r.Source == SourceRepository && !r.Trusted
}

// orMadeUp fills in a place that is not given.
func (at ExamplePlace) orMadeUp() ExamplePlace {
	if at.Platform == "" {
		at.Platform = pathid.Host()
	}
	if at.Root == "" {
		at.Root, at.Home = "/home/u/project", "/home/u"
		if at.Platform.IsWindows() {
			at.Root, at.Home = `C:\Users\u\project`, `C:\Users\u`
		}
	}
	return at
}

// superfluous says by which other rule the rule i does nothing, and which code that has.
func (l *linter) superfluous(i int) (code string, other *SourcedRule) {
	a := &l.rules[i]
	for _, list := range stricter[a.List] {
		b := l.covering(i, list)
		switch {
		case b == nil:
		case list == a.List:
			if b.Rule.Equal(a.Rule) && b.boundary() == a.boundary() {
				return LintDuplicate, b
			}
			return LintCovered, b
		case list == ListDeny && a.List == ListAllow:
			return LintCoveredByDeny, b
		default:
			return LintUnreachable, b
		}
	}
	return "", nil
}

// stricter are the lists whose rules can make a rule of a list superfluous, those that decide first before the others.
var stricter = map[List][]List{
	ListDeny:  {ListDeny},
	ListAsk:   {ListDeny, ListAsk},
	ListAllow: {ListDeny, ListAsk, ListAllow},
}

// covering finds the first rule of the list that covers the rule i, or nil.
func (l *linter) covering(i int, list List) *SourcedRule {
	a := &l.rules[i]
	best := -1
	for _, j := range l.candidates(a, list) {
		b := &l.rules[j]
		if j == i || best >= 0 && j > best || !b.outlives(a) || !l.covers(b, a) {
			continue
		}
		if list == a.List && j > i && b.outlivedBy(a) && l.covers(a, b) {
			continue // both say the same: the later one is superfluous, and that is not this one
		}
		best = j
	}
	if best < 0 {
		return nil
	}
	return &l.rules[best]
}

// outlives reports whether the rule counts at least as long as another, and for allow rules at as many boundaries.
func (r *SourcedRule) outlives(other *SourcedRule) bool {
	if !r.Expires.IsZero() && (other.Expires.IsZero() || r.Expires.Before(other.Expires)) {
		return false
	}
	if r.List == ListAllow && other.List == ListAllow && r.boundary() != other.boundary() {
		return r.boundary() == BoundaryAny
	}
	return true
}

func (r *SourcedRule) outlivedBy(other *SourcedRule) bool { return other.outlives(r) }

// boundary is the weakest boundary that an allow rule covers. Deny and ask rules have none.
func (r *SourcedRule) boundary() Boundary {
	if r.List == ListAllow && r.Boundary != BoundaryAny {
		return BoundaryEnforced
	}
	return BoundaryAny
}
