package policy

import (
	"strings"
)

// redirect reads a redirection. ok is false for one that names no file.
func (r *psReader) redirect() (red foreignRedirect, ok bool) {
	for r.at < len(r.text) && r.text[r.at] != '>' {
		r.at++
	}
	for r.at < len(r.text) && r.text[r.at] == '>' {
		r.at++
	}
	if r.peek(0) == '&' {
		r.at++
		if c := r.peek(0); c < '0' || c > '9' {
			r.note("a redirection without a target")
		}
		for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
			r.at++
		}
		if r.at < len(r.text) && strings.IndexByte(" \t\n&|;<>)}", r.text[r.at]) < 0 {
			r.note("a redirection with something behind it")
		}
		return red, false
	}
	r.blank(false)
	if rest := r.text[r.at:]; len(rest) >= 5 && strings.EqualFold(rest[:5], "$null") && (len(rest) == 5 || !isPSName(rest[5]) && strings.IndexByte(".[:", rest[5]) < 0) {
		r.at += 5
		return red, false
	}
	if r.ends() {
		r.note("a redirection without a target")
		return red, false
	}
	before := r.at
	w := r.argument()
	if r.at == before {
		r.at++
	}
	return foreignRedirect{target: w, write: true}, true
}

// command reads a command and its words. called is true behind the call operator, where no word is one of the language.
func (r *psReader) command(up upstream, called bool) psValue {
	fc := foreignCommand{up: up}
	var value psValue
	alone := false // there is a redirection, which wants a command
	for r.at < len(r.text) && !r.x.full {
		r.blank(false)
		if r.at >= len(r.text) || r.ends() {
			break
		}
		c := r.text[r.at]
		if c == '>' || (c >= '0' && c <= '9' || c == '*') && r.peek(1) == '>' {
			alone = true
			if red, ok := r.redirect(); ok {
				fc.redirects = append(fc.redirects, red)
			}
			continue
		}
		if c == '<' {
			r.note("a redirection of input")
			r.at++
			continue
		}
		if len(fc.words) == 1 && c == '=' && !called {
			// A property, a key or a misread assignment: what follows may be a command.
			r.note("an assignment")
			r.at++
			r.blank(true)
			return r.pipeline()
		}
		before := r.at
		if strings.HasPrefix(r.text[r.at:], "--%") && (r.at+3 >= len(r.text) || strings.IndexByte(" \t\n", r.text[r.at+3]) >= 0) {
			fc.words = append(fc.words, r.verbatim()...)
			continue
		}
		block := c == '{'
		if block {
			r.feedBlock(up)
		}
		w := r.argument()
		if r.at == before {
			r.at++
			continue
		}
		fc.words = append(fc.words, w)
		if len(fc.words) == 1 && w.quoted {
			r.note("a name in quotes")
		}
		if len(fc.words) == 1 && !called && w.bare && w.known {
			name := strings.ToLower(w.text)
			switch {
			case name == "foreach" && r.nextIs('(') && !up.fed, name != "foreach" && name != "switch" && powerShellKeywords[name]:
				r.note("a statement of the language")
				if powerShellRestarts[name] {
					r.blank(false)
					return r.pipeline()
				}
				return r.expression(up, true)
			case name == "switch":
				r.note("a statement of the language")
			}
		}
	}
	if alone && len(fc.words) == 0 {
		r.note("a redirection without a command")
	}
	if len(fc.words) == 0 && len(fc.redirects) == 0 {
		return value
	}
	value.paths = r.x.foreign(fc, r.sh)
	if len(fc.words) == 0 {
		return value
	}
	name := strings.ToLower(fc.words[0].text)
	if other := cmdletAliases[name]; other != "" {
		name = other
	}
	for _, w := range fc.words[1:] {
		lower := strings.ToLower(w.text)
		value.deep = value.deep || len(lower) > 1 && strings.HasPrefix("-recurse", lower)
	}
	switch name {
	case "write-output", "echo", "write-host":
		for _, w := range fc.words[1:] {
			if len(value.paths) < maxUpstream && w.known && !strings.HasPrefix(w.text, "-") {
				value.paths = append(value.paths, w.text)
			}
		}
	case "where-object", "select-object", "select-string":
		value.paths, value.deep = up.paths, up.deep
		value.text = psChosen
	case "sort-object", "foreach-object", "out-string", "get-item", "resolve-path", "convert-path", "tee-object", "get-unique", "select":
		if len(value.paths) == 0 {
			value.paths, value.deep = up.paths, up.deep
		}
	case "get-childitem":
		if len(value.paths) == 0 {
			value.paths = []string{"."}
			if len(up.paths) > 0 {
				value.paths = up.paths
			}
		}
		if r.filters(fc) {
			value.text = psChosen
		}
	}
	return value
}

