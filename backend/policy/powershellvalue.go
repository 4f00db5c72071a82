package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// psSamePath are the properties of a file that are its path or its name.
var psSamePath = set("fullname path pspath name literalpath providerpath")

func isPSName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// method returns the name of the method whose arguments begin here, or "".
func (r *psReader) method() string {
	end := r.at
	start := end
	for start > 0 && isPSName(r.text[start-1]) {
		start--
	}
	if start == end || start == 0 || r.text[start-1] != '.' && r.text[start-1] != ':' {
		return ""
	}
	return strings.ToLower(r.text[start:end])
}

// called records what a method of .NET does with the texts it is given, by its name: what does not sound like reading
// writes.
func (r *psReader) called(method string, texts []string, on psValue) {
	targets := append([]string(nil), texts[:min(len(texts), maxUpstream)]...)
	if len(targets) == 0 {
		targets = append(targets, on.paths...)
	}
	role, name := byte('w'), "."
	switch {
	case strings.HasPrefix(method, "delete"), strings.HasPrefix(method, "remove"):
		role, name = 'd', "remove-item"
	case strings.HasPrefix(method, "read"), strings.HasPrefix(method, "open") && method != "openwrite", strings.HasPrefix(method, "get"),
		strings.HasPrefix(method, "enumerate"), method == "exists", method == "load", method == "loadfile", method == "loadfrom":
		role = 'r'
	case method == "move", strings.HasPrefix(method, "copy"), method == "replace":
		role = 'b'
	case strings.HasPrefix(method, "to"), strings.HasPrefix(method, "trim"), method == "split", method == "contains", method == "startswith",
		method == "endswith", method == "substring", method == "join", method == "format", method == "foreach", method == "where",
		method == "write" && on.known, method == "writeline", method == "frombase64string":
		return
	case method == "create" || method == "invokescript" || method == "newscriptblock" || method == "invoke" || method == "start" ||
		method == "addscript" || method == "expandstring" || method == "downloadstring":
		for _, text := range targets {
			r.x.foreignText(text, r.sh.inside(r.sh.parent, powerShellSyntax))
		}
	}
	if len(targets) == 0 {
		return
	}
	fc := foreignCommand{words: []foreignWord{{word: lit(name)}}}
	c := newCommand(r.x.platform, flat(fc.words))
	c.unsafe, c.denyOnly, c.raw, c.parent = "a method", true, true, r.sh.parent
	at := r.x.add(c)
	if at < 0 {
		return
	}
	for _, text := range targets {
		r.x.touch(at, lit(text), role, role == 'd', false, true)
	}
}

// set remembers what a variable may hold.
func (r *psReader) set(name string, v psValue) {
	old := r.vars[name]
	now := psValue{paths: v.paths, deep: v.deep, pairs: v.pairs}
	if v.known {
		now.alts = append(now.alts, v.text)
		now.paths = nil
	} else if len(v.alts) > 0 {
		now.alts = v.alts
	}
	now.alts = append(append([]string(nil), old.alts...), now.alts...)
	if n := len(now.alts); n > maxAlternatives {
		now.alts = now.alts[n-maxAlternatives:]
	}
	now.paths = append(append([]string(nil), old.paths...), now.paths...)
	if n := len(now.paths); n > maxUpstream {
		now.paths = now.paths[n-maxUpstream:]
	}
	now.pairs = append(append([]foreignWord(nil), old.pairs...), now.pairs...)
	if n := len(now.pairs); n > maxUpstream {
		now.pairs = now.pairs[n-maxUpstream:]
	}
	now.deep = now.deep || old.deep
	if len(r.vars) < maxRawCommands {
		r.vars[name] = now
	}
}

