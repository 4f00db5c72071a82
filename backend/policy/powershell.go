package policy

import (
	"strings"
)

// psReader reads a text of PowerShell once, from left to right, and records every simple command in it: of pipelines
// and lists, script blocks, subexpressions (those in strings too), hash tables and the bodies of statements. It is no
// parser of the language: where it is in doubt whether a command begins, one begins. What is more than a list of
// plain words is noted, so that no allow rule covers it.
type psReader struct {
	x        *analysis
	text     string
	at       int
	depth    int
	sh       foreignShell
	noted    bool
	broken   bool
	vars     map[string]psValue
	literals []string // texts in quotes, in order
}

// psValue is what is known of a value.
type psValue struct {
	text  string
	known bool
	alts  []string
	paths []string // what its objects were read from
	deep  bool
	pairs []foreignWord
}

// psNesting bounds the reader's recursion.
const psNesting = MaxNesting

// psDashes and psQuotes are the signs that PowerShell takes for - ' and ".
var psSigns = strings.NewReplacer("\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2018", "'", "\u2019", "'", "\u201a", "'",
	"\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u00a0", " ", "\u0085", " ", "\r\n", "\n", "\r", "\n", "\f", " ", "\v", " ")

func readPowerShell(x *analysis, text string, sh foreignShell) {
	r := &psReader{x: x, text: psSigns.Replace(text), sh: sh, vars: map[string]psValue{}}
	if r.text != text {
		r.note("a sign that only looks like another")
	}
	first := len(x.f.commands)
	r.statements(0, false)
	if r.broken {
		x.opaque("cannot be read")
		x.rawAccesses(text, sh)
	}
	if len(x.f.commands) == first {
		r.note("no command")
	}
}

// note records why the text is more than a list of plain words; the first reason is enough.
func (r *psReader) note(why string) {
	if !r.noted {
		r.noted = true
		r.x.opaque(why)
	}
}

func (r *psReader) peek(n int) byte {
	if r.at+n < len(r.text) {
		return r.text[r.at+n]
	}
	return 0
}

// blank skips blanks and joined lines; lines too where the language does.
func (r *psReader) blank(lines bool) {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ', c == '\t', lines && c == '\n':
			r.at++
		case c == '`' && r.peek(1) == '\n':
			r.note("a joined line")
			r.at += 2
		case c == '#':
			r.note("a comment")
			r.comment()
		case c == '<' && r.peek(1) == '#':
			r.note("a comment")
			end := strings.Index(r.text[r.at:], "#>")
			if end < 0 {
				r.broken = true
				r.at = len(r.text)
				return
			}
			r.at += end + 2
		default:
			return
		}
	}
}

func (r *psReader) comment() {
	if end := strings.IndexByte(r.text[r.at:], '\n'); end >= 0 {
		r.at += end
		return
	}
	r.at = len(r.text)
}

// statements reads up to the closing sign, or to the end of the text. The value is that of a single statement.
func (r *psReader) statements(close byte, hash bool) psValue {
	var out psValue
	count := 0
	if r.depth++; r.depth > psNesting {
		r.broken = true
		r.at = len(r.text)
	}
	defer func() { r.depth-- }()
	for r.at < len(r.text) && !r.x.full {
		r.blank(true)
		if r.at >= len(r.text) {
			break
		}
		c := r.text[r.at]
		switch {
		case c == close:
			r.at++
			if count != 1 {
				out.text, out.known, out.alts = "", false, nil
			}
			return out
		case c == ';':
			r.at++
			continue
		case c == ',', c == '|', c == '&' && r.peek(1) == '&':
			r.note("a sign that joins nothing")
			r.at++
			continue
		case c == ')' || c == '}' || c == ']':
			r.note("an unbalanced bracket")
			r.broken = true
			r.at++
			continue
		}
		before := r.at
		if hash {
			key := r.hashKey()
			v := r.pipeline()
			if key != "" {
				w := foreignWord{word: word{text: v.text, known: v.known, prefix: v.text}, alts: v.alts}
				pair := foreignWord{word: lit("-" + key + ":" + v.text), bare: true, param: "-" + key, value: &w}
				if len(out.pairs) < maxUpstream {
					out.pairs = append(out.pairs, pair)
				}
			}
		} else {
			v := r.pipeline()
			paths, deep := append(out.paths, v.paths...), out.deep || v.deep
			out.text, out.known, out.alts, out.deep = v.text, v.known, v.alts, deep
			out.paths = paths[:min(len(paths), maxUpstream)]
		}
		count++
		if r.at == before {
			r.at++ // whatever it is, it is not read twice
		}
	}
	if close != 0 {
		r.broken = true
	}
	return psValue{}
}