// filters reports whether a listing leaves something out by name.
func (r *psReader) filters(fc foreignCommand) bool {
	row := cmdlets["get-childitem"]
	plain := 0
	for i := 1; i < len(fc.words); i++ {
		w := fc.words[i]
		name := w.param
		if name == "" && w.bare && strings.HasPrefix(w.text, "-") {
			name = w.text
		}
		if name == "" {
			if plain++; plain == 2 && selects(w.word) {
				return true
			}
			continue
		}
		param, _, known := row.param(strings.ToLower(strings.TrimLeft(name, "-")))
		if !known || param.role == 's' || param.role == 'R' {
			continue
		}
		value := w.value
		if value == nil && i+1 < len(fc.words) {
			i++
			value = &fc.words[i]
		}
		if param.role == 'c' && param.name != "Exclude" && value != nil && selects(value.word) {
			return true
		}
	}
	return false
}

// feedBlock sets what $_ is in a block that stands in a command on a pipe.
func (r *psReader) feedBlock(up upstream) {
	if !up.fed {
		return
	}
	for _, name := range [...]string{"_", "psitem", "input"} {
		r.vars[name] = psValue{paths: up.paths, alts: up.paths[:min(len(up.paths), maxAlternatives)], deep: up.deep}
	}
}

func (r *psReader) nextIs(c byte) bool {
	i := r.at
	for i < len(r.text) && (r.text[i] == ' ' || r.text[i] == '\t') {
		i++
	}
	return i < len(r.text) && r.text[i] == c
}

// verbatim reads what stands behind --%: words as they are, up to the end of the line or a pipe.
func (r *psReader) verbatim() []foreignWord {
	r.note("stops parsing")
	end := strings.IndexAny(r.text[r.at:], "|\n")
	if end < 0 {
		end = len(r.text) - r.at
	}
	line := strings.TrimPrefix(r.text[r.at:r.at+end], "--%")
	r.at += end
	var out []foreignWord
	for _, text := range strings.Fields(line) {
		out = append(out, foreignWord{word: lit(strings.Trim(text, `"`)), bare: true})
		if len(out) > maxRawCommands {
			break
		}
	}
	return out
}

// argument reads one word of a command, arrays included.
func (r *psReader) argument() foreignWord {
	w := r.single()
	if !r.nextIs(',') {
		return w
	}
	elems := []foreignWord{w}
	for r.nextIs(',') && len(elems) < maxRawCommands && !r.x.full {
		r.note("an array")
		r.blank(false)
		r.at++
		r.blank(true)
		before := r.at
		e := r.single()
		if r.at == before {
			break
		}
		elems = append(elems, e)
	}
	if w.param != "" && w.value != nil { // -Path:a,b
		elems[0] = *w.value
		w.value = &foreignWord{elems: elems}
		return w
	}
	return foreignWord{elems: elems, bare: w.bare, word: w.word}
}

// single reads one word without a comma.
func (r *psReader) single() foreignWord {
	c := r.peek(0)
	switch {
	case r.at >= len(r.text):
		return foreignWord{}
	case c == '(' || (c == '$' || c == '@') && r.peek(1) == '(':
		r.note("a subexpression")
		if c != '(' {
			r.at++
		}
		r.at++
		return r.members(r.statements(')', false))
	case c == '{':
		r.note("a script block")
		r.at++
		r.statements('}', false)
		return foreignWord{word: word{quoted: true, wild: true}}
	case c == '@' && r.peek(1) == '{':
		r.note("a hash table")
		r.at += 2
		r.statements('}', true)
		return foreignWord{word: word{quoted: true, wild: true}}
	case c == '@' && (r.peek(1) == '\'' || r.peek(1) == '"'):
		return wordOf(r.hereString())
	case c == '@' && isPSName(r.peek(1)):
		r.note("splatting")
		r.at++
		start := r.at
		for r.at < len(r.text) && isPSName(r.text[r.at]) {
			r.at++
		}
		v := r.vars[strings.ToLower(r.text[start:r.at])]
		w := foreignWord{word: word{many: true, wild: true}, pairs: v.pairs}
		if len(v.pairs) == 0 {
			w.alts = v.alts
		}
		return w
	}
	return r.generic()
}

