package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// maxSuggested is how many rules one answer may save; a call that needs more is answered once only.
const maxSuggested = 5

// SuggestRules returns the narrowest allow rules that would have allowed this call together with the rules there are: one
// per simple command that needs one. It returns nil when only this one call may be answered: what step 5 asked for, what
// no exact rule can express, and what would hand over an interpreter, a wrapper or a whole tool.
func SuggestRules(f *Facts, v Verdict, in Input) []Rule {
	if f == nil || v.Outcome != Ask {
		return nil
	}
	switch v.Reason {
	case ReasonApprovalRequired, ReasonAutoBlock, ReasonClassifierFailed:
	default:
		return nil
	}
	in.Facts = f
	s := &suggestion{d: &decision{in: in, f: f, mode: in.Session.Mode.effective()}}
	s.d.allow = s.d.allowView()
	switch tools[f.tool].family {
	case familyCommand:
		s.command()
	case familyRead, familyWrite:
		s.paths(f.accesses, f.tool)
	case familyDomain:
		for _, host := range f.hosts {
			s.add(f.tool, "domain:"+host)
		}
		s.failed = s.failed || f.badHost
	case familyMCP:
		if len(f.mcp) == 1 && f.mcp[0].tool != "" {
			s.add(ToolMCP, escapeWords(f.mcp[0].server)+"/"+escapeWords(f.mcp[0].tool))
		}
	case familySurface:
		if f.call.Surface != "" {
			s.add(ToolWebUse, f.call.Surface)
		}
	default:
		if tools[f.tool].offer {
			s.whole(f.tool)
		}
	}
	if s.failed || len(s.rules) == 0 || len(s.rules) > maxSuggested || !s.allows(in) {
		return nil
	}
	return s.rules
}

// escapeWords makes a name literal inside a pattern.
func escapeWords(name string) string { return escapePattern(name) }

type suggestion struct {
	d      *decision
	rules  []Rule
	failed bool
}

func (s *suggestion) add(tool, content string) {
	rule, err := ParseRule(tool + "(" + contentEscaper.Replace(content) + ")")
	if err != nil || rule.HandsOver() {
		s.failed = true
		return
	}
	s.put(rule)
}

func (s *suggestion) whole(tool string) {
	rule, err := ParseRule(tool)
	if err != nil {
		s.failed = true
		return
	}
	s.put(rule)
}

func (s *suggestion) put(rule Rule) {
	for _, have := range s.rules {
		if have.Equal(rule) {
			return
		}
	}
	s.rules = append(s.rules, rule)
}

// allows checks that the rules do what the card says: with them the call is allowed by a rule.
func (s *suggestion) allows(in Input) bool {
	with := in
	with.Rules.Rules = append([]SourcedRule(nil), in.Rules.Rules...)
	for _, rule := range s.rules {
		boundary := in.Boundary
		if boundary != BoundaryEnforced {
			boundary = BoundaryAny
		}
		with.Rules.Rules = append(with.Rules.Rules, SourcedRule{Rule: rule, List: ListAllow, Source: SourceSession, Boundary: boundary})
	}
	v := Decide(with)
	return v.Outcome == Allow && v.Reason == ReasonRuleAllow
}

// command suggests an exact rule for every simple command that is not covered, and one for every file that a redirection
// writes.
func (s *suggestion) command() {
	f := s.d.f
	if len(f.opaque) > 0 || f.tool != ToolBash {
		s.failed = true
		return
	}
	for i, c := range f.commands {
		if c.parent >= 0 || c.denyOnly || s.d.coveredCommand(i).ok {
			continue
		}
		s.exact(i)
	}
	var writes []access
	for i := range f.accesses {
		a := f.accesses[i]
		if a.redirect && a.write && !a.denyOnly && !s.d.coveredRedirect(&a).ok {
			writes = append(writes, a)
		}
	}
	s.paths(writes, ToolWrite)
}

