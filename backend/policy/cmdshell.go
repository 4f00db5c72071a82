package policy

import "strings"

// cmdReader reads a text of cmd once: commands joined by & && | || and lines, in groups, behind if and for. What is
// more than plain words is noted, so that no allow rule covers it.
type cmdReader struct {
	x      *analysis
	text   string
	at     int
	sh     foreignShell
	noted  bool
	broken bool
	open   int // groups
	vars   map[string][]string
}

func readCmd(x *analysis, text string, sh foreignShell) {
	r := &cmdReader{x: x, text: strings.ReplaceAll(text, "\r", "\n"), sh: sh, vars: map[string][]string{}}
	if strings.IndexByte(text, '\r') >= 0 {
		r.note("a line that not everybody ends there")
	}
	first := len(x.f.commands)
	up := upstream{}
	for r.at < len(r.text) && !x.full {
		up = r.command(up)
	}
	if r.broken {
		x.opaque("cannot be read")
		x.rawAccesses(text, sh)
	}
	if len(x.f.commands) == first {
		r.note("no command")
	}
}

func (r *cmdReader) note(why string) {
	if !r.noted {
		r.noted = true
		r.x.opaque(why)
	}
}

func (r *cmdReader) peek(n int) byte {
	if r.at+n < len(r.text) {
		return r.text[r.at+n]
	}
	return 0
}

// cmdBlanks separate words outside quotes. Blank and tab do everywhere; the others are taken for separators by the
// builtins.
const cmdBlanks = " \t,;=\v\f\u00a0"

// command reads one command with its redirections. It returns what it gives to the next one.
func (r *cmdReader) command(up upstream) upstream {
	fc := foreignCommand{up: up}
	next := upstream{}
	alone := false // there is a redirection, which wants a command
	for r.at < len(r.text) && !r.x.full {
		c := r.text[r.at]
		switch {
		case c == '\n':
			r.at++
			goto end
		case c == '&':
			r.at++
			if r.peek(0) == '&' {
				r.at++
			}
			goto end
		case c == '|':
			r.at++
			if r.peek(0) == '|' {
				r.at++
			} else {
				next.fed = true
			}
			goto end
		case c == '(' && (len(fc.words) == 0 || r.opensGroup(fc)):
			r.note("a group")
			r.at++
			r.open++
			if len(fc.words) > 0 {
				r.forSet(&fc)
				continue
			}
			goto end
		case c == ')' && r.open > 0:
			r.at++
			r.open--
			if r.inFor(fc) {
				continue
			}
			goto end
		case c == '@' && len(fc.words) == 0:
			r.note("a hidden command")
			r.at++
		case c == '>' || c == '<' || c >= '0' && c <= '9' && (r.peek(1) == '>' || r.peek(1) == '<') && r.fresh():
			alone = true
			if red, ok := r.redirect(); ok {
				fc.redirects = append(fc.redirects, red)
			}
		case c == ' ' || c == '\t':
			r.at++
		case strings.IndexByte(",;=\v\f", c) >= 0:
			r.note("a sign that separates words")
			r.at++
		default:
			before := r.at
			w := r.word(len(fc.words) == 0)
			if r.at == before {
				r.at++
				continue
			}
			if len(fc.words) == 0 && w.quoted {
				r.note("a name in quotes")
			}
			if len(fc.words) == 0 {
				fc.words = append(fc.words, r.splitName(w)...)
			} else {
				fc.words = append(fc.words, w)
			}
			if w.bare && (strings.EqualFold(w.text, "do") || strings.EqualFold(w.text, "else")) && len(fc.words) > 1 {
				r.note("a statement of the language")
				loop := fc
				r.x.foreign(loop, r.sh)
				fc = foreignCommand{}
			}
		}
	}
end:
	if alone && len(fc.words) == 0 {
		r.note("a redirection without a command")
	}
	if len(fc.words) == 0 && len(fc.redirects) == 0 {
		return next
	}
	paths := r.x.foreign(fc, r.sh)
	if len(fc.words) == 0 {
		return next
	}
	switch strings.ToLower(fc.words[0].text) {
	case "set":
		r.set(fc.words[1:])
	case "if":
		r.condition(fc)
	case "echo":
		next.paths = []string{strings.Join(textsOf(flat(fc.words[1:])), " ")}
	default:
		next.paths = paths
	}
	return next
}

// fresh reports whether a digit here begins a word, so that it is the number of a redirection.
func (r *cmdReader) fresh() bool {
	return r.at == 0 || strings.IndexByte(cmdBlanks+"\n&|()\"", r.text[r.at-1]) >= 0
}

// opensGroup reports whether a bracket behind these words opens a group: the set of a for, the body of an if.
func (r *cmdReader) opensGroup(fc foreignCommand) bool {
	first := strings.ToLower(fc.words[0].text)
	return (first == "for" || first == "if" || first == "else") && len(fc.words) > 1
}

