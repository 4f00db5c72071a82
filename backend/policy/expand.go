package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// piece is a part of a word before field splitting.
type piece struct {
	text    string
	pattern string   // text with quoted pattern characters escaped
	quoted  bool     // not split and not a pattern
	split   bool     // a known value that came from an unquoted expansion: split on white space
	unknown bool     // the value is not known
	cands   []string // constants the unknown value may be
	assumed bool
	glob    bool
	tame    bool
	echoes  bool
	subst   bool
}

// Limits of expansion: what is over them is opaque, never skipped.
const (
	maxBraceWords = 256
	maxReadings   = 16 // readings of one command that differ by the values of its variables
	maxCandidates = 8  // values of one variable
)

// pieces expands one word. Substitutions inside it are analysed by the caller (substitutions).
func (x *analysis) pieces(parts []syntax.WordPart, quoted bool, out []piece) []piece {
	for i, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if quoted {
				out = append(out, quotedPiece(unescapeDouble(part.Value)))
			} else {
				out = x.literalPieces(part.Value, i == 0 && len(out) == 0, i+1 < len(parts), out)
			}
		case *syntax.SglQuoted:
			text, ok := part.Value, true
			if part.Dollar {
				text, ok = unescapeAnsi(part.Value)
			}
			if !ok {
				x.opaque("unreadable $'…' text")
			}
			out = append(out, quotedPiece(text))
		case *syntax.DblQuoted:
			if part.Dollar {
				x.opaque(`translated $"…" text`)
			}
			if len(part.Parts) == 0 {
				out = append(out, quotedPiece(""))
			}
			out = x.pieces(part.Parts, true, out)
		case *syntax.ParamExp:
			out = append(out, x.parameter(part, quoted))
		case *syntax.CmdSubst:
			out = append(out, piece{unknown: true, quoted: quoted, subst: true, cands: echoed(part.Stmts)})
		case *syntax.ProcSubst:
			out = append(out, piece{unknown: true, quoted: true, subst: true, tame: true})
		case *syntax.ArithmExp:
			out = append(out, piece{unknown: true, quoted: quoted, tame: true, echoes: true})
		case *syntax.ExtGlob:
			x.opaque("extended pattern")
			out = append(out, piece{unknown: true, glob: true})
		case *syntax.BraceExp: // a sequence that was not expanded
			out = append(out, piece{unknown: true})
		default:
			x.opaque("unknown syntax")
			out = append(out, piece{unknown: true})
		}
	}
	return out
}

func quotedPiece(text string) piece {
	return piece{text: text, pattern: escapePattern(text), quoted: true}
}

