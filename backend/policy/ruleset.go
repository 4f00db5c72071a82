package policy

import (
	"strings"
)

// Index returns a copy of the rules that finds the rules for a command by the name of its program, so
// that thousands of rules cost little. The copy's Rules must not be changed afterwards; a RuleSet without an index gives
// the same answers by looking at every rule.
func (s RuleSet) Index() RuleSet {
	out := RuleSet{Rules: append([]SourcedRule(nil), s.Rules...), Unreadable: s.Unreadable}
	index := &ruleIndex{rules: out.Rules, lists: map[List]*listIndex{}}
	for i, r := range out.Rules {
		list := index.lists[r.List]
		if list == nil {
			list = &listIndex{named: map[string][]int{}, byTool: map[string][]int{}}
			index.lists[r.List] = list
		}
		name := indexName(r.Rule)
		if name == "" {
			list.byTool[r.Rule.tool] = append(list.byTool[r.Rule.tool], i)
		} else {
			key := r.Rule.tool + "\x00" + name
			list.named[key] = append(list.named[key], i)
			list.all = append(list.all, i)
		}
	}
	out.index = index
	return out
}

// indexName is the program a command rule can only match by, or "".
func indexName(r Rule) string {
	if r.c == nil || r.c.family != familyCommand || r.c.kind != kindExact && r.c.kind != kindPrefix {
		return ""
	}
	if r.c.kind == kindExact && (r.c.shape.assigns > 0 || len(r.c.words) == 0) {
		return ""
	}
	return r.c.shape.base
}

type ruleIndex struct {
	rules []SourcedRule // the slice this index was made of
	lists map[List]*listIndex
}

type listIndex struct {
	named  map[string][]int // tool NUL program -> rules
	byTool map[string][]int // every other rule, by tool
	all    []int            // the named ones, for an unknown program
}

// fresh reports whether the index still belongs to the rules.
func (s *RuleSet) fresh() bool {
	return s.index != nil && len(s.index.rules) == len(s.Rules) &&
		(len(s.Rules) == 0 || &s.index.rules[0] == &s.Rules[0])
}

// ruleView is the rules of one list that Decide looks at.
type ruleView struct {
	set   *RuleSet
	list  List
	index *listIndex
	keep  func(*SourcedRule) bool
}

func (s *RuleSet) view(list List, keep func(*SourcedRule) bool) ruleView {
	v := ruleView{set: s, list: list, keep: keep}
	if s.fresh() {
		v.index = s.index.lists[list]
		if v.index == nil {
			v.index = &listIndex{}
		}
	}
	return v
}

// forTool calls fn for every rule of the list whose tool is one of tools and that is not bound to a program.
func (v ruleView) forTool(tools []string, fn func(*SourcedRule)) {
	if v.index == nil {
		for i := range v.set.Rules {
			r := &v.set.Rules[i]
			if r.List != v.list || r.Rule.c == nil || indexName(r.Rule) != "" {
				continue
			}
			for _, tool := range tools {
				if r.Rule.tool == tool && v.keep(r) {
					fn(r)
				}
			}
		}
		return
	}
	for _, tool := range tools {
		for _, i := range v.index.byTool[tool] {
			if r := &v.set.Rules[i]; v.keep(r) {
				fn(r)
			}
		}
	}
}

// forProgram calls fn for every rule of the tool that is bound to the program.
func (v ruleView) forProgram(tool, base string, fn func(*SourcedRule)) {
	base = strings.ToLower(base)
	if v.index == nil {
		for i := range v.set.Rules {
			r := &v.set.Rules[i]
			if r.List == v.list && r.Rule.tool == tool && r.Rule.c != nil && indexName(r.Rule) == base && base != "" && v.keep(r) {
				fn(r)
			}
		}
		return
	}
	for _, i := range v.index.named[tool+"\x00"+base] {
		if r := &v.set.Rules[i]; v.keep(r) {
			fn(r)
		}
	}
}

// any reports whether the list has a rule of one of the tools.
func (v ruleView) any(tools []string) bool {
	found := false
	v.forTool(tools, func(*SourcedRule) { found = true })
	if found {
		return true
	}
	each := func(r *SourcedRule) {
		for _, tool := range tools {
			found = found || r.Rule.tool == tool && v.keep(r)
		}
	}
	if v.index != nil {
		for _, i := range v.index.all {
			if each(&v.set.Rules[i]); found {
				return true
			}
		}
		return false
	}
	for i := range v.set.Rules {
		if r := &v.set.Rules[i]; r.List == v.list && indexName(r.Rule) != "" {
			if each(r); found {
				return true
			}
		}
	}
	return false
}

// better orders rules that decide alike, so that which one is named does not depend on the order of a list.
func better(a, b *SourcedRule) *SourcedRule {
	if a == nil {
		return b
	}
	at, bt := a.Rule.String(), b.Rule.String()
	if at < bt || at == bt && a.Source <= b.Source {
		return a
	}
	return b
}