// hashKey reads the name before the equals sign of a hash table's entry.
func (r *psReader) hashKey() string {
	i := r.at
	for i < len(r.text) && strings.IndexByte("=;\n}{($", r.text[i]) < 0 {
		i++
	}
	if i >= len(r.text) || r.text[i] != '=' {
		return ""
	}
	key := strings.Trim(r.text[r.at:i], " \t'\"")
	r.at = i + 1
	r.blank(true)
	return key
}

// ends reports whether a statement or an element of a pipeline ends here.
func (r *psReader) ends() bool {
	switch r.peek(0) {
	case 0:
		return r.at >= len(r.text)
	case ';', '\n', '|', ')', '}':
		return true
	case '&':
		return true
	}
	return false
}

// pipeline reads one statement: elements joined by pipes, and by && and ||.
func (r *psReader) pipeline() psValue {
	var up upstream
	if r.depth++; r.depth > 2*psNesting {
		r.broken = true
		r.at = len(r.text)
	}
	defer func() { r.depth-- }()
	for {
		r.blank(false)
		v := r.element(up)
		switch {
		case r.peek(0) == '|' && r.peek(1) == '|', r.peek(0) == '&' && r.peek(1) == '&':
			r.at += 2
			up = upstream{}
		case r.peek(0) == '|':
			r.at++
			up = upstream{fed: true, paths: v.paths, deep: v.deep || up.deep, chosen: up.chosen}
			if v.chosen() {
				up.chosen = true
			}
			if v.known && v.text != "" && len(v.paths) == 0 {
				up.paths = []string{v.text}
			}
		case r.peek(0) == '&':
			r.note("a background job")
			r.at++
			return v
		default:
			return v
		}
		r.blank(true)
	}
}

// psChosen marks the value of a command that lets only some of its objects through.
const psChosen = "\x00chosen"

func (v psValue) chosen() bool { return !v.known && v.text == psChosen }

// element reads one element of a pipeline: a command or an expression.
func (r *psReader) element(up upstream) psValue {
	c := r.peek(0)
	switch {
	case r.ends() && c != '&':
		return psValue{}
	case c == '&':
		r.note("the call operator")
		r.at++
		r.blank(false)
		return r.command(up, true)
	case c == '.' && strings.IndexByte(" \t'\"$({", r.peek(1)) >= 0:
		r.note("a file is run in this shell")
		r.at++
		r.blank(false)
		at := r.at
		v := r.command(up, true)
		r.sourced(r.text[at:r.at])
		return v
	case strings.IndexByte("'\"$([{@+-!,<>=", c) >= 0, c >= '0' && c <= '9' && !r.namelike():
		r.note("an expression")
		return r.expression(up, false)
	}
	return r.command(up, false)
}

// sourced records that the file of a text behind a dot is read.
func (r *psReader) sourced(text string) {
	name, _, _ := strings.Cut(strings.Trim(text, " \t"), " ")
	if name = strings.Trim(name, `'"`); name != "" && strings.IndexByte("{($", name[0]) < 0 && len(r.x.f.commands) > 0 {
		r.x.touch(len(r.x.f.commands)-1, lit(name), 'r', false, false, true)
	}
}

// namelike reports whether a word that begins with a digit is a name: 7z.
func (r *psReader) namelike() bool {
	i := r.at
	for i < len(r.text) && (r.text[i] >= '0' && r.text[i] <= '9') {
		i++
	}
	return i < len(r.text) && (r.text[i]|0x20 >= 'a' && r.text[i]|0x20 <= 'z' || r.text[i] == '-' || r.text[i] == '_')
}