// exact suggests a rule of exactly the command's words. A wrapper is seen through: the rule names what it runs.
func (s *suggestion) exact(i int) {
	c := s.d.f.commands[i]
	if (c.wrap == wrapTransparent || c.wrap == wrapShell) && len(c.inner) > 0 && c.unspelled() == "" && len(c.options) == 0 {
		for _, inner := range c.inner {
			if in := s.d.f.commands[inner]; !in.denyOnly && !s.d.coveredCommand(inner).ok {
				s.exact(inner)
			}
		}
		return
	}
	if len(c.words) == 0 || c.wrap == wrapElevate || c.wrap == wrapFeed || inlineCode(c) {
		s.failed = true
		return
	}
	var words []string
	if c.unspelled() != "" {
		for _, a := range c.assigns {
			if !a.known {
				s.failed = true
				return
			}
			words = append(words, a.name+"="+quoteValue(a.value))
		}
	}
	for j, w := range c.words {
		if !w.known || w.glob {
			s.failed = true
			return
		}
		quoted := quoteRuleWord(w.text)
		if j == 0 && strings.Contains(w.text, "=") {
			s.failed = true // would read as an assignment
			return
		}
		words = append(words, quoted)
	}
	content := strings.Join(words, " ")
	if strings.HasSuffix(content, ":*") {
		s.failed = true
		return
	}
	s.add(s.d.f.tool, content)
}

func quoteValue(value string) string {
	if value == "" {
		return ""
	}
	return quoteRuleWord(value)
}

// inlineCode reports whether an interpreter is given its program in its arguments, or none: no rule is offered for that.
func inlineCode(c *command) bool {
	if !interpreterName(c.base) {
		return false
	}
	for _, w := range c.words[1:] {
		if w.text == "" {
			continue
		}
		if w.text[0] != '-' {
			return awkLike[c.base]
		}
		if strings.ContainsAny(strings.TrimLeft(w.text, "-"), "cempr") || w.text == "-" {
			return true
		}
	}
	return true
}

// awkLike take their program as the first operand.
var awkLike = set("awk gawk mawk nawk osascript psql mysql sqlite3")

// paths suggests a rule for each file that is not covered: relative to the root that holds it, else absolute.
func (s *suggestion) paths(list []access, tool string) {
	f := s.d.f
	for i := range list {
		a := &list[i]
		ruleTools := []string{tool}
		if IsWriteTool(tool) {
			ruleTools = writeTools
		}
		if s.d.coveredAccess(a, ruleTools, tool).ok {
			continue
		}
		if a.dynamic || a.globbed || a.lexical == "" || a.refused != "" || a.odd != "" {
			s.failed = true
			return
		}
		s.add(tool, pathContent(f, a))
	}
}

// pathContent writes a path as an exact pattern.
func pathContent(f *Facts, a *access) string {
	p := f.call.Platform
	path := a.lexical
	best := ""
	for _, root := range f.call.Roots {
		if pathid.Contains(p, root, path) && a.inside && len(root) > len(best) {
			best = root
		}
	}
	if best != "" {
		all, _ := pathid.Components(p, path)
		skip, _ := pathid.Components(p, best)
		if len(all) > len(skip) {
			return quotePattern(strings.Join(all[len(skip):], "/"))
		}
		return quotePattern(matchSlash(p, path)) // the root itself
	}
	return quotePattern(matchSlash(p, path))
}

// quotePattern makes a path literal: pattern characters become classes of one.
func quotePattern(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; c {
		case '*', '?', '[', '{':
			b.WriteString("[" + string(c) + "]")
		case '\\':
			b.WriteString(`\\`)
		default:
			b.WriteByte(c)
		}
	}
	text := b.String()
	if strings.HasPrefix(text, "~") || strings.HasPrefix(text, "./") {
		return "[" + text[:1] + "]" + text[1:]
	}
	return text
}
