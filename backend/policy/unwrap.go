package policy

import (
	"strings"
)

// builtinNames are bash's builtins that this package gives a meaning of their own.
var builtinNames = map[string]bool{
	"cd": true, "pushd": true, "popd": true, "eval": true, "source": true, ".": true, "alias": true, "trap": true,
	"let": true, "compgen": true, "complete": true, "compopt": true, "bind": true, "enable": true, "hash": true,
	"mapfile": true, "readarray": true, "read": true, "printf": true, "unset": true, "wait": true, "getopts": true,
	"test": true, "[": true, "exec": true, "command": true, "builtin": true, "set": true, "shopt": true, "export": true,
	"declare": true, "typeset": true, "local": true, "readonly": true, "echo": true, "true": true, "false": true,
	":": true, "exit": true, "return": true, "shift": true, "type": true, "pwd": true,
}

// builtin handles shell builtins with a meaning of their own and everything that runs another command.
func (x *analysis) builtin(c *command, at int, s scope, dirs places) flow {
	switch c.base {
	case "cd", "pushd":
		return x.changeDirectory(c, dirs)
	case "popd":
		return flow{ok: dirs.lost(), fail: dirs}
	case "eval":
		return x.evalText(c, at, s, dirs)
	case "trap":
		x.opaqueCommand(c, "trap")
		if len(c.words) > 2 {
			x.runText(c, at, c.words[1], s, dirs, false)
		}
		return stay(dirs)
	case "source", ".", "alias", "let", "compgen", "complete", "compopt", "bind", "enable", "coproc":
		if c.base != "alias" || len(c.words) > 1 {
			x.opaqueCommand(c, c.base)
			for _, w := range c.words[1:] {
				if _, value, ok := strings.Cut(w.text, "="); ok && c.base == "alias" {
					x.rawText(value)
				}
			}
			return stay(dirs.lost())
		}
	case "hash", "printf", "unset", "read", "wait", "mapfile", "readarray", "getopts", "test", "[", "export", "declare",
		"typeset", "local", "readonly":
		x.evaluating(c)
	case "find":
		x.findCommand(c, at, s, dirs)
		return stay(dirs)
	case "jobs":
		for i, w := range c.words[1:] {
			if !w.known || w.glob || len(w.text) > 1 && w.text[0] == '-' && strings.Contains(w.text, "x") {
				x.opaqueCommand(c, "jobs -x")
				x.everySuffix(c, i+2)
				break
			}
		}
	case "exec":
		if len(c.words) == 1 {
			return stay(dirs)
		}
	case "command":
		if len(c.words) > 1 && (c.words[1].text == "-v" || c.words[1].text == "-V") {
			return stay(dirs)
		}
	}
	if shells[c.base] {
		x.shellCommand(c, at, s, dirs)
		return stay(dirs)
	}
	if letter := textRunners[c.base]; letter != "" {
		x.textRunner(c, at, letter, s, dirs)
		return stay(dirs)
	}
	if w := wrappers[c.base]; w != nil {
		return x.unwrap(c, at, w, s, dirs)
	}
	if interpreterName(c.base) && s.fed && !hasScript(c) {
		x.opaqueCommand(c, "a script on a pipe into an interpreter")
	}
	return stay(dirs)
}

