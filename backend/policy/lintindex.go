package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// maxCompared is how many rules of one kind a rule is compared with. Beyond that Lint says less, never something wrong.
const maxCompared = 64

// linter finds the few rules that could cover another, so that ten thousand rules are not compared with each other.
type linter struct {
	rules []SourcedRule
	at    ExamplePlace
	found map[lintKey][]int
}

// lintKey is what a rule that covers has in common with the rule it covers.
type lintKey struct {
	list List
	tool string
	kind lintKind
	text string
}

type lintKind int

const (
	lintWhole   lintKind = iota // the whole tool, or every command
	lintSame                    // the same text
	lintPrefix                  // words of a command that it begins with
	lintProgram                 // any rule for the program
	lintGlob                    // a pattern over words
	lintBelow                   // everything below a directory
	lintHost                    // a domain
	lintPattern                 // any other pattern
)

func newLinter(rules []SourcedRule, at ExamplePlace) *linter {
	l := &linter{rules: rules, at: at, found: map[lintKey][]int{}}
	for i := range rules {
		r := &rules[i]
		if r.Rule.c == nil || r.idle() {
			continue
		}
		add := func(kind lintKind, text string) {
			key := lintKey{list: r.List, tool: r.Rule.tool, kind: kind, text: text}
			if len(l.found[key]) < maxCompared {
				l.found[key] = append(l.found[key], i)
			}
		}
		add(lintSame, r.Rule.content)
		c := r.Rule.c
		switch c.kind {
		case kindWhole:
			add(lintWhole, "")
		case kindExact, kindPrefix:
			if c.shape.assigns > 0 {
				break
			}
			add(lintProgram, c.shape.base)
			if c.kind == kindPrefix {
				add(lintPrefix, wordsKey(c.texts()))
			}
		case kindGlob:
			switch first := c.words[0]; {
			case first.rest:
				add(lintWhole, "")
			case first.glob != "":
				add(lintGlob, "")
			default:
				add(lintGlob, strings.ToLower(baseName(at.Platform, first.text)))
			}
		case kindPath:
			if dir, ok := formOf(c.pattern, at.Platform).dir(); ok {
				add(lintBelow, dir)
			} else {
				add(lintPattern, "")
			}
		case kindDomain:
			add(lintHost, c.domain)
		case kindMCP, kindSubject:
			if strings.ContainsAny(r.Rule.content, patternCharacters) {
				add(lintPattern, "")
			}
		}
	}
	return l
}

// patternCharacters start what is not literal in a pattern.
const patternCharacters = `*?[{\`

func wordsKey(words []string) string { return strings.Join(words, "\x00") }

// candidates are rules of the list that may cover a.
func (l *linter) candidates(a *SourcedRule, list List) []int {
	var out []int
	c := a.Rule.c
	for _, tool := range coveringTools(a.Rule.tool, list) {
		take := func(kind lintKind, text string) {
			out = append(out, l.found[lintKey{list: list, tool: tool, kind: kind, text: text}]...)
		}
		take(lintWhole, "")
		take(lintSame, a.Rule.content)
		switch c.kind {
		case kindExact, kindPrefix, kindGlob:
			for _, words := range commandsOf(c, l.at.Platform) {
				for n := 1; n <= len(words); n++ {
					take(lintPrefix, wordsKey(words[:n]))
				}
				base := strings.ToLower(baseName(l.at.Platform, words[0]))
				take(lintProgram, base)
				take(lintGlob, base)
			}
			take(lintGlob, "")
		case kindPath:
			for _, dir := range formOf(c.pattern, l.at.Platform).above() {
				take(lintBelow, dir)
			}
			take(lintPattern, "")
		case kindDomain:
			take(lintHost, "*")
			for name := c.domain; name != ""; {
				take(lintHost, name)
				_, name, _ = strings.Cut(name, ".")
			}
		case kindMCP, kindSubject:
			take(lintPattern, "")
		}
	}
	return out
}

// coveringTools are the tools whose rules in the list concern every call that a rule of the tool concerns.
func coveringTools(tool string, list List) []string {
	switch tools[tool].family {
	case familyWrite:
		return writeTools
	case familyRead:
		if tool != ToolRead && list != ListAllow {
			return []string{tool, ToolRead}
		}
	}
	return []string{tool}
}

// commandsOf are the words that every command a rule is about begins with: the rule's own, and those of the command that
// they hand to a wrapper.
func commandsOf(c *compiledRule, p pathid.Platform) [][]string {
	var words []string
	for _, w := range c.words[min(c.shape.assigns, len(c.words)):] {
		if w.rest || w.glob != "" {
			break
		}
		words = append(words, w.text)
	}
	var out [][]string
	for len(words) > 0 && len(out) < 4 {
		out = append(out, words)
		w := wrappers[baseName(p, words[0])]
		if w == nil {
			break
		}
		at, _, plain := w.split(lits(words...))
		if !plain || at < 1 || at >= len(words) {
			break
		}
		words = words[at:]
	}
	return out
}
