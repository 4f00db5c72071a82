package policy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"countersign/backend/pathid"
)

// covers reports whether the rule a does nothing beside the rule b. Deny and ask rules are matched generously and allow
// rules strictly, so there are three questions: whether all that a allows is restrained by b, whether all that a restrains is
// restrained by b, and whether all that a allows is allowed by b.
func (l *linter) covers(b, a *SourcedRule) bool {
	if !slices.Contains(coveringTools(a.Rule.tool, b.List), b.Rule.tool) {
		return false
	}
	same := a.Rule.parens == b.Rule.parens && a.Rule.content == b.Rule.content
	switch {
	case a.List != ListAllow:
		return same || l.restrainsMore(b, a)
	case b.List != ListAllow:
		return same || l.restrainsAllowed(b.Rule.c, a)
	case same && a.Rule.parens, same && a.Rule.tool == b.Rule.tool:
		return true
	}
	return !b.Rule.HandsOver() && l.allowsMore(b, a)
}

// restrainsAllowed reports whether the deny or ask rule b matches every call for which the allow rule a could be needed.
func (l *linter) restrainsAllowed(b *compiledRule, a *SourcedRule) bool {
	c := a.Rule.c
	if b.kind == kindWhole {
		return true
	}
	switch c.kind {
	case kindWhole:
		return b.everyCommand()
	case kindExact, kindPrefix, kindGlob:
		if b.everyCommand() {
			return true
		}
		if b.shape.assigns > 0 {
			return false
		}
		for i, words := range commandsOf(c, l.at.Platform) {
			exact := i == 0 && c.kind == kindExact
			if !exact && !b.open() {
				continue
			}
			cmd := newCommand(l.at.Platform, lits(words...))
			if exact && b.restrains(cmd, l.at.Platform) == matchYes || !exact && b.restrainsStart(cmd, l.at.Platform) {
				return true
			}
		}
		return false
	case kindPath:
		return b.kind == kindPath && holds(formOf(b.pattern, l.at.Platform), formOf(c.pattern, l.at.Platform), true, l.at.Platform)
	}
	return containsNames(b, c)
}

// everyCommand reports whether the rule is bash(*).
func (c *compiledRule) everyCommand() bool {
	return c.kind == kindGlob && len(c.words) == 1 && c.words[0].rest
}

// open reports whether a command that the rule matches may go on with any further words.
func (c *compiledRule) open() bool {
	switch c.kind {
	case kindPrefix:
		return true
	case kindGlob:
		last := c.words[len(c.words)-1]
		return last.rest || strings.HasSuffix(last.glob, "*") && !strings.HasSuffix(last.glob, `\*`)
	}
	return false
}

// restrainsStart reports whether an open rule matches every command that begins with these words.
func (c *compiledRule) restrainsStart(cmd *command, p pathid.Platform) bool {
	if c.kind == kindGlob {
		return globWords(c.words, cmd.words, true) == matchYes
	}
	return strings.EqualFold(cmd.base, c.shape.base) && sequence(c.texts(), cmd.words, true, p, 0) == matchYes
}

// restrainsMore reports whether the deny or ask rule by matches whatever the deny or ask rule a matches, and as surely.
func (l *linter) restrainsMore(by, a *SourcedRule) bool {
	b, c := by.Rule.c, a.Rule.c
	switch c.family {
	case familyCommand:
		switch {
		case b.kind == kindWhole:
			return true
		case b.everyCommand():
			return c.kind == kindPrefix || c.kind == kindGlob // an exact rule also knows a text that holds no command
		case b.kind != kindPrefix, c.kind != kindPrefix && c.kind != kindExact, b.shape.assigns+c.shape.assigns > 0:
			return false
		}
		if !startsWith(c.texts(), b.texts()) {
			return false
		}
		return c.kind == kindPrefix || readAsWritten(a.Rule.content) &&
			RuleDecides(SourcedRule{Rule: by.Rule, List: ListDeny}, a.Rule.content, l.at)
	case familyRead, familyWrite:
		// A rule without a path says nothing about what a program might do with its arguments, one with a path does. The
		// patterns themselves are compared with patterns of the shell, so a wider one need not do what a narrower does.
		return b.kind == kindWhole && a.Rule.tool != ToolRead && c.family == familyRead
	}
	return b.kind == kindWhole || containsNames(b, c)
}