// members skips the properties and methods behind a bracket.
func (r *psReader) members(v psValue) foreignWord {
	for r.peek(0) == '.' && isPSName(r.peek(1)) || r.peek(0) == '[' {
		if r.peek(0) == '[' {
			end := strings.IndexByte(r.text[r.at:], ']')
			if end < 0 {
				break
			}
			r.at += end + 1
			v.text, v.known = "", false
			continue
		}
		r.at++
		from := r.at
		for r.at < len(r.text) && isPSName(r.text[r.at]) {
			r.at++
		}
		method := strings.ToLower(r.text[from:r.at])
		if r.peek(0) == '(' {
			r.at++
			mark := len(r.literals)
			r.statements(')', false)
			r.called(method, r.literals[min(mark, len(r.literals)):], v)
		}
		v = psValue{paths: v.paths}
	}
	return wordOf(v)
}

func wordOf(v psValue) foreignWord {
	w := foreignWord{word: word{text: v.text, known: v.known, prefix: v.text}, alts: v.alts, pairs: v.pairs}
	if !v.known {
		w.text, w.prefix, w.many = "", "", true
		if len(w.alts) == 0 {
			w.alts = v.paths[:min(len(v.paths), maxAlternatives)]
		}
	}
	return w
}

// generic reads a word of letters, quotes and variables.
func (r *psReader) generic() foreignWord {
	out := foreignWord{bare: true}
	t := psText{word: word{known: true}}
	start := r.at
	for r.at < len(r.text) && !r.x.full {
		c := r.text[r.at]
		switch {
		case strings.IndexByte(" \t\n;|&(){},<>", c) >= 0:
			goto end
		case c == '\'' || c == '"':
			if r.at == start {
				out.bare = false
			}
			t.quoted = true
			r.quote(&t)
		case c == '`':
			if r.peek(1) == '\n' {
				goto end
			}
			r.note("an escaped sign")
			r.at++
			t.literal(r.escaped())
		case c == '$' && r.peek(1) == '(':
			r.note("a subexpression")
			r.at += 2
			t.value(r.statements(')', false))
		case c == '$' && (isPSName(r.peek(1)) || strings.IndexByte("{?^$", r.peek(1)) >= 0 && r.peek(1) != 0):
			whole := r.at == start
			_, v := r.variable(true)
			if whole && (r.at >= len(r.text) || strings.IndexByte(" \t\n;|&(){},<>", r.text[r.at]) >= 0) {
				w := wordOf(v)
				w.bare = false
				return w
			}
			t.value(v)
		case c == ':' && out.param == "" && r.at > start+1 && t.known && isParam(r.text[start:r.at]):
			// -Name:value, also with a blank behind the colon.
			out.param = string(t.buf)
			r.at++
			r.blank(false)
			if r.at >= len(r.text) || r.ends() {
				t.literal(":")
				goto end
			}
			before := r.at
			value := r.single()
			if r.at == before {
				goto end
			}
			out.value = &value
			t.literal(":" + value.text)
			out.word = t.done()
			out.known = out.known && value.known
			return out
		default:
			if strings.IndexByte("$@[]%^!*?#~", c) >= 0 {
				r.note("a sign that may mean something")
			}
			next := r.at + 1
			for next < len(r.text) && plainPSByte[r.text[next]] {
				next++
			}
			t.literal(r.text[r.at:next])
			r.at = next
		}
	}
end:
	out.word, out.alts = t.done(), t.alts
	return out
}

// isParam reports whether a text is a dash and a name.
func isParam(text string) bool {
	if len(text) < 2 || text[0] != '-' {
		return false
	}
	for i := 1; i < len(text); i++ {
		if !isPSName(text[i]) {
			return false
		}
	}
	return true
}

// plainPSByte are the bytes that mean nothing inside a word.
var plainPSByte = func() (out [256]bool) {
	for i := range out {
		out[i] = i > ' ' && strings.IndexByte("$@[]%^!*?#~ \t\n;|&(){},<>'\"`:", byte(i)) < 0
	}
	return out
}()
