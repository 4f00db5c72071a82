package claude

import (
	"errors"

	"countersign/backend/agents/imports"
	"countersign/backend/agents/jsonedit"
	"countersign/backend/policy"
)

// Imported is Claude's own deny and ask rules in our words.
type Imported struct {
	Deny []string `json:"deny,omitempty"`
	Ask  []string `json:"ask,omitempty"`
	// NotCarried are the rules that have no counterpart here; they still hold for what Claude itself sees.
	NotCarried []NotCarried `json:"not_carried,omitempty"`
}

// NotCarried is a rule that has no counterpart here, and why: differences of package imports.
type NotCarried struct {
	List policy.List          `json:"list"`
	Line int                  `json:"line,omitempty"`
	Rule string               `json:"rule"`
	Why  []imports.Difference `json:"why"`
}

// ImportRules reads permissions.deny and permissions.ask of settings text. Once connected, Claude sees only the fixed
// line, so a rule about a command's text must be kept here to go on holding. A rule becomes at least as wide as it was:
// these lists only restrict. Allow rules are not imported: what is allowed here is for the owner to say here.
func ImportRules(data []byte) (Imported, error) {
	report, err := imports.Read(Name, "settings.json", data)
	var syntax *imports.SyntaxError
	if errors.As(err, &syntax) {
		return Imported{}, &jsonedit.SyntaxError{Line: syntax.Line, Column: 1, Problem: syntax.Problem}
	}
	if err != nil {
		return Imported{}, err
	}
	var out Imported
	for _, e := range report.Entries {
		switch {
		case e.List != policy.ListDeny && e.List != policy.ListAsk:
		case len(e.Rules) == 0:
			out.NotCarried = append(out.NotCarried, NotCarried{List: e.List, Line: e.Line, Rule: e.Text, Why: e.Differs})
		case e.List == policy.ListDeny:
			out.Deny = append(out.Deny, e.Rules...)
		default:
			out.Ask = append(out.Ask, e.Rules...)
		}
	}
	return out, nil
}
