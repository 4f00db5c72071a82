package policy

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"

	"countersign/backend/pathid"
)

// inside is the shell of a text that the command at runs.
func (sh foreignShell) inside(at int, syntax *shellSyntax) foreignShell {
	sh.parent, sh.syntax, sh.suffix = at, syntax, false
	return sh
}

// runForeign analyses what a command runs.
func (x *analysis) runForeign(at int, name, canonical string, fc foreignCommand, sh foreignShell) {
	if sh.raw {
		return
	}
	c := x.f.commands[at]
	words := flat(fc.words)
	switch {
	case name == "powershell" || name == "pwsh" || name == "cmd":
		x.opaqueCommand(c, "runs other code: "+name)
		x.shellTexts(at, name, words, fc.up, sh)
		return
	case name == "wsl", shells[name]:
		x.opaqueCommand(c, "runs other code: "+name)
		x.bashText(at, name, words)
		return
	}
	if !sh.syntax.runners[canonical] && !sh.syntax.runners[name] || sh.suffix {
		return
	}
	guess := sh
	guess.parent, guess.guess, guess.suffix = at, true, true
	lists := [][]word{words}
	var split []word
	for _, w := range words {
		if w.known && strings.ContainsAny(w.text, " \t") {
			split = append(split, lits(strings.Fields(strings.ReplaceAll(w.text, `"`, " "))...)...)
			continue
		}
		split = append(split, w)
	}
	if len(split) != len(words) {
		lists = append(lists, split)
	}
	for _, list := range lists {
		starts := 0
		for i := 1; i < len(list) && starts < maxSuffixStarts; i++ {
			if !list[i].known || !x.knownForeign(list[i].text, sh.syntax) {
				continue
			}
			starts++
			var inner foreignCommand
			inner.up = fc.up
			for _, w := range list[i:] {
				inner.words = append(inner.words, foreignWord{word: w, bare: true})
			}
			x.foreignReading(inner, guess)
		}
	}
}

// cmdWords only lead to a command further on, which is found by itself. Reading each of them as a command too would
// take a time that grows with the square of their number.
var cmdWords = set("if for else do in not exist call start goto set echo rem")

// knownForeign reports whether a word names a command that some table knows.
func (x *analysis) knownForeign(text string, syntax *shellSyntax) bool {
	name := strings.ToLower(baseName(pathid.Windows, text))
	if cmdWords[name] {
		return false
	}
	if natives[name] != nil || shells[name] || usages[name] != nil || interpreterName(name) || name == "wsl" {
		return true
	}
	return syntax == powerShellSyntax && (cmdlets[name] != nil || cmdletAliases[name] != "")
}

// bashText analyses bash -c TEXT and wsl COMMAND.
func (x *analysis) bashText(at int, name string, words []word) {
	s := scope{parent: at, consumer: -1, explicit: true}
	dirs := x.dirs
	defer func() { x.dirs = dirs }()
	if name == "wsl" {
		i := 1
		for i < len(words) && strings.HasPrefix(words[i].text, "-") {
			switch words[i].text {
			case "-d", "--distribution", "-u", "--user", "--cd", "--shell-type":
				i++
			}
			i++
		}
		if i < len(words) {
			x.text(strings.Join(textsOf(words[i:]), " "), s, dirs.lost())
		}
		return
	}
	for i, w := range words {
		if i > 0 && len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' && strings.Contains(w.text, "c") && i+1 < len(words) {
			x.text(words[i+1].text, s, dirs)
			return
		}
	}
}

