package policy

import (
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ruleKind is how a rule's text is compared.
type ruleKind int

const (
	kindWhole   ruleKind = iota // the whole tool
	kindExact                   // these words, or the whole text
	kindPrefix                  // these words first
	kindGlob                    // words with patterns
	kindPath                    // a path pattern
	kindDomain                  // a host
	kindMCP                     // server and tool
	kindSurface                 // origin#surface
	kindSubject                 // a pattern over the call's subject
)

// ruleWord is one word of a command rule.
type ruleWord struct {
	text string // literal text; for a glob the text as written
	glob string // doublestar pattern over the word with "/" turned into slashMark; "" for a literal
	rest bool   // a bare * : any number of words
}

// compiledRule is what matching needs; it follows from the rule's text alone.
type compiledRule struct {
	family family
	kind   ruleKind
	words  []ruleWord
	shape  shape // of words, for generous matching

	pattern string // path pattern, as written
	domain  string
	subOnly bool // subdomains only
	server  string
	tool    string
}

// Limits that keep matching one pattern cheap.
const (
	maxRuleWords     = 256
	maxPatternStars  = 24
	maxPatternBraces = 8
)

func compile(r Rule) (*compiledRule, error) {
	c := &compiledRule{family: tools[r.tool].family}
	if !r.parens {
		return c, nil
	}
	switch c.family {
	case familyCommand:
		return c, c.compileCommand(r.content)
	case familyRead, familyWrite:
		c.kind, c.pattern = kindPath, r.content
		return c, validPattern(strings.ReplaceAll(r.content, `\`, "/"), r.content)
	case familyDomain:
		return c, c.compileDomain(r.content)
	case familyMCP:
		return c, c.compileMCP(r.content)
	case familySurface:
		c.kind = kindSurface
		origin, surface, ok := strings.Cut(r.content, "#")
		if !ok || origin == "" || surface == "" || strings.ContainsAny(r.content, " \t\n") {
			return nil, ErrRuleSurface
		}
		return c, nil
	}
	c.kind, c.pattern = kindSubject, strings.ReplaceAll(r.content, "/", slashMark)
	return c, validPattern(c.pattern)
}

func (c *compiledRule) compileCommand(content string) error {
	if content == "*" {
		c.kind, c.words = kindGlob, []ruleWord{{text: "*", rest: true}}
		return nil
	}
	c.kind = kindExact
	text := content
	if cut, ok := strings.CutSuffix(content, ":*"); ok {
		c.kind, text = kindPrefix, strings.TrimRight(cut, " \t\n")
		if strings.TrimSpace(text) == "" {
			return ErrRulePrefix
		}
	}
	words, err := splitRuleWords(text)
	if err != nil {
		return err
	}
	if len(words) == 0 || len(words) > maxRuleWords {
		return ErrRuleContent
	}
	for i, w := range words {
		if w.glob == "" && !w.rest {
			continue
		}
		if err := validPattern(w.glob); err != nil {
			return err
		}
		if c.kind == kindPrefix {
			if w.rest {
				return ErrRulePattern // "* x:*" says nothing a person could check
			}
			continue
		}
		c.kind = kindGlob
		if w.rest && i == 0 && len(words) > 1 {
			return ErrRulePattern // a pattern must at least name the program
		}
	}
	c.words = words
	literal := make([]string, len(words))
	for i, w := range words {
		literal[i] = w.text
	}
	c.shape = shapeOf(literal)
	return nil
}

var domainLabel = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$`)

func (c *compiledRule) compileDomain(content string) error {
	name, ok := strings.CutPrefix(content, "domain:")
	if !ok {
		return ErrRuleDomain
	}
	c.kind = kindDomain
	name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), ".")
	if name == "*" {
		c.domain = name
		return nil
	}
	if cut, ok := strings.CutPrefix(name, "*."); ok {
		c.subOnly, name = true, cut
	}
	if len(name) > 253 {
		return ErrRuleDomain
	}
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") && !c.subOnly {
		c.domain = strings.Trim(name, "[]") // an IPv6 address
		return nil
	}
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > 63 || !domainLabel.MatchString(label) {
			return ErrRuleDomain
		}
	}
	c.domain = name
	return nil
}