func escapePattern(text string) string {
	if !strings.ContainsAny(text, `*?[]{}\`) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(`*?[]{}\`, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// literalPieces reads an unquoted literal: backslashes, a leading tilde, pattern characters.
// A bracket that the same literal does not close may be closed by a later one: .en[""v] is a pattern (more says whether
// there is one).
func (x *analysis) literalPieces(value string, first, more bool, out []piece) []piece {
	if first && strings.HasPrefix(value, "~") {
		name, rest, _ := strings.Cut(value[1:], "/")
		switch {
		case name == "":
			out = append(out, x.tilde())
			value = value[1:]
		case name == "+" && len(x.dirs.list) == 1:
			here := x.dirs.list[0].logical
			out = append(out, piece{text: here, pattern: escapePattern(here), quoted: true, assumed: true})
			value = value[2:]
		case strings.IndexFunc(name, needsQuote) < 0:
			// Another user's home, or the old directory: a path nobody here knows.
			out = append(out, piece{unknown: true, quoted: true})
			value = strings.TrimSuffix("/"+rest, "/")
		}
	}
	var text, pattern strings.Builder
	glob, opened := false, false
	for _, p := range out {
		opened = opened || p.glob
	}
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && i+1 < len(value):
			i++
			if value[i] == '\n' {
				continue
			}
			text.WriteByte(value[i])
			pattern.WriteString(escapePattern(value[i : i+1]))
			continue
		case c == '*' || c == '?' || c == '[' && (strings.IndexByte(value[i:], ']') > 1 || more):
			glob = true
		case c == '{' || c == '}' || c == '[' || c == ']':
			if !((glob || opened) && c == ']') {
				pattern.WriteByte('\\')
			}
		}
		text.WriteByte(c)
		pattern.WriteByte(c)
	}
	return append(out, piece{text: text.String(), pattern: pattern.String(), glob: glob})
}

// tilde is the home directory, unless the text itself gives HOME another value.
func (x *analysis) tilde() piece {
	home := x.home()
	if v, ok := x.vars.byName["HOME"]; ok {
		return piece{unknown: true, quoted: true, cands: append([]string{home}, v.cands...)}
	}
	return piece{text: home, pattern: escapePattern(home), quoted: true, assumed: true}
}

// unescapeDouble removes the backslashes that double quotes remove.
func unescapeDouble(value string) string {
	if strings.IndexByte(value, '\\') < 0 {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) && strings.IndexByte("$`\"\\\n", value[i+1]) >= 0 {
			i++
			if value[i] == '\n' {
				continue
			}
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// unescapeAnsi decodes the inside of $'…' (bash(1), QUOTING). ok is false for a NUL, which
// ends the string in bash, and for what shells decode in different ways; then text is a guess for deny rules.
func unescapeAnsi(value string) (text string, ok bool) {
	var b strings.Builder
	sure := true
	number := func(i, base, limit int) (n int64, next int) {
		end := i
		for end < len(value) && end-i < limit {
			if _, err := strconv.ParseUint(value[end:end+1], base, 8); err != nil {
				break
			}
			end++
		}
		n, _ = strconv.ParseInt(value[i:end], base, 64)
		return n, end
	}
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' || i+1 >= len(value) {
			b.WriteByte(value[i])
			continue
		}
		i++
		switch c := value[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'e', 'E':
			b.WriteByte(27)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte(11)
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		case 'x', 'u', 'U':
			if c == 'x' && strings.HasPrefix(value[i+1:], "{") {
				// bash takes all digits of \x{2f}, keeps one byte and forgives a missing bracket; other shells do not.
				n, next := number(i+2, 16, len(value))
				b.WriteByte(byte(n))
				i, sure = next-1, false
				if next < len(value) && value[next] == '}' {
					i = next
				}
				continue
			}
			n, next := number(i+1, 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c])
			if next == i+1 {
				b.WriteString(value[i-1 : i+1])
				continue
			}
			if n == 0 || n > utf8.MaxRune {
				return b.String(), false
			}
			if c == 'x' {
				b.WriteByte(byte(n))
			} else {
				b.WriteRune(rune(n))
			}
			i = next - 1
		case 'c':
			return b.String(), false
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, next := number(i, 8, 3)
			if n&0xff == 0 {
				return b.String(), false
			}
			b.WriteByte(byte(n))
			i = next - 1
		default:
			b.WriteString(value[i-1 : i+1])
		}
	}
	return b.String(), sure
}

// echoed returns what a substitution prints when it is a plain echo or printf of literal words: a candidate, never a
// certainty.
func echoed(stmts []*syntax.Stmt) []string {
	if len(stmts) != 1 || len(stmts[0].Redirs) > 0 {
		return nil
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	var words []string
	for _, w := range call.Args {
		text, ok := plainWord(w)
		if !ok {
			return nil
		}
		words = append(words, text)
	}
	switch words[0] {
	case "echo", "printf":
		words = words[1:]
		for len(words) > 1 && strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
		out := []string{strings.Join(words, " ")}
		if strings.HasPrefix(words[0], "%") && len(words) > 1 {
			out = append(out, strings.Join(words[1:], " "), strings.Join(words[1:], ""))
		}
		return out
	}
	return nil
}

// plainWord returns the value of a word that has no expansion at all.
func plainWord(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.HasPrefix(part.Value, "~") && b.Len() == 0 {
				return "", false
			}
			for i := 0; i < len(part.Value); i++ {
				if part.Value[i] == '\\' && i+1 < len(part.Value) {
					i++
				}
				b.WriteByte(part.Value[i])
			}
		case *syntax.SglQuoted:
			text, ok := part.Value, true
			if part.Dollar {
				text, ok = unescapeAnsi(part.Value)
			}
			if !ok {
				return "", false
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				l, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescapeDouble(l.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}
