package policy

import (
	"strings"
)

// shellSyntax is what the conservative splitter knows of a shell that is not bash: enough to split lists of plain words.
// Anything else makes the text opaque.
type shellSyntax struct {
	name      string
	operators string // characters that separate commands, alone or doubled
	quotes    string
	special   string            // characters that may do anything
	aliases   map[string]string // other names of the same command, in lower case
	keywords  map[string]bool
}

var powerShellSyntax = shellSyntax{
	name: "powershell", operators: ";|&\n", quotes: `'"`, special: "$`@(){}[]<>%^!*?#,~",
	aliases: map[string]string{
		"rm": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item", "ri": "remove-item",
		"rmdir": "remove-item", "cp": "copy-item", "copy": "copy-item", "cpi": "copy-item", "mv": "move-item",
		"move": "move-item", "mi": "move-item", "cat": "get-content", "gc": "get-content", "type": "get-content",
		"ls": "get-childitem", "dir": "get-childitem", "gci": "get-childitem", "iex": "invoke-expression",
		"icm": "invoke-command", "iwr": "invoke-webrequest", "curl": "invoke-webrequest", "wget": "invoke-webrequest",
		"irm": "invoke-restmethod", "saps": "start-process", "start": "start-process", "kill": "stop-process",
		"spps": "stop-process", "sc": "set-content", "ac": "add-content", "ni": "new-item", "md": "mkdir",
		"cd": "set-location", "chdir": "set-location", "sl": "set-location", "echo": "write-output",
		"ii": "invoke-item", "sal": "set-alias", "nal": "new-alias", "sv": "set-variable", "ipmo": "import-module",
	},
	keywords: set("if else foreach for while do switch function filter param begin process end try catch finally trap " +
		"class enum using return throw invoke-expression invoke-command start-process invoke-item set-alias new-alias " +
		"set-variable new-variable import-module add-type start-job invoke-history foreach-object where-object"),
}

var cmdSyntax = shellSyntax{
	name: "cmd", operators: "&|\n", quotes: `"`, special: "%!^<>()@*?;,=$`",
	aliases: map[string]string{
		"erase": "del", "rd": "rmdir", "md": "mkdir", "chdir": "cd", "ren": "rename",
	},
	keywords: set("for if call start goto set setlocal cmd powershell pwsh forfiles wmic mshta rundll32 regsvr32"),
}

// simpleShell splits a text of PowerShell or cmd.
func (x *analysis) simpleShell(text string, syn shellSyntax) {
	if why := hiddenText(text); why != "" {
		x.opaque(why)
	}
	if len(text) > MaxCommand {
		x.opaque("longer than 64 KiB")
		x.foldedRaw(text, syn)
		return
	}
	list, ok := syn.split(text)
	if !ok {
		x.opaque("not a list of plain words")
		x.foldedRaw(text, syn)
		return
	}
	for _, words := range list {
		x.simpleCommand(words, syn)
	}
}

// simpleCommand records one command of plain words.
func (x *analysis) simpleCommand(words []word, syn shellSyntax) {
	name := strings.ToLower(baseName(x.platform, words[0].text))
	c := newCommand(x.platform, words)
	c.unsafe = "commands of " + syn.name + " are not safe reads"
	c.moved = true
	at := x.add(c)
	if at < 0 {
		return
	}
	x.executing(c)
	if syn.keywords[name] || syn.keywords[syn.aliases[name]] || interpreterName(name) {
		x.opaqueCommand(c, "runs other code: "+name)
		x.everySuffix(c, 1)
	}
	switch name {
	case "cd", "chdir", "set-location", "sl", "pushd", "popd", "push-location", "pop-location":
		x.dirs = x.dirs.lost()
	}
	x.plainOperands(c, at, name, syn)
	// Every other name of the same command is a possible reading.
	for alias, canonical := range syn.aliases {
		if alias == name || canonical != syn.aliases[name] && canonical != name {
			continue
		}
		x.addNamed(c, alias)
	}
	if canonical := syn.aliases[name]; canonical != "" {
		x.addNamed(c, canonical)
	}
}

