package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"
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
