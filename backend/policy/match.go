package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// match is the answer of comparing a rule with something: an unknown part makes it "maybe".
type match int

const (
	matchNo match = iota
	matchMaybe
	matchYes
)

// shape is a command rule reduced for generous matching: the order of options does not matter.
type shape struct {
	base     string   // lower case base name of the first word that is no assignment
	operands []string // words after the name that are no options
	options  []string // long options and whole words
	letters  string   // letters of short clusters such as -rf
	assigns  int      // leading NAME=value words
}

// maxCluster is the longest single-dash word that is read as a cluster of letters: -rf is, -exec is not.
const maxCluster = 4

func shapeOf(words []string) shape {
	var s shape
	for s.assigns < len(words) {
		if _, _, ok := splitAssign(words[s.assigns]); !ok {
			break
		}
		s.assigns++
	}
	if s.assigns == len(words) {
		return s
	}
	s.base = strings.ToLower(baseName(pathid.Linux, words[s.assigns]))
	ended := false
	for _, w := range words[s.assigns+1:] {
		switch {
		case ended || len(w) < 2 || w[0] != '-':
			s.operands = append(s.operands, w)
		case w == "--":
			ended = true
		case w[1] != '-' && len(w) <= maxCluster && strings.Trim(w[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "":
			s.letters += w[1:]
		default:
			s.options = append(s.options, w)
		}
	}
	return s
}

// restrains compares a deny or ask rule with one command: generously, whatever the order of options, the spelling of the
// program's path and the options before a subcommand.
func (c *compiledRule) restrains(cmd *command, p pathid.Platform) match {
	switch c.kind {
	case kindWhole:
		return matchYes
	case kindGlob:
		return c.globRestrains(cmd, p)
	case kindExact, kindPrefix:
	default:
		return matchNo
	}
	words := cmd.words
	if c.shape.assigns > 0 {
		words = cmd.full()
		if sequence(c.texts(), words, c.kind == kindPrefix, p, -1) == matchYes {
			return matchYes
		}
		if c.shape.base == "" || !assignsInclude(cmd, c.words[:c.shape.assigns]) {
			return matchNo
		}
		words = cmd.words
	}
	if len(words) == 0 || !strings.EqualFold(cmd.base, c.shape.base) {
		return matchNo
	}
	texts := c.texts()[c.shape.assigns:]
	out := sequence(texts, words, c.kind == kindPrefix, p, 0)
	if out == matchYes {
		return out
	}
	return max(out, c.shape.fits(words, c.kind == kindPrefix))
}

func assignsInclude(cmd *command, words []ruleWord) bool {
	for _, w := range words {
		found := false
		for _, a := range cmd.assigns {
			found = found || a.text() == w.text
		}
		if !found {
			return false
		}
	}
	return true
}

func (c *compiledRule) texts() []string {
	out := make([]string, len(c.words))
	for i, w := range c.words {
		out[i] = w.text
	}
	return out
}

// sequence compares words one by one. nameAt is the index of the program's name, of which only the base counts (-1: no
// such word).
func sequence(rule []string, words []word, prefix bool, p pathid.Platform, nameAt int) match {
	out := matchYes
	for i, text := range rule {
		if i >= len(words) {
			return matchNo
		}
		w := words[i]
		switch {
		case i == nameAt && w.known:
			if !strings.EqualFold(baseName(p, w.text), baseName(p, text)) {
				return matchNo
			}
		case w.known && !w.glob:
			if w.text != text {
				return matchNo
			}
		case w.glob:
			if w.text != text && !matchText(strings.ReplaceAll(w.pattern, "/", slashMark), text) {
				return matchNo
			}
		default:
			if !strings.HasPrefix(text, w.prefix) {
				return matchNo
			}
			if w.many {
				return matchMaybe
			}
			out = matchMaybe
		}
	}
	if prefix || len(rule) == len(words) {
		return out
	}
	for _, w := range words[len(rule):] {
		if !w.many {
			return matchNo
		}
	}
	return matchMaybe // only unknown words follow, and they may vanish
}

// fits compares a command with the shape: its operands in order, its options anywhere. Options before the first operand
// may take a value, which is skipped (git -C dir push).
func (s shape) fits(words []word, prefix bool) match {
	var letters strings.Builder
	present := map[string]bool{}
	out := matchYes
	next, extra, afterOption, ended := 0, false, false, false
	seenLetters := 0
	for _, w := range words[1:] {
		text := w.text
		switch {
		case !w.known:
			if next < len(s.operands) && strings.HasPrefix(s.operands[next], w.prefix) && (w.prefix != "" || !w.tame) {
				next++
				out = matchMaybe
			}
			if w.many || w.prefix == "" {
				out = matchMaybe
			}
		case !ended && text == "--":
			ended = true
		case !ended && len(text) > 1 && text[0] == '-':
			name, _, _ := strings.Cut(text, "=")
			present[text], present[name] = true, true
			if text[1] != '-' {
				letters.WriteString(text[1:])
				seenLetters++
			}
			afterOption = !strings.Contains(text, "=")
			if !s.allows(text, name) && next > 0 {
				extra = true
			}
			continue
		case next < len(s.operands) && (text == s.operands[next] || w.glob && matchText(strings.ReplaceAll(w.pattern, "/", slashMark), s.operands[next])):
			next++
		case afterOption && next < len(s.operands):
			// The value of the option before it.
		case next < len(s.operands):
			return matchNo
		default:
			extra = true
		}
		afterOption = false
	}
	if next < len(s.operands) {
		if out == matchMaybe {
			return matchMaybe
		}
		return matchNo
	}
	for _, o := range s.options {
		if !present[o] {
			return matchNo
		}
	}
	for _, l := range s.letters {
		if !strings.ContainsRune(letters.String(), l) {
			return matchNo
		}
	}
	if !prefix && extra {
		return matchNo
	}
	return out
}

func (s shape) allows(text, name string) bool {
	for _, o := range s.options {
		if o == text || o == name {
			return true
		}
	}
	return text[1] != '-' && strings.Trim(text[1:], s.letters) == ""
}

// globRestrains matches a pattern over words for deny and ask.
func (c *compiledRule) globRestrains(cmd *command, p pathid.Platform) match {
	if len(c.words) == 1 && c.words[0].rest {
		return matchYes
	}
	if len(cmd.words) == 0 {
		return matchNo
	}
	words := append([]word(nil), cmd.words...)
	if m := globWords(c.words, words, true); m != matchNo {
		return m
	}
	words[0].text = cmd.base
	m := globWords(c.words, words, true)
	if m == matchNo && hasSubcommands(cmd.base) {
		if at := subcommand(cmd.base, words); at > 1 && at < len(words) {
			m = globWords(c.words, append(words[:1:1], words[at:]...), true)
		}
	}
	return m
}

// maxGlobCells bounds the comparisons of one pattern with one command. Beyond it a deny or ask rule may match and an allow
// rule does not.
const maxGlobCells = 1 << 18

// globWords matches rule words with patterns. A bare * takes any number of words; when the last word of the rule ends
// in a * the words that follow are taken too, as users of other agents write "npm run test*".
//
// It fills a table from the end, one row for each word of the rule: row[j] says how the rest of the rule matches words[j:].
// Trying every length for every * would take a time that grows with the number of stars.
func globWords(rule []ruleWord, words []word, generous bool) match {
	if len(rule)*(len(words)+1) > maxGlobCells {
		if generous {
			return matchMaybe
		}
		return matchNo
	}
	row := make([]match, len(words)+1)
	row[len(words)] = matchYes
	for i := len(rule) - 1; i >= 0; i-- {
		r := rule[i]
		last := i == len(rule)-1
		if r.rest {
			for j := len(words); j >= 0; j-- {
				switch {
				case last:
					row[j] = matchYes
				case j < len(words):
					row[j] = max(row[j], row[j+1])
				}
			}
			continue
		}
		open := last && strings.HasSuffix(r.glob, "*") && !strings.HasSuffix(r.glob, `\*`)
		for j := range words {
			row[j] = row[j+1]
			if open {
				row[j] = matchYes
			}
			if row[j] != matchNo {
				row[j] = min(row[j], globWord(r, words[j], generous))
			}
		}
		row[len(words)] = matchNo
	}
	return row[0]
}

// globWord matches one word that is no bare *.
func globWord(r ruleWord, w word, generous bool) match {
	switch {
	case !w.known:
		if generous {
			return matchMaybe
		}
	case w.glob && !generous:
	case r.glob == "":
		if w.text == r.text {
			return matchYes
		}
	case matchText(r.glob, w.text):
		return matchYes
	}
	return matchNo
}

// grants compares an allow rule with one command, strictly: every word as written, nothing unknown where the rule says
// something. reach is how many of the command's words the rule spells out.
func (c *compiledRule) grants(cmd *command) (ok bool, reach int) {
	if len(cmd.words) == 0 && c.shape.assigns == 0 {
		return false, 0
	}
	switch c.kind {
	case kindWhole:
		return true, 0
	case kindGlob:
		if globWords(c.words, cmd.words, false) != matchYes {
			return false, 0
		}
		for reach < len(c.words) && reach < len(cmd.words) && !c.words[reach].rest {
			reach++
		}
		return true, reach
	case kindExact, kindPrefix:
	default:
		return false, 0
	}
	words := cmd.words
	rule := c.words
	if c.shape.assigns > 0 {
		if len(cmd.assigns) != c.shape.assigns {
			return false, 0
		}
		for i, a := range cmd.assigns {
			if !a.known || a.text() != rule[i].text {
				return false, 0
			}
		}
		rule = rule[c.shape.assigns:]
	}
	if len(words) < len(rule) || c.kind == kindExact && len(words) != len(rule) {
		return false, 0
	}
	for i, r := range rule {
		w := words[i]
		if !w.known || w.glob || w.text != r.text {
			return false, 0
		}
	}
	return true, len(rule)
}

// spells reports whether the rule itself names an executing option.
func (c *compiledRule) spells(o option, cmd *command, reach int) bool {
	if o.dynamic {
		return false
	}
	if c.kind == kindExact || c.kind == kindPrefix {
		return o.at < reach
	}
	for _, r := range c.words {
		if r.rest {
			continue
		}
		if r.text == o.spelling || strings.HasPrefix(r.text, o.spelling) && len(o.spelling) > 2 {
			return true
		}
	}
	return false
}