func textsOf(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// shellTexts analyses the texts that powershell, pwsh and cmd are given.
func (x *analysis) shellTexts(at int, name string, words []word, up upstream, sh foreignShell) {
	if name == "cmd" {
		x.cmdText(at, words, sh)
		return
	}
	inner := sh.inside(at, powerShellSyntax)
	for i := 1; i < len(words); i++ {
		text := words[i].text
		if len(text) < 2 || text[0] != '-' && text[0] != '/' {
			x.foreignText(strings.Join(textsOf(words[i:]), " "), inner)
			x.touch(at, words[i], 'r', false, false, true) // pwsh takes it for a file
			return
		}
		option, value, attached := strings.Cut(strings.ToLower(strings.TrimLeft(text, "-/")), ":")
		switch {
		case option == "":
		case strings.HasPrefix("executionpolicy", option) && len(option) > 1, option == "ep", strings.HasPrefix("version", option),
			strings.HasPrefix("windowstyle", option), strings.HasPrefix("inputformat", option), option == "if", option == "of", option == "wd",
			strings.HasPrefix("outputformat", option), strings.HasPrefix("psconsolefile", option), strings.HasPrefix("workingdirectory", option),
			strings.HasPrefix("configurationname", option) && len(option) > 2, strings.HasPrefix("settingsfile", option),
			strings.HasPrefix("custompipename", option) && len(option) > 1:
			if !attached {
				i++
			}
		case option == "ec", strings.HasPrefix("encodedcommand", option), strings.HasPrefix("encodedarguments", option):
			if !attached && i+1 < len(words) {
				i++
				value = words[i].text
			} else if attached {
				value = text[strings.IndexByte(text, ':')+1:]
			}
			if decoded, ok := decodeCommand(value); ok {
				x.foreignText(decoded, inner)
				x.foldedRaw(decoded, powerShellSyntax)
			}
		case strings.HasPrefix("command", option), option == "cwa", strings.HasPrefix("commandwithargs", option):
			rest := textsOf(words[min(i+1, len(words)):])
			if attached {
				rest = append([]string{text[strings.IndexByte(text, ':')+1:]}, rest...)
			}
			x.foreignText(strings.Join(rest, " "), inner)
			return
		case strings.HasPrefix("file", option):
			if i+1 < len(words) {
				x.touch(at, words[i+1], 'r', false, false, true)
			}
			return
		}
	}
	for _, text := range up.paths { // a script on a pipe
		x.foreignText(text, inner)
	}
}

// cmdText analyses cmd /c TEXT: everything behind the option is one text.
func (x *analysis) cmdText(at int, words []word, sh foreignShell) {
	for i := 1; i < len(words); i++ {
		lower := strings.ToLower(words[i].text)
		j := strings.Index(lower, "/c")
		if k := strings.Index(lower, "/k"); j < 0 || k >= 0 && k < j {
			j = k
		}
		if k := strings.Index(lower, "/r"); j < 0 || k >= 0 && k < j {
			j = k
		}
		if j < 0 || strings.IndexByte(lower, '/') != 0 {
			continue
		}
		rest := textsOf(words[i+1:])
		if tail := words[i].text[j+2:]; tail != "" {
			rest = append([]string{tail}, rest...)
		}
		text := strings.Join(rest, " ")
		inner := sh.inside(at, cmdSyntax)
		x.foreignText(text, inner)
		if len(text) > 1 && text[0] == '"' {
			x.foreignText(strings.TrimSuffix(text[1:], `"`), inner)
		}
		return
	}
}

// foreignIn analyses what powershell, pwsh and cmd run when they stand in a text of bash.
func (x *analysis) foreignIn(at int) {
	c := x.f.commands[at]
	var found []foundCommand
	sh := foreignShell{syntax: cmdSyntax, parent: at, guess: c.denyOnly, found: &found}
	dirs := x.dirs
	x.shellTexts(at, strings.ToLower(c.base), c.words, upstream{}, sh)
	x.dirs = dirs
	x.finishForeign(found, "", powerShellSyntax)
}

// maxEncoded bounds an encoded command.
const maxEncoded = 4 * MaxCommand

// decodeCommand reads what -EncodedCommand takes: UTF-16 in base 64. Padding may be missing.
func decodeCommand(text string) (string, bool) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	if text == "" || len(text) > maxEncoded {
		return "", false
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(raw) < 2 {
		return "", false
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i]) | uint16(raw[2*i+1])<<8
	}
	return string(utf16.Decode(units)), true
}

// otherNames adds a command under every other name it has, for deny and ask rules, and with its parameters spelled out.
func (x *analysis) otherNames(f foundCommand) {
	c := f.c
	if len(c.words) == 0 {
		return
	}
	name := strings.ToLower(baseName(pathid.Windows, c.words[0].text))
	names := []string{}
	if !strings.EqualFold(name, c.base) {
		names = append(names, name)
	}
	canonical := name
	if other := f.syntax.aliases[name]; other != "" {
		canonical = other
		names = append(names, canonical)
	}
	if f.syntax == powerShellSyntax {
		if cmdlets[canonical] == nil && cmdlets["get-"+canonical] != nil {
			canonical = "get-" + canonical
			names = append(names, canonical)
		}
		for _, alias := range aliasesOf[canonical] {
			if alias != name {
				names = append(names, alias)
			}
		}
	} else {
		for _, alias := range cmdAliasesOf[canonical] {
			if alias != name {
				names = append(names, alias)
			}
		}
	}
	for _, other := range names {
		x.addNamed(c.words, other)
	}
	if len(f.full) > 1 && strings.Join(textsOf(f.full), "\x00") != strings.Join(c.texts(), "\x00") {
		for _, other := range append(names, name) {
			x.addNamed(f.full, other)
		}
	}
}

// addNamed adds a command under another name, for deny and ask rules.
func (x *analysis) addNamed(words []word, name string) {
	if x.full {
		return
	}
	other := newCommand(x.platform, append([]word{lit(name)}, words[1:]...))
	other.denyOnly, other.raw = true, true
	x.add(other)
}

// foldedRaw adds what an opaque text might run, under every name of it.
func (x *analysis) foldedRaw(text string, syntax *shellSyntax) {
	for _, words := range rawCommands(strings.NewReplacer("`", "", "^", "").Replace(text)) {
		if x.full {
			return
		}
		c := newCommand(x.platform, lits(words...))
		c.denyOnly, c.raw = true, true
		if x.add(c) < 0 {
			return
		}
		x.otherNames(foundCommand{c: c, syntax: syntax})
	}
}