func (r *cmdReader) inFor(fc foreignCommand) bool {
	return len(fc.words) > 0 && strings.EqualFold(fc.words[0].text, "for")
}

// forSet reads the set of a for: its words are what the variable may be, and a text in it may be a command.
func (r *cmdReader) forSet(fc *foreignCommand) {
	if !r.inFor(*fc) {
		// The body of an if: what stands before is the condition.
		r.x.foreign(*fc, r.sh)
		*fc = foreignCommand{}
		return
	}
	end := strings.IndexByte(r.text[r.at:], ')')
	if end < 0 {
		r.broken = true
		return
	}
	body := r.text[r.at : r.at+end]
	name := ""
	for _, w := range fc.words[1:] {
		if strings.HasPrefix(w.text, "%") || w.prefix != "" && w.prefix[0] == '%' {
			name = strings.TrimLeft(w.text, "%")
		}
	}
	command := strings.Trim(strings.TrimSpace(body), "'`\"")
	for _, w := range fc.words {
		if strings.EqualFold(w.text, "/f") {
			r.x.foreignText(strings.ReplaceAll(command, "^", ""), r.sh.inside(r.sh.parent, cmdSyntax))
			r.x.rawAccesses(command, r.sh)
		}
	}
	if name == "" {
		return
	}
	for _, text := range strings.FieldsFunc(body, func(c rune) bool { return strings.ContainsRune(cmdBlanks, c) }) {
		if list := r.vars["%"+name]; len(list) < maxAlternatives {
			r.vars["%"+name] = append(list, strings.Trim(text, "\"'`"))
		}
	}
}

// condition looks for the command behind an if: every word of it at which one may begin.
func (r *cmdReader) condition(fc foreignCommand) {
	r.note("a statement of the language")
	i := 1
	for i < len(fc.words) {
		lower := strings.ToLower(fc.words[i].text)
		if lower != "/i" && lower != "not" {
			break
		}
		i++
	}
	if i >= len(fc.words) {
		return
	}
	sh := r.sh
	sh.guess = true
	for j := i + 1; j < len(fc.words) && j < i+4; j++ {
		if fc.words[j].known && r.x.knownForeign(fc.words[j].text, cmdSyntax) {
			inner := foreignCommand{words: append(r.splitName(fc.words[j]), fc.words[j+1:]...)}
			r.x.foreign(inner, sh)
		}
	}
}

// set remembers NAME=value; the equals sign has separated the words.
func (r *cmdReader) set(words []foreignWord) {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "/") {
		words = words[1:]
	}
	if len(words) == 0 || !words[0].known {
		return
	}
	name, value, ok := strings.Cut(words[0].text, "=")
	if !ok {
		value = strings.Join(textsOf(flat(words[1:])), " ")
	} else if len(words) > 1 {
		value += " " + strings.Join(textsOf(flat(words[1:])), " ")
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if list := r.vars[name]; len(list) < maxAlternatives && len(r.vars) < maxRawCommands {
		r.vars[name] = append(list, value)
	}
}

