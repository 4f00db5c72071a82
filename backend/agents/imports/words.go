package imports

import (
	"strings"

	"countersign/backend/policy"
)

// dialect is how an agent's pattern over a command's text is written.
type dialect struct {
	any       bool // ? stands for one character, as in OpenCode
	open      bool // a last " *" may stand for nothing even after another star, as in OpenCode
	operators bool // the agent compares texts in which operators may stand, so a restriction with one holds there
}

var (
	claudeText   = dialect{}
	openCodeText = dialect{any: true, open: true, operators: true}
	geminiText   = dialect{operators: true}
)

// piece is a part of a word: literal text, or any text (star), or any one character (one).
type piece struct {
	text      string
	star, one bool
}

// textWord is one word of a pattern over a command's text.
type textWord struct {
	pieces  []piece
	special bool // has what the shell replaces: $x, `x`, {a,b}, ~
	quoted  bool // a star stands inside quotes
}

func (w textWord) whole() bool { return len(w.pieces) == 1 && w.pieces[0].star }

func (w textWord) literal() bool {
	for _, p := range w.pieces {
		if p.star || p.one {
			return false
		}
	}
	return true
}

// textWords reads a pattern as the shell would read the words of it. The words before the place where that fails are
// returned with what failed: "operators" or "quotes".
func textWords(text string, stars bool, d dialect) (words []textWord, problem string) {
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		var w textWord
		lit := func(s string) {
			if n := len(w.pieces); n > 0 && !w.pieces[n-1].star && !w.pieces[n-1].one {
				w.pieces[n-1].text += s
			} else {
				w.pieces = append(w.pieces, piece{text: s})
			}
		}
		quote, start := byte(0), i
		for ; i < len(text); i++ {
			c := text[i]
			switch {
			case quote == 0 && (c == ' ' || c == '\t'):
			case stars && c == '*', stars && d.any && c == '?':
				w.quoted = w.quoted || quote != 0
				if n := len(w.pieces); c == '?' {
					w.pieces = append(w.pieces, piece{one: true})
				} else if n == 0 || !w.pieces[n-1].star {
					w.pieces = append(w.pieces, piece{star: true})
				}
				continue
			case quote == c:
				quote = 0
				continue
			case quote == '\'':
				lit(text[i : i+1])
				continue
			case c == '\\':
				if i+1 == len(text) {
					return words, "quotes"
				}
				i++
				if quote == '"' && !strings.ContainsRune("$`\"\\", rune(text[i])) {
					lit(`\`)
				}
				lit(text[i : i+1])
				continue
			case c == '$' || c == '`':
				w.special = true
				lit(text[i : i+1])
				continue
			case quote == '"':
				lit(text[i : i+1])
				continue
			case c == '\'' || c == '"':
				quote = c
				lit("")
				continue
			case strings.IndexByte("\n\r;&|<>()", c) >= 0, c == '#' && i == start:
				return words, "operators"
			case c == '{', c == '~' && i == start:
				w.special = true
				lit(text[i : i+1])
				continue
			default:
				lit(text[i : i+1])
				continue
			}
			break
		}
		if quote != 0 {
			return words, "quotes"
		}
		words = append(words, w)
	}
	return words, ""
}

// quoteWord writes a word so that a rule means exactly these characters.
func quoteWord(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r > 0x7f ||
			strings.ContainsRune("-_./:=+,@%^#~", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// maxAlternatives is how many rules one pattern may become.
const maxAlternatives = 8

// command carries a pattern over a command's text. stars says that * is a pattern in it.
func (it *item) command(tool, text string, stars bool, d dialect) {
	it.about(text, tool)
	if tool == policy.ToolPowerShell {
		it.differs("powershell_names")
	}
	text = strings.TrimSpace(text)
	words, problem := textWords(text, stars, d)
	starred := false
	for _, w := range words {
		starred = starred || !w.literal()
	}
	deny := it.restricts()
	switch {
	case problem == "operators" && (it.List == policy.ListAllow || starred || stars && strings.Contains(text, "*")):
		if d.operators {
			it.refuse(problem)
		} else {
			it.ineffective(problem)
		}
		return
	case problem == "operators":
		it.carry(rule(tool, text)) // compared with the whole text
		it.differs("whole_text")
		it.holds = d.operators
		return
	case problem != "" && !deny, problem != "" && len(words) == 0:
		it.refuse(problem)
		return
	case problem != "":
		it.differs("widened")
		words = append(words, textWord{pieces: []piece{{star: true}}})
	case len(words) == 0:
		it.refuse("malformed")
		return
	case len(words) == 1 && words[0].whole():
		if it.pattern = ""; it.List == policy.ListAllow {
			it.pattern = "*"
		}
		it.carry(tool)
		return
	}
	rules, codes := commandRules(words, deny, d)
	for _, code := range codes {
		if len(rules) == 0 {
			it.refuse(code)
		} else {
			it.differs(code)
		}
	}
	for _, r := range rules {
		it.carry(rule(tool, r))
	}
}

// commandRules writes a pattern as rules: for deny at least as wide, for allow at most as wide. Without a rule, the
// codes say why there is none.
func commandRules(words []textWord, deny bool, d dialect) (rules, codes []string) {
	first := words[0]
	if !deny {
		for i, w := range words {
			switch {
			case i == 0 && len(w.pieces) > 0 && w.pieces[0].star:
				return nil, []string{"any_program"}
			case w.quoted:
				return nil, []string{"quotes"}
			case w.special && !w.literal():
				return nil, []string{"special"}
			}
		}
	} else if first.special {
		return nil, []string{"special"}
	}
	stars := 0
	for _, w := range words {
		for _, p := range w.pieces {
			if p.star || p.one {
				stars++
			}
		}
	}
	last := len(words) - 1
	if stars == 1 && words[last].whole() && last > 0 {
		special := false
		head := make([]string, last)
		for i, w := range words[:last] {
			special = special || w.special
			head[i] = quoteWord(wordText(w))
		}
		if !special || !deny {
			return []string{strings.Join(head, " ") + ":*"}, nil
		}
	}
	seqs := [][]string{nil}
	each := func(alternatives ...[]string) {
		var out [][]string
		for _, s := range seqs {
			for _, a := range alternatives {
				out = append(out, append(s[:len(s):len(s)], a...))
			}
		}
		seqs = out
	}
	for i, w := range words {
		switch {
		case w.special && deny && i > 0:
			// The shell puts something else there, and the rule would look for what is written.
			codes = append(codes, "widened")
			each([]string{"*"})
		case w.literal():
			each([]string{quoteWord(wordText(w))})
		case w.whole() && i == 0:
			each([]string{"?*", "*"})
		case w.whole() && i == last:
			if deny || d.open {
				if !d.open {
					codes = append(codes, "star_may_be_nothing")
				}
				each([]string{"*"})
			} else {
				each([]string{"?*", "*"})
			}
		case w.whole() && deny:
			codes = append(codes, "star_may_be_nothing")
			each([]string{"*"})
		case w.whole():
			each([]string{"?*", "*"})
		default:
			alternatives := wordAlternatives(w, i == 0, i == last, deny)
			if len(seqs)*len(alternatives) > maxAlternatives {
				if deny {
					codes = append(codes, "widened")
					each([]string{"*"})
				} else {
					codes = append(codes, "narrowed")
					each(alternatives[0])
				}
				continue
			}
			each(alternatives...)
			for _, p := range w.pieces {
				if p.one && deny {
					codes = append(codes, "widened")
				} else if p.one {
					codes = append(codes, "narrowed")
				}
			}
		}
	}
	for _, s := range seqs {
		var out []string
		for _, w := range s {
			if w != "*" || len(out) == 0 || out[len(out)-1] != "*" {
				out = append(out, w)
			}
		}
		rules = append(rules, strings.Join(out, " "))
	}
	return rules, codes
}

func wordText(w textWord) string {
	var b strings.Builder
	for _, p := range w.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// wordAlternatives writes a word with stars in it. A star stands for any text, white space too, so each may stay
// within the word or begin and end other words: a*b is one word, or a word a…, any words, and a word …b.
func wordAlternatives(w textWord, first, last, deny bool) [][]string {
	alternatives := [][]string{{""}}
	change := func(fn func(words []string) [][]string) {
		var out [][]string
		for _, a := range alternatives {
			out = append(out, fn(append([]string(nil), a...))...)
		}
		alternatives = out
	}
	push := func(words []string, s string) []string {
		words[len(words)-1] += s
		return words
	}
	for i, p := range w.pieces {
		change(func(words []string) [][]string {
			switch {
			case p.one && !deny:
				return [][]string{push(words, "?")}
			case !p.star && !p.one:
				text := quoteWord(p.text)
				if strings.HasSuffix(text, ":") {
					text = "'" + text + "'" // x:* would be a prefix
				}
				return [][]string{push(words, text)}
			case i == 0 && first:
				return [][]string{{"*"}, {"?*", "*", "*"}}
			case i == 0:
				return [][]string{{"*", "*"}}
			case i == len(w.pieces)-1 && last:
				return [][]string{push(words, "*")}
			case i == len(w.pieces)-1:
				return [][]string{append(push(words, "*"), "*")}
			}
			words = push(words, "*")
			split := append(append([]string(nil), words...), "*", "*")
			return [][]string{words, split}
		})
		if len(alternatives) > maxAlternatives {
			if !deny {
				return alternatives[:1] // within the word, or fewer words than there could be: narrower
			}
			return append(make([][]string, 0, maxAlternatives+1), make([][]string, maxAlternatives+1)...)
		}
	}
	return alternatives
}