// evaluating finds builtins that evaluate the name of a variable: its subscript may hold a command substitution.
func (x *analysis) evaluating(c *command) {
	options := true
	for i, w := range c.words[1:] {
		flag := options && strings.HasPrefix(w.text, "-") && len(w.text) > 1
		if !flag {
			options = options && c.base != "printf" && c.base != "read"
		}
		switch c.base {
		case "hash":
			if flag && strings.ContainsAny(w.text, "p") || !w.known {
				x.opaqueCommand(c, "hash -p")
			}
		case "printf":
			if i == 0 && strings.HasPrefix(w.text, "-v") || i == 0 && !w.known && w.prefix == "" && w.many {
				x.opaqueCommand(c, "printf -v")
			}
		case "test", "[":
			if w.text == "-v" || w.text == "-R" {
				x.opaqueCommand(c, "test -v")
			}
			if !w.known && w.many && !w.tame {
				x.opaqueCommand(c, "test over an unquoted variable")
			}
		case "mapfile", "readarray":
			if flag && strings.ContainsAny(w.text, "C") {
				x.opaqueCommand(c, c.base+" -C")
			}
			fallthrough
		default:
			if strings.ContainsRune(w.text, '[') || !w.known {
				x.opaqueCommand(c, "a variable's name is evaluated")
			}
			if c.base == "wait" && flag && strings.Contains(w.text, "p") {
				x.opaqueCommand(c, "wait -p")
			}
			if (c.base == "declare" || c.base == "typeset" || c.base == "local") && flag && strings.ContainsAny(w.text, "nifF") {
				x.opaqueCommand(c, "declaration that evaluates")
			}
			switch name, value, ok := strings.Cut(w.text, "="); {
			case ok && (codeVariables[name] || strings.HasPrefix(value, "(")):
				x.opaqueCommand(c, name+" is set")
			case numberVariables[name] && c.base != "unset" && (!ok || strings.Trim(value, "0123456789") != ""):
				x.opaqueCommand(c, "arithmetic over a variable")
			}
		}
	}
}

// inside returns the scope of what a wrapper runs.
func (s scope) inside(at int) scope {
	s.parent = at
	return s
}

// unwrap finds the command a wrapper runs.
func (x *analysis) unwrap(c *command, at int, w *wrapper, s scope, dirs places) flow {
	c.wrap = w.kind
	start, options, plain := w.split(c.words)
	if !plain {
		x.opaqueCommand(c, "unknown option of "+c.base)
		x.everySuffix(c, 1)
		return stay(dirs)
	}
	inner := s.inside(at)
	switch c.base {
	case "env":
		return x.env(c, at, start, options, inner, dirs)
	case "sudo":
		for _, o := range options {
			if !strings.HasPrefix(o, "--") && strings.ContainsAny(o, "e") || o == "--edit" {
				return stay(dirs) // sudoedit: its operands are files, and the rule for sudo covers or not
			}
			if !strings.HasPrefix(o, "--") && strings.ContainsAny(o, "si") || o == "--shell" || o == "--login" {
				inner.explicit = true
			}
		}
	case "watch", "parallel":
		return x.templated(c, at, start, inner, dirs)
	}
	if w.assigns != "" {
		inner.inherited = append(x.leading(c.words[1:start]), inner.inherited...)
	}
	if start >= len(c.words) {
		if c.base == "xargs" { // echoes its input
			inner.denyOnly = true
			x.simple([]word{lit("echo"), {many: true, wild: true}}, inner, dirs)
			return stay(dirs)
		}
		c.wrap = wrapNone
		return stay(dirs)
	}
	c.innerAt = start
	words := c.words[start:]
	if w.kind == wrapFeed {
		x.feed(c, words, options, inner, dirs)
		return stay(dirs)
	}
	f := x.simple(words, inner, dirs)
	if c.base == "command" || c.base == "builtin" {
		return f
	}
	return stay(dirs)
}

// leading collects NAME=value words that a wrapper takes before the command.
func (x *analysis) leading(words []word) []assignment {
	var out []assignment
	for _, w := range words {
		if name, value, ok := strings.Cut(w.text, "="); ok && !strings.HasPrefix(name, "-") {
			x.setting(name, value, w.literal())
			out = append(out, assignment{name: name, value: value, known: w.literal()})
		}
	}
	return out
}