// splitName splits a builtin from what stands against it: del/s, echo.x, cd\.
func (r *cmdReader) splitName(w foreignWord) []foreignWord {
	i := strings.IndexAny(w.text, `/\.:+[]"`)
	if i <= 0 || !w.bare {
		return []foreignWord{w}
	}
	name := strings.ToLower(w.text[:i])
	if !cmdInternal[name] && (w.text[i] != '/' || natives[name] == nil && usages[name] == nil && !interpreterName(name)) {
		if w.text[i] == '/' {
			r.note("a name with a slash")
		}
		return []foreignWord{w}
	}
	if name == "cd" && strings.HasPrefix(w.text[i:], ".") || name == "cd" && strings.HasPrefix(w.text[i:], `\`) {
		r.note("a builtin and its argument in one word")
		return []foreignWord{{word: lit(w.text[:i]), bare: true}, {word: lit(w.text[i:]), bare: true}}
	}
	if w.text[i] == '.' && len(w.text) > i+1 && strings.Trim(w.text[i+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return []foreignWord{w} // copy.exe
	}
	r.note("a builtin and its argument in one word")
	rest := w
	rest.text, rest.prefix = w.text[i:], w.text[i:]
	for k := range rest.alts {
		rest.alts[k] = strings.TrimPrefix(rest.alts[k], w.text[:i])
	}
	return []foreignWord{{word: lit(w.text[:i]), bare: true}, rest}
}

// redirect reads a redirection. ok is false for one that names no file.
func (r *cmdReader) redirect() (red foreignRedirect, ok bool) {
	for r.peek(0) >= '0' && r.peek(0) <= '9' {
		r.at++
	}
	red.write = r.peek(0) == '>'
	if !red.write {
		r.note("a redirection of input")
	}
	for r.peek(0) == '>' || r.peek(0) == '<' {
		r.at++
	}
	if r.peek(0) == '&' {
		r.at++
		if c := r.peek(0); c < '0' || c > '9' {
			r.note("a redirection without a target")
		}
		for r.peek(0) >= '0' && r.peek(0) <= '9' {
			r.at++
		}
		if r.at < len(r.text) && strings.IndexByte(" \t\n&|<>)", r.text[r.at]) < 0 {
			r.note("a redirection with something behind it")
		}
		return red, false
	}
	for r.at < len(r.text) && strings.IndexByte(" \t,;=", r.text[r.at]) >= 0 {
		r.at++
	}
	before := r.at
	red.target = r.word(false)
	if r.at == before {
		r.note("a redirection without a target")
		return red, false
	}
	return red, true
}

// word reads one word.
func (r *cmdReader) word(first bool) foreignWord {
	out := foreignWord{bare: r.peek(0) != '"'}
	t := psText{word: word{known: true}}
	quoted := false
	for r.at < len(r.text) && !r.x.full {
		c := r.text[r.at]
		switch {
		case c == '"':
			quoted = !quoted
			t.quoted = true
			r.at++
		case c == '\n':
			if quoted {
				r.note("a quote that is not closed")
			}
			goto end
		case c == '^' && !quoted:
			r.note("an escaped sign")
			r.at++
			if r.peek(0) == '\n' {
				r.at++
			} else if r.at < len(r.text) {
				t.literal(r.text[r.at : r.at+1])
				r.at++
			}
		case c == '%' || c == '!':
			r.expand(&t, c)
		case !quoted && (strings.IndexByte(cmdBlanks, c) >= 0 || strings.IndexByte("&|<>", c) >= 0 || c == ')' && r.open > 0):
			goto end
		case !quoted && c == '(' && first && cmdInternal[strings.ToLower(string(t.buf[:min(len(t.buf), maxCmdName)]))]:
			r.note("a group")
			goto end
		default:
			if strings.IndexByte("()@*?$`^", c) >= 0 && !(quoted && c != '^') {
				r.note("a sign that may mean something")
			}
			stop := r.at + 1
			for stop < len(r.text) && plainCmdByte[r.text[stop]] {
				stop++
			}
			t.literal(r.text[r.at:stop])
			r.at = stop
		}
	}
	if quoted {
		r.note("a quote that is not closed")
	}
end:
	out.word, out.alts = t.done(), t.alts
	out.many = false
	return out
}

// expand reads %NAME%, !NAME!, %1, %i and %%i. What is not known is nothing: an undefined variable is empty in a file.
func (r *cmdReader) expand(t *psText, sign byte) {
	r.note("a variable")
	rest := r.text[r.at+1:]
	if sign == '%' && len(rest) > 0 && rest[0] == '%' { // %%i
		r.at++
		rest = rest[1:]
	}
	end := strings.IndexByte(rest, sign)
	if end > 0 && end < maxCmdName && !strings.ContainsAny(rest[:end], "\n&|<>\"") {
		name := strings.ToLower(rest[:end])
		if values := r.value(name); len(values) > 0 || sign == '!' || !strings.ContainsAny(name, " /") {
			r.at += end + 2
			t.value(psValue{alts: values})
			return
		}
	}
	// The variable of a loop, or an argument: %i, %~dpi, %1, %*.
	n := 0
	for n < len(rest) && rest[n] == '~' || n > 0 && n+1 < len(rest) && strings.IndexByte("fdpnxsatz", rest[n]) >= 0 && isPSName(rest[n+1]) {
		n++
	}
	if n < len(rest) && (isPSName(rest[n]) || rest[n] == '*') {
		name := "%" + rest[n:n+1]
		r.at += 2 + n
		if values := r.vars[name]; len(values) > 0 {
			t.value(psValue{alts: values})
			return
		}
		t.literal(name)
		t.known = false
		return
	}
	t.literal(string(sign))
	r.at++
}

// maxCmdName bounds a variable's name.
const maxCmdName = 64

// value returns what a variable may hold, as far as that is known.
func (r *cmdReader) value(name string) []string {
	name, _, cut := strings.Cut(name, ":")
	if cut {
		return nil // a part of it, or with something replaced
	}
	if list := r.vars[name]; len(list) > 0 {
		return list
	}
	if name == "cd" && len(r.x.dirs.list) > 0 {
		return []string{r.x.dirs.list[0].physical}
	}
	home := r.x.home()
	if name == "homepath" && len(home) > 2 {
		return []string{home[2:]}
	}
	text, ok := homeVariables["env:"+name]
	if !ok {
		return nil
	}
	if rest, below := strings.CutPrefix(text, "~"); below {
		if home == "" {
			return nil
		}
		text = home + rest
	}
	return []string{text}
}

// plainCmdByte are the bytes that mean nothing inside a word.
var plainCmdByte = func() (out [256]bool) {
	for i := range out {
		out[i] = i > ' ' && strings.IndexByte("()@*?$`^%!\"&|<>,;=\v\f", byte(i)) < 0 && i != 0xc2
	}
	return out
}()