func startsWith(words, start []string) bool {
	return len(words) >= len(start) && slices.Equal(words[:len(start)], start)
}

// readAsWritten reports whether the shell reads a text as the words that it is written with.
func readAsWritten(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && needsQuote(r) }) && !strings.Contains(text, "~")
}

// allowsMore reports whether the allow rule b covers whatever the allow rule a covers.
func (l *linter) allowsMore(b, a *SourcedRule) bool {
	bc, ac := b.Rule.c, a.Rule.c
	switch ac.family {
	case familyCommand:
		return a.Rule.tool == ToolBash && l.allowsCommands(b, a)
	case familyRead, familyWrite:
		if bc.kind == kindWhole {
			return ac.family == familyRead // a write rule with a path covers edits too, the whole tool does not
		}
		return ac.kind == kindPath && bc.kind == kindPath &&
			holds(formOf(bc.pattern, l.at.Platform), formOf(ac.pattern, l.at.Platform), false, l.at.Platform)
	}
	return bc.kind == kindWhole || containsNames(bc, ac)
}

// allowsCommands compares a prefix with a longer one, or with an exact rule. What the longer rule spells out beyond the
// other must not be anything that has to be spelled out, and what the words mean must not depend on the text around them.
func (l *linter) allowsCommands(b, a *SourcedRule) bool {
	bc, ac := b.Rule.c, a.Rule.c
	if bc.kind != kindPrefix || ac.kind != kindPrefix && ac.kind != kindExact || bc.shape.assigns+ac.shape.assigns > 0 {
		return false
	}
	words, start := ac.texts(), bc.texts()
	base := ac.shape.base
	if !startsWith(words, start) || handsOver(base) || isWrapperName(base) || operandKinds[base] == operandSed {
		return false
	}
	if ac.kind == kindExact && (words[0] != base || !builtinNames[base] && safeReads[base] == nil) {
		return false // a function of that name would be the exact rule's alone; one that shadows a known name is opaque
	}
	text := strings.Join(words, " ")
	if !readAsWritten(text) {
		return false
	}
	f := exampleFacts(a.Rule, text, l.at)
	if len(f.opaque) > 0 || len(f.commands) != 1 || len(f.commands[0].words) != len(words) || f.commands[0].wrap != wrapNone {
		return false
	}
	for _, o := range f.commands[0].options {
		if o.at >= len(start) {
			return false
		}
	}
	return RuleDecides(*b, text, l.at)
}

// containsNames compares rules about hosts, MCP tools, surfaces and subjects, which are matched alike in every list.
func containsNames(b, a *compiledRule) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case kindDomain:
		switch {
		case b.domain == "*" || a.domain == b.domain && (!b.subOnly || a.subOnly):
			return true
		case a.domain == "*":
			return false
		}
		return strings.HasSuffix(a.domain, "."+b.domain)
	case kindMCP:
		return containsText(b.server, a.server) && containsText(b.tool, a.tool)
	case kindSubject:
		return containsText(b.pattern, a.pattern)
	}
	return false
}

// containsText compares patterns over text that is no path.
func containsText(b, a string) bool {
	return a == b || b == "*" || !strings.ContainsAny(a, patternCharacters) && matchText(b, a)
}

// pathForm is a path rule before it is anchored.
type pathForm struct {
	anchor string // "" below the roots, "~" below the home directory, "/" or "c:" absolute, "?" unclear
	rest   string // below the anchor, without "." and doubled slashes
}