// env handles -S, which splits a text into words, and -C, which changes the directory.
func (x *analysis) env(c *command, at, start int, options []string, s scope, dirs places) flow {
	for i := 1; i < len(c.words); i++ {
		text := c.words[i].text
		var value string
		switch {
		case text == "-S" || text == "--split-string":
			if i+1 >= len(c.words) {
				return stay(dirs)
			}
			value = c.words[i+1].text
			i++
		case strings.HasPrefix(text, "--split-string="):
			value = strings.TrimPrefix(text, "--split-string=")
		case len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.IndexByte(text, 'S') > 0:
			value = text[strings.IndexByte(text, 'S')+1:]
			if value == "" && i+1 < len(c.words) {
				i++
				value = c.words[i].text
			}
		default:
			continue
		}
		// env's own splitting knows ${NAME} and escapes; read as a shell text it finds at least the same program.
		x.opaqueCommand(c, "env -S")
		guess := s
		guess.denyOnly = true
		c.wrap, c.innerAt = wrapShell, len(c.words)
		x.simple(append(lits(strings.Fields(strings.NewReplacer(`\_`, " ", `\`, "", `'`, "", `"`, "").Replace(value))...), c.words[min(i+1, len(c.words)):]...), guess, dirs)
		return stay(dirs)
	}
	for _, o := range options {
		if strings.HasPrefix(o, "-C") || strings.HasPrefix(o, "--chdir") {
			dirs = dirs.lost()
		}
	}
	s.inherited = append(x.leading(c.words[1:start]), s.inherited...)
	if start >= len(c.words) {
		c.wrap = wrapNone
		return stay(dirs)
	}
	c.innerAt = start
	x.simple(c.words[start:], s, dirs)
	return stay(dirs)
}

// feed analyses the command of xargs: unknown words follow it, or stand where its placeholder stands.
func (x *analysis) feed(c *command, words []word, options []string, s scope, dirs places) {
	s.explicit = true
	words = append([]word(nil), words...)
	placeholder := ""
	for i, w := range c.words {
		switch {
		case w.text == "-I" && i+1 < len(c.words):
			placeholder = c.words[i+1].text
		case strings.HasPrefix(w.text, "-I") && len(w.text) > 2 && placeholder == "":
			placeholder = w.text[2:]
		case w.text == "-i" || w.text == "--replace":
			placeholder = "{}"
		case strings.HasPrefix(w.text, "-i") && placeholder == "":
			placeholder = w.text[2:]
		case strings.HasPrefix(w.text, "--replace="):
			placeholder = w.text[len("--replace="):]
		}
		if i >= c.innerAt {
			break
		}
	}
	if placeholder == "" {
		words = append(words, word{many: true, wild: true})
	} else {
		for i, w := range words {
			if before, _, ok := strings.Cut(w.text, placeholder); ok {
				words[i] = word{text: w.text, prefix: before, wild: true, quoted: true}
			}
		}
	}
	x.simple(words, s, dirs)
}

// templated analyses watch and parallel: what they run goes through a shell once more.
func (x *analysis) templated(c *command, at, start int, s scope, dirs places) flow {
	s.explicit = true
	c.innerAt = start
	var text []string
	for _, w := range c.words[min(start, len(c.words)):] {
		if strings.HasPrefix(w.text, ":::") {
			break
		}
		if !w.known {
			x.opaqueCommand(c, "text is not literal")
		}
		text = append(text, w.text)
	}
	if c.base == "parallel" {
		x.parallelInputs(c, start, strings.Join(text, " "), s, dirs)
	}
	if len(text) > 0 {
		x.aside(func() flow { return x.text(strings.Join(text, " "), s, dirs) })
	}
	return stay(dirs)
}

// parallelInputs notes that parallel gives its inputs to a shell, as arguments or as whole commands. What stands literally
// among them is a possible command, for deny and ask rules.
func (x *analysis) parallelInputs(c *command, start int, text string, s scope, dirs places) {
	x.opaqueCommand(c, "parallel runs what it is given")
	guess := s
	guess.denyOnly = true
	inputs := append([]string(nil), s.stdin...)
	for _, w := range c.words[min(start, len(c.words)):] {
		inputs = append(inputs, w.text)
	}
	for _, input := range inputs[:min(len(inputs), maxParameters)] {
		if input == "" || strings.HasPrefix(input, ":::") {
			continue
		}
		x.aside(func() flow { return x.text(input, guess, dirs) })
		if text != "" {
			x.aside(func() flow { return x.text(text+" "+input, guess, dirs) })
		}
	}
}

// everySuffix adds every suffix of the words as a possible command, for deny and ask rules.
func (x *analysis) everySuffix(c *command, from int) {
	for i := from; i < len(c.words) && i < from+maxParameters; i++ {
		guess := newCommand(x.platform, c.words[i:])
		guess.parent, guess.denyOnly, guess.consumer = -1, true, -1
		if x.add(guess) < 0 {
			return
		}
	}
}