// expression reads up to the end of an element. A statement of the language is read the same way: its blocks and
// brackets hold statements, and it ends behind a block.
func (r *psReader) expression(up upstream, statement bool) psValue {
	out := psValue{known: true}
	name, assigned := "", true // the variable that is assigned, when nothing else came before
	var redirects []foreignRedirect
	pieces := 0
	firstLiteral := len(r.literals)
	unknown := func() { out.known, out.text = false, "" }
	add := func(v psValue) {
		pieces++
		out.text += v.text
		out.known = out.known && v.known
		out.paths = append(out.paths, v.paths...)
		if len(v.alts) > 0 && len(v.paths) == 0 {
			out.alts = append(out.alts, v.alts...)
			out.paths = append(out.paths, v.alts...)
		}
		out.deep = out.deep || v.deep
		out.pairs = append(out.pairs, v.pairs...)
		out.paths = out.paths[:min(len(out.paths), maxUpstream)]
		out.alts = out.alts[:min(len(out.alts), maxAlternatives)]
	}
	for r.at < len(r.text) && !r.x.full {
		r.blank(false)
		if r.at >= len(r.text) {
			break
		}
		c := r.text[r.at]
		switch {
		case c == '&' && r.peek(1) != '&' || c == ']' || c == '[':
			if c == '&' {
				goto end
			}
			if c == '[' && pieces > 0 {
				unknown()
			}
			r.at++
			continue
		case r.ends():
			goto end
		case c == '\'' || c == '"':
			v := r.quoted()
			r.literals = append(r.literals, v.texts()...)
			r.literals = r.literals[:min(len(r.literals), maxRawCommands)]
			add(v)
			assigned = false
		case c == '@' && (r.peek(1) == '\'' || r.peek(1) == '"'):
			add(r.hereString())
			assigned = false
		case c == '@' && r.peek(1) == '{':
			r.at += 2
			v := r.statements('}', true)
			pieces++
			unknown()
			out.pairs = append(out.pairs, v.pairs...)
			assigned = false
		case c == '(' || (c == '@' || c == '$') && r.peek(1) == '(':
			method := r.method()
			if c != '(' {
				r.at++
			}
			r.at++
			mark := len(r.literals)
			v := r.statements(')', false)
			if method != "" {
				r.called(method, r.literals[min(mark, len(r.literals)):], out)
				unknown()
			} else {
				add(v)
			}
			assigned = false
		case c == '{':
			r.at++
			r.statements('}', false)
			unknown()
			assigned = false
			if statement {
				goto end
			}
		case c == '$':
			n, v := r.variable(true)
			if assigned && name == "" && pieces == 0 {
				name = n
			}
			add(v)
		case c == '=':
			r.at++
			if r.peek(0) == '=' {
				r.at++
			}
			r.blank(true)
			v := r.pipeline()
			if name != "" {
				r.set(name, v)
			}
			return v
		case c == '>' || c >= '0' && c <= '9' && r.peek(1) == '>' || c == '*' && r.peek(1) == '>':
			if red, ok := r.redirect(); ok {
				redirects = append(redirects, red)
			}
		case c == '+' && r.peek(1) != '=' && r.peek(1) != '+':
			r.at++ // texts that are joined stay known
		case c == '+' || c == '-' && r.peek(1) == '=' || c == '*' || c == '/' || c == '%' || c == '?':
			if r.peek(1) != '=' && !(c == '?' && r.peek(1) == '?') {
				unknown()
			}
			r.at++
		case isPSName(c):
			start := r.at
			for r.at < len(r.text) && isPSName(r.text[r.at]) {
				r.at++
			}
			w := strings.ToLower(r.text[start:r.at])
			switch {
			case powerShellRestarts[w] && (start == 0 || strings.IndexByte(".:-$", r.text[start-1]) < 0):
				r.blank(true)
				v := r.pipeline()
				if name != "" {
					r.set(name, v)
				}
				return v
			case start > 0 && r.text[start-1] == '-':
				if w != "join" { // 'r','m' -join '' is rm
					unknown()
				}
			case start > 0 && r.text[start-1] == '.':
				if !psSamePath[w] {
					unknown()
				}
			case start > 0 && r.text[start-1] == '[', start > 0 && r.text[start-1] == ':':
			default:
				unknown()
			}
		default:
			if c == '`' {
				r.at++
			}
			if c == ',' && pieces > 0 {
				unknown()
			}
			r.at++
		}
	}
end:
	if !out.known || pieces == 0 {
		unknown()
		if pieces == 0 {
			out.paths = nil
		}
	}
	if len(out.alts) > 0 {
		out.known = false
	}
	if firstLiteral < len(r.literals) && len(out.paths) == 0 {
		out.paths = append(out.paths, r.literals[firstLiteral:min(len(r.literals), firstLiteral+maxUpstream)]...)
	}
	if len(redirects) > 0 {
		r.x.foreign(foreignCommand{redirects: redirects, up: up}, r.sh)
	}
	return out
}