// variable reads $name, ${name} and $scope:name. members takes properties and indexes behind it too.
func (r *psReader) variable(members bool) (string, psValue) {
	r.note("a variable")
	r.at++
	start := r.at
	name := ""
	if r.peek(0) == '{' {
		end := strings.IndexByte(r.text[r.at:], '}')
		if end < 0 {
			r.broken = true
			r.at = len(r.text)
			return "", psValue{}
		}
		name = r.text[start+1 : r.at+end]
		r.at += end + 1
	} else {
		for r.at < len(r.text) && (isPSName(r.text[r.at]) || r.text[r.at] == ':' && isPSName(r.peek(1)) && r.peek(1) != ':' && r.at > start) {
			r.at++
		}
		if r.at == start && strings.IndexByte("?^$", r.peek(0)) >= 0 && r.at < len(r.text) {
			r.at++
		}
		name = r.text[start:r.at]
	}
	name = strings.ToLower(name)
	for _, scope := range [...]string{"script:", "global:", "local:", "private:", "using:", "variable:"} {
		name = strings.TrimPrefix(name, scope)
	}
	v := r.valueOf(name)
	if !members {
		return name, v
	}
	for r.at < len(r.text) {
		switch {
		case r.peek(0) == '.' && isPSName(r.peek(1)) || r.peek(0) == ':' && r.peek(1) == ':':
			for r.peek(0) == '.' || r.peek(0) == ':' {
				r.at++
			}
			from := r.at
			for r.at < len(r.text) && isPSName(r.text[r.at]) {
				r.at++
			}
			member := strings.ToLower(r.text[from:r.at])
			if r.peek(0) == '(' {
				mark := len(r.literals)
				r.at++
				r.statements(')', false)
				r.called(member, r.literals[min(mark, len(r.literals)):], v)
				v = psValue{}
				continue
			}
			if len(v.paths) == 0 || !psSamePath[member] {
				v = psValue{paths: v.paths}
			}
		case r.peek(0) == '[':
			end := strings.IndexByte(r.text[r.at:], ']')
			if end < 0 || strings.ContainsAny(r.text[r.at:r.at+end], "({\n") {
				return name, psValue{paths: v.paths}
			}
			r.at += end + 1
			v = psValue{paths: v.paths}
		default:
			return name, v
		}
	}
	return name, v
}

func (r *psReader) valueOf(name string) psValue {
	if v, ok := r.vars[name]; ok {
		return v
	}
	if name == "pwd" && len(r.x.dirs.list) > 0 {
		return psValue{alts: []string{r.x.dirs.list[0].physical}}
	}
	text, ok := homeVariables[name]
	if !ok {
		return psValue{}
	}
	if rest, home := strings.CutPrefix(text, "~"); home {
		if r.x.home() == "" {
			return psValue{}
		}
		text = r.x.home() + rest
	}
	return psValue{alts: []string{text}}
}

// texts are the values that are known.
func (v psValue) texts() []string {
	if v.known {
		return []string{v.text}
	}
	return v.alts
}

// psText collects a word or a text in quotes.
type psText struct {
	word          // but for text and prefix, which done fills in
	buf    []byte // its text so far; joining strings would take a time that grows with the square of their number
	before int    // how much of it stands before the first unknown piece
	alts   []string
}

// maxAlternative bounds a value that is put together from the values of variables.
const maxAlternative = 4096

func (t *psText) literal(text string) {
	t.buf = append(t.buf, text...)
	if t.known {
		t.before = len(t.buf)
	}
	for i := range t.alts {
		if len(t.alts[i])+len(text) > maxAlternative {
			t.alts = nil
			return
		}
		t.alts[i] += text
	}
}

// done returns the word.
func (t *psText) done() word {
	t.text = string(t.buf)
	t.prefix = t.text[:t.before]
	return t.word
}

func (t *psText) value(v psValue) {
	if v.known {
		t.literal(v.text)
		return
	}
	texts := v.alts
	if len(texts) == 0 {
		t.known, t.many = false, true
		if len(t.alts) > 0 {
			t.alts = nil
		}
		return
	}
	before := t.alts
	if !t.known && len(before) == 0 {
		return // something before it is not known
	}
	if t.known {
		before = []string{string(t.buf)}
	}
	t.known = false
	var out []string
	for _, b := range before {
		for _, text := range texts {
			if len(out) < maxAlternatives {
				out = append(out, b+text)
			}
		}
	}
	t.alts = out
}