func (c *compiledRule) compileMCP(content string) error {
	c.kind = kindMCP
	server, tool, named := strings.Cut(content, "/")
	if server == "" || named && tool == "" || strings.ContainsAny(content, " \t\n") {
		return ErrRuleMCP
	}
	if !named {
		tool = "*"
	}
	c.server, c.tool = server, strings.ReplaceAll(tool, "/", slashMark)
	if validPattern(c.server) != nil || validPattern(c.tool) != nil {
		return ErrRuleMCP
	}
	return nil
}

// validPattern checks every form of a pattern that will be matched.
func validPattern(patterns ...string) error {
	for _, p := range patterns {
		if strings.Count(p, "*") > maxPatternStars || strings.Count(p, "{") > maxPatternBraces ||
			!doublestar.ValidatePattern(p) {
			return ErrRulePattern
		}
	}
	return nil
}

// slashMark stands for "/" where a pattern is matched over text that is not a path, so that * crosses slashes.
const slashMark = "\x01"

// matchText matches a pattern that was compiled for text with "/" turned into slashMark.
func matchText(pattern, text string) bool {
	ok, err := doublestar.Match(pattern, strings.ReplaceAll(text, "/", slashMark))
	return err == nil && ok
}

// splitRuleWords reads the words of a command rule. Words are separated by white space; '…' is literal, "…" is literal
// with \" and \\, a backslash makes the next character literal, and * ? […] {a,b} outside of those are patterns.
func splitRuleWords(text string) ([]ruleWord, error) {
	var words []ruleWord
	for i := 0; i < len(text); {
		if isBlank(text[i]) {
			i++
			continue
		}
		w, next, err := ruleWordAt(text, i)
		if err != nil {
			return nil, err
		}
		words, i = append(words, w), next
	}
	return words, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

func ruleWordAt(text string, i int) (ruleWord, int, error) {
	var literal, pattern strings.Builder
	isGlob := false
	start := i
	quote := func(s string) { // s is literal in both forms
		literal.WriteString(s)
		for _, r := range s {
			if strings.ContainsRune(`*?[]{},\`, r) {
				pattern.WriteByte('\\')
			}
			pattern.WriteRune(r)
		}
	}
	for i < len(text) && !isBlank(text[i]) {
		switch c := text[i]; c {
		case '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return ruleWord{}, 0, ErrRuleQuote
			}
			quote(text[i+1 : i+1+end])
			i += end + 2
		case '"':
			i++
			for {
				if i >= len(text) {
					return ruleWord{}, 0, ErrRuleQuote
				}
				if text[i] == '"' {
					i++
					break
				}
				if text[i] == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\') {
					i++
				}
				quote(text[i : i+1])
				i++
			}
		case '\\':
			if i+1 >= len(text) {
				return ruleWord{}, 0, ErrRuleQuote
			}
			quote(text[i+1 : i+2])
			i += 2
		default:
			if n := globAt(text[i:]); n > 0 {
				isGlob = true
				part := text[i : i+n]
				literal.WriteString(part)
				pattern.WriteString(strings.ReplaceAll(part, "/", slashMark))
				i += n
				continue
			}
			quote(text[i : i+1])
			i++
		}
	}
	w := ruleWord{text: literal.String()}
	if isGlob {
		w.glob = strings.ReplaceAll(pattern.String(), "/", slashMark)
		w.rest = text[start:i] == "*"
		if w.rest {
			w.glob = ""
		}
	}
	return w, i, nil
}

// globAt returns the length of the pattern that starts text, or 0. A lone [ or {} is literal, as in the shell.
func globAt(text string) int {
	word := text
	if end := strings.IndexAny(text, " \t\n"); end >= 0 {
		word = text[:end]
	}
	switch word[0] {
	case '*', '?':
		return 1
	case '[':
		if end := strings.IndexByte(word, ']'); end > 1 && !strings.ContainsAny(word[:end], `'"\`) {
			return end + 1
		}
	case '{':
		if end := strings.IndexByte(word, '}'); end > 1 && strings.Contains(word[:end], ",") &&
			!strings.ContainsAny(word[1:end], `'"\{`) {
			return end + 1
		}
	}
	return 0
}

// quoteRuleWord writes a word of a command so that a rule made from it means exactly that word.
func quoteRuleWord(text string) string {
	if text != "" && strings.IndexFunc(text, needsQuote) < 0 && !strings.HasSuffix(text, ":*") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func needsQuote(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r > 0x7f:
		return false
	}
	return !strings.ContainsRune("-_./:=+,@%^#~", r)
}