// addNamed adds the command under another name, for deny and ask rules.
func (x *analysis) addNamed(c *command, name string) {
	other := newCommand(x.platform, append([]word{lit(name)}, c.words[1:]...))
	other.denyOnly, other.raw = true, true
	x.add(other)
}

// plainOperands records what the well-known commands read and write.
func (x *analysis) plainOperands(c *command, at int, name string, syn shellSyntax) {
	if canonical := syn.aliases[name]; canonical != "" {
		name = canonical
	}
	proto := access{command: at}
	switch name {
	case "get-content", "type", "more", "select-string", "findstr", "get-childitem", "dir":
	case "remove-item", "del", "rmdir":
		proto.write, proto.remove = true, true
		for _, w := range c.words[1:] {
			lower := strings.ToLower(w.text)
			proto.recursive = proto.recursive || lower == "/s" || strings.HasPrefix(lower, "-r")
		}
	case "set-content", "add-content", "out-file", "new-item", "mkdir", "copy-item", "move-item", "copy", "move",
		"rename-item", "rename", "tee-object", "format":
		proto.write = true
	default:
		return
	}
	for _, w := range c.words[1:] {
		if strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "/") && len(w.text) == 2 && syn.name == "cmd" {
			continue
		}
		before := len(x.f.accesses)
		x.access(w, proto, x.dirs)
		for i := before; i < len(x.f.accesses); i++ {
			c.accesses = append(c.accesses, i)
		}
	}
}

// split splits a text into commands of plain words. ok is false for anything else.
func (syn shellSyntax) split(text string) (list [][]word, ok bool) {
	var words []word
	var cur strings.Builder
	started := false
	flush := func() {
		if started {
			words = append(words, lit(cur.String()))
		}
		cur.Reset()
		started = false
	}
	end := func() {
		flush()
		if len(words) > 0 {
			list = append(list, words)
		}
		words = nil
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.IndexByte(syn.quotes, c) >= 0:
			close := strings.IndexByte(text[i+1:], c)
			if close < 0 {
				return nil, false
			}
			inner := text[i+1 : i+1+close]
			if strings.Contains(inner, "\n") || c == '"' && strings.ContainsAny(inner, "$`%!^") {
				return nil, false
			}
			i += close + 1
			if i+1 < len(text) && text[i+1] == c {
				return nil, false // a doubled quote inside a quote
			}
			if len(words) == 0 && !started && syn.name == "powershell" {
				return nil, false // a quoted text at the start is an expression
			}
			cur.WriteString(inner)
			started = true
		case strings.IndexByte(syn.operators, c) >= 0:
			if c == '&' && syn.name == "powershell" && !(i+1 < len(text) && text[i+1] == '&') {
				return nil, false // the call operator, or a background job
			}
			end()
			if i+1 < len(text) && text[i+1] == c && c != '\n' {
				i++
			}
		case c == ' ' || c == '\t':
			flush()
		case c == '\r', strings.IndexByte(syn.special, c) >= 0:
			return nil, false
		case c == '.' && len(words) == 0 && !started && i+1 < len(text) && text[i+1] == ' ':
			return nil, false // dot-sourcing
		default:
			started = true
			cur.WriteByte(c)
		}
	}
	end()
	return list, len(list) > 0
}

// foldedRaw adds what an unsplittable text might run, under every name of it.
func (x *analysis) foldedRaw(text string, syn shellSyntax) {
	for _, words := range rawCommands(strings.NewReplacer("`", "", "^", "").Replace(text)) {
		c := newCommand(x.platform, lits(words...))
		c.denyOnly, c.raw = true, true
		if x.add(c) < 0 {
			return
		}
		name := strings.ToLower(c.base)
		for alias, canonical := range syn.aliases {
			if canonical == name || canonical == syn.aliases[name] {
				x.addNamed(c, alias)
			}
		}
		if canonical := syn.aliases[name]; canonical != "" {
			x.addNamed(c, canonical)
		}
	}
}
