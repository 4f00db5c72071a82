package rules

import (
	"fmt"

	"countersign/backend/policy"
)

// lists are the three lists of a file.
type lists struct {
	Deny  []string `toml:"deny"`
	Ask   []string `toml:"ask"`
	Allow []string `toml:"allow"`
}

// FromFile makes the rules of one file. A text that does not parse is never dropped: the source it stands in counts as
// unreadable. Allow rules of a file cover calls at any boundary: whoever writes them says so by hand.
func FromFile(source policy.Source, where string, deny, ask, allow []string) policy.RuleSet {
	var set policy.RuleSet
	for _, l := range [...]struct {
		list  policy.List
		texts []string
	}{{policy.ListDeny, deny}, {policy.ListAsk, ask}, {policy.ListAllow, allow}} {
		for i, text := range l.texts {
			rule, err := policy.ParseRule(text)
			if err != nil {
				set.Unreadable = append(set.Unreadable, policy.UnreadableSource{
					Source: source, Where: fmt.Sprintf("%s, %s[%d]", where, l.list, i), Err: err.Error(),
				})
				continue
			}
			set.Rules = append(set.Rules, policy.SourcedRule{Rule: rule, List: l.list, Source: source, Boundary: policy.BoundaryAny})
		}
	}
	return set
}
