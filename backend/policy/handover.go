package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// handsOver reports whether the rule, as an allow rule, gives away whatever a program is told to run: the whole tool, or
// an interpreter or wrapper without the words of what it runs.
func (c *compiledRule) handsOver() bool {
	if c.family != familyCommand {
		return false
	}
	switch c.kind {
	case kindWhole:
		return true
	case kindExact:
		return len(c.words) == 1+c.shape.assigns && handsOver(c.shape.base)
	}
	if len(c.words) <= c.shape.assigns {
		return true
	}
	first := c.words[c.shape.assigns]
	if first.rest || first.glob != "" {
		return true
	}
	if !handsOver(c.shape.base) {
		return false
	}
	var words []string
	for _, w := range c.words[c.shape.assigns:] {
		if w.rest || w.glob != "" {
			return true
		}
		words = append(words, w.text)
	}
	return handsOverWords(words)
}

// handsOverWords reports whether a prefix of these words leaves open what an interpreter or wrapper runs.
func handsOverWords(words []string) bool {
	base := strings.ToLower(baseName(pathid.Linux, words[0]))
	if !handsOver(base) {
		return false
	}
	if w := wrappers[base]; w != nil {
		at, _, plain := w.split(lits(words...))
		return !plain || at >= len(words) || handsOverWords(words[at:])
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			return false // a script, a module, or a text
		}
	}
	return true
}

// HandsOver reports whether the rule, in an allow list, would hand over an interpreter, a wrapper or the whole shell. Such
// rules are set aside while acceptEdits or auto mode is on, and are never offered.
func (r Rule) HandsOver() bool { return r.c != nil && r.c.handsOver() }

// handsOver reports whether an allow rule for this program's whole name gives away whatever it is told to run.
func handsOver(base string) bool {
	return isWrapperName(base) && base != "find" || interpreterName(base)
}