// quoted reads a text in quotes.
func (r *psReader) quoted() psValue {
	t := psText{word: word{known: true}}
	r.quote(&t)
	t.done()
	return psValue{text: t.text, known: t.known, alts: t.alts}
}

// quote reads a text in quotes into a word.
func (r *psReader) quote(t *psText) {
	q := r.text[r.at]
	r.at++
	for r.at < len(r.text) && !r.x.full {
		c := r.text[r.at]
		switch {
		case c == q && r.peek(1) == q:
			r.note("a quote in quotes")
			t.literal(string(q))
			r.at += 2
		case c == q:
			r.at++
			return
		case q == '"' && c == '`':
			r.note("an escaped sign")
			r.at++
			t.literal(r.escaped())
		case q == '"' && c == '$' && r.peek(1) == '(':
			r.note("a subexpression")
			r.at += 2
			t.value(r.statements(')', false))
		case q == '"' && c == '$' && (isPSName(r.peek(1)) || r.peek(1) == '{'):
			_, v := r.variable(false)
			t.value(v)
		default:
			if c == '\n' || c == '$' && q == '"' {
				r.note("a text over several lines")
			}
			next := r.at + 1
			for next < len(r.text) && strings.IndexByte("'\"`$\n", r.text[next]) < 0 {
				next++
			}
			t.literal(r.text[r.at:next])
			r.at = next
		}
	}
	r.broken = true
}

// escaped reads what stands behind a backtick. A letter that stands for a control character is taken as the letter:
// no path and no name has one.
func (r *psReader) escaped() string {
	if r.at >= len(r.text) {
		return ""
	}
	if r.text[r.at] == 'u' && r.peek(1) == '{' {
		if end := strings.IndexByte(r.text[r.at:], '}'); end > 0 && end <= 8 {
			if n, err := strconv.ParseUint(r.text[r.at+2:r.at+end], 16, 32); err == nil {
				r.at += end + 1
				return string(rune(n))
			}
		}
	}
	_, size := utf8.DecodeRuneInString(r.text[r.at:])
	out := r.text[r.at : r.at+size]
	r.at += size
	return out
}

// hereString reads @'…'@ and @"…"@.
func (r *psReader) hereString() psValue {
	r.note("a text over several lines")
	q := r.text[r.at+1]
	r.at += 2
	end := strings.Index(r.text[r.at:], "\n"+string(q)+"@")
	if end < 0 {
		r.broken = true
		r.at = len(r.text)
		return psValue{}
	}
	body := r.text[r.at : r.at+end]
	after := r.at + end + 3
	if i := strings.IndexByte(body, '\n'); i >= 0 && strings.TrimSpace(body[:i]) == "" {
		body = body[i+1:]
	} else {
		body = strings.TrimLeft(body, "\n")
	}
	if q == '\'' {
		r.at = after
		return psValue{text: body, known: true}
	}
	t := psText{word: word{known: true}}
	limit := r.text
	r.text = limit[:r.at+end]
	for r.at < len(r.text) && !r.x.full {
		switch {
		case r.peek(0) == '$' && r.peek(1) == '(':
			r.at += 2
			t.value(r.statements(')', false))
		case r.peek(0) == '$' && (isPSName(r.peek(1)) || r.peek(1) == '{'):
			_, v := r.variable(false)
			t.value(v)
		default:
			next := r.at + 1
			for next < len(r.text) && r.text[next] != '$' {
				next++
			}
			t.literal(r.text[r.at:next])
			r.at = next
		}
	}
	r.text, r.at = limit, after
	t.done()
	return psValue{text: strings.TrimLeft(t.text, "\n"), known: t.known, alts: t.alts}
}