func formOf(pattern string, p pathid.Platform) pathForm {
	text := pattern
	if p.IsWindows() {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	for strings.HasPrefix(text, "./") {
		text = strings.TrimLeft(text[2:], "/")
	}
	if text == "" || text == "." {
		text = "**"
	}
	form := pathForm{rest: text}
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		form.anchor, form.rest = "~", text[1:]
	case p.IsWindows() && isDrive(text):
		form.anchor, form.rest = strings.ToLower(text[:2]), text[2:]
		if !strings.HasPrefix(form.rest, "/") {
			form.anchor = "?"
		}
	case strings.HasPrefix(text, "/"):
		form.anchor = "/"
		if p.IsWindows() {
			form.anchor = "?"
		}
	}
	form.rest = strings.TrimPrefix(cleanPattern("/"+form.rest), "/")
	if slices.Contains(strings.Split(form.rest, "/"), "..") || strings.Contains(pattern, "..") {
		form.anchor = "?"
	}
	return form
}

// dir returns the directory of a form that is everything below it, without pattern characters.
func (f pathForm) dir() (string, bool) {
	dir, ok := strings.CutSuffix("/"+f.rest, "/**")
	if !ok || strings.ContainsAny(dir, patternCharacters) {
		return "", false
	}
	return strings.TrimPrefix(dir, "/"), true
}

// above are the directories that the form lies below or is, from any part of it on: a deny or ask rule that is relative
// matches at any depth.
func (f pathForm) above() []string {
	parts := strings.Split(f.rest, "/")
	for i, part := range parts {
		if strings.ContainsAny(part, patternCharacters) {
			parts = parts[:i]
			break
		}
	}
	out := []string{""}
	for to := 1; to <= len(parts) && to <= maxCompared; to++ {
		out = append(out, strings.Join(parts[:to], "/"))
	}
	for from := 1; from < len(parts) && from < 8; from++ {
		for to := from + 1; to <= len(parts) && to <= from+4; to++ {
			out = append(out, strings.Join(parts[from:to], "/"))
		}
	}
	return out
}

// holds reports whether every path of a is one of b. For deny and ask rules, a relative b lies at any depth.
func holds(b, a pathForm, generous bool, p pathid.Platform) bool {
	if a.anchor == "?" || b.anchor == "?" || a.rest == "" {
		return false
	}
	below, isDir := b.dir()
	literal := !strings.ContainsAny(a.rest, patternCharacters) && comparable(a.rest, b.rest, p)
	if a.anchor == b.anchor {
		switch {
		case isDir && (below == "" || a.rest == below || strings.HasPrefix(a.rest, below+"/")):
			return true
		case literal && matchPath(b.rest, a.rest):
			return true
		}
	}
	if !generous || b.anchor != "" {
		return false
	}
	switch {
	case isDir && below == "":
		return true
	case isDir:
		for _, dir := range a.above() {
			if dir == below {
				return true
			}
		}
		return false
	}
	return literal && matchPath("**/"+b.rest, a.rest)
}

// comparable reports whether two patterns compare as they are written, although paths are folded before.
func comparable(a, b string, p pathid.Platform) bool {
	for _, r := range a + b {
		if r > unicode.MaxASCII {
			return false
		}
	}
	return !p.FoldsCase() || !strings.Contains(b, "[")
}

func matchPath(pattern, path string) bool {
	ok, err := doublestar.Match(pattern, path)
	return err == nil && ok
}

// exampleFacts examines the call that a text stands for, where nothing exists.
func exampleFacts(r Rule, text string, at ExamplePlace) *Facts {
	tool, args := exampleCall(r, text)
	return Examine(Call{Tool: tool, Args: args, Cwd: at.Root, Roots: []string{at.Root}, Home: at.Home, Platform: at.Platform},
		NewMemoryFS(at.Platform))
}
