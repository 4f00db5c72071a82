package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// shellSyntax is a shell that is not bash. Each has a reader of its own, which finds the simple commands of a text:
// every one for rules that restrain; lists and pipelines of plain words only for rules that allow, since anything
// else makes the text opaque.
type shellSyntax struct {
	name    string
	read    func(x *analysis, text string, sh foreignShell)
	runners map[string]bool // run other code, so that nothing covers them
	aliases map[string]string
}

// The shells that are read here. What they hold is set in init, because the readers lead back to it.
var powerShellSyntax, cmdSyntax = &shellSyntax{name: "powershell"}, &shellSyntax{name: "cmd"}

func init() {
	powerShellSyntax.read, powerShellSyntax.runners = readPowerShell, powerShellRunners
	powerShellSyntax.aliases = cmdletAliases
	cmdSyntax.read, cmdSyntax.runners, cmdSyntax.aliases = readCmd, cmdRunners, cmdAliases
}

// Limits of one examination of a foreign text. What is over them is opaque.
const (
	maxAlternatives = 4  // values of one variable that are followed
	maxSuffixStarts = 8  // words behind a runner at which a command may begin
	maxUpstream     = 16 // paths that come through a pipe
)

// foreignShell is where a foreign text stands.
type foreignShell struct {
	syntax *shellSyntax
	parent int  // the command that runs the text, or -1
	raw    bool // a piece of a text that was not read: what it runs is not looked at
	suffix bool // a command behind a runner: the words behind it are not looked at once more
	guess  bool // a possible reading
	found  *[]foundCommand
}

type foundCommand struct {
	c      *command
	syntax *shellSyntax
	full   []word // its words with every parameter under its full name, or nil
}

// foreignWord is a word of a foreign text.
type foreignWord struct {
	word
	bare  bool          // begins without a quote, so that it may be an option
	alts  []string      // values that it may have
	elems []foreignWord // of an array
	param string        // -Name of -Name:value
	value *foreignWord
	pairs []foreignWord // of @splat: parameters with their values
}

// foreignRedirect is a redirection.
type foreignRedirect struct {
	target foreignWord
	write  bool
}

// upstream is what comes through a pipe.
type upstream struct {
	fed    bool
	paths  []string
	deep   bool // with what is below them
	chosen bool // only some of it
}

// foreignCommand is a simple command of a foreign text.
type foreignCommand struct {
	words     []foreignWord
	redirects []foreignRedirect
	up        upstream
}

// simpleShell analyses the text of a call whose shell is not bash.
func (x *analysis) simpleShell(text string, syntax *shellSyntax) {
	var found []foundCommand
	x.foreignText(text, foreignShell{syntax: syntax, parent: -1, found: &found})
	x.finishForeign(found, text, syntax)
}

// finishForeign adds what comes after everything certain, so that the limit on commands meets the guesses first: the
// other names of every command, and for opaque text whatever else might be a command in it.
func (x *analysis) finishForeign(found []foundCommand, text string, syntax *shellSyntax) {
	for _, f := range found {
		x.otherNames(f)
	}
	if len(x.f.opaque) > 0 {
		x.foldedRaw(text, syntax)
	}
}

// foreignText analyses one text, at the top or inside another.
func (x *analysis) foreignText(text string, sh foreignShell) {
	if why := hiddenText(text); why != "" {
		x.opaque(why)
	}
	if len(text) > MaxCommand {
		x.opaque("longer than 64 KiB")
		x.rawAccesses(text, sh)
		return
	}
	if x.parsed += len(text); x.parsed > maxParsed || x.texts >= maxTextDepth {
		x.opaque("too many texts inside texts")
		if x.parsed <= 2*maxParsed { // pieces cost time too
			x.rawAccesses(text, sh)
		}
		return
	}
	x.texts++
	defer func() { x.texts-- }()
	before := x.dirs
	sh.syntax.read(x, text, sh)
	if sh.parent >= 0 {
		x.dirs = before.union(x.dirs) // in the same process or in another
	}
}

// rawAccesses records what the pieces of a text that cannot be read would read and write, if each were a command.
func (x *analysis) rawAccesses(text string, sh foreignShell) {
	sh.guess, sh.suffix, sh.raw = true, true, true
	for _, words := range foreignRaw(text) {
		if x.full || len(x.f.accesses) >= maxAccesses {
			return
		}
		var fc foreignCommand
		for _, w := range words {
			fc.words = append(fc.words, foreignWord{word: lit(w), bare: true})
		}
		x.foreign(fc, sh)
	}
}

// foreignRaw is rawCommands for texts in which a backslash is a part of a path.
func foreignRaw(text string) [][]string {
	const mark = "\uE000"
	text = strings.NewReplacer("`", "", "^", "", `\`, mark).Replace(text)
	list := rawCommands(text)
	for _, words := range list {
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], mark, `\`)
		}
	}
	return list
}

// foreign records a simple command under every reading of it.
func (x *analysis) foreign(fc foreignCommand, sh foreignShell) (paths []string) {
	at := -1
	if len(fc.words) > 0 {
		at = x.foreignReading(fc, sh)
		for _, words := range alternatives(fc.words) {
			other := fc
			other.words = words
			guess := sh
			guess.guess = true
			x.foreignReading(other, guess)
		}
	}
	for _, r := range fc.redirects {
		x.foreignTargets(r.target, func(w word) {
			x.record(at, x.redirectForeign(w, r.write))
		})
	}
	if at >= 0 {
		for _, i := range x.f.commands[at].accesses {
			if a := &x.f.accesses[i]; !a.write && !a.redirect && a.text != "" && len(paths) < maxUpstream {
				paths = append(paths, a.text)
			}
		}
	}
	return paths
}

// record puts accesses on a command.
func (x *analysis) record(at int, accesses []int) {
	for _, i := range accesses {
		a := &x.f.accesses[i]
		a.command = at
		if at >= 0 {
			x.f.commands[at].accesses = append(x.f.commands[at].accesses, i)
		}
	}
}

func (x *analysis) redirectForeign(w word, write bool) []int {
	if w.known && w.text == "" {
		x.opaque("a redirection without a target")
	}
	if w.known && harmlessDevice(x.platform, w.text) {
		return nil
	}
	if text, other := x.plainForeign(w.text); w.known && other == "" {
		w.text, w.prefix = text, text
	}
	return x.access(w, access{write: write, redirect: true, command: -1}, x.dirs)
}

// alternatives are the words with the values that their variables may have.
func alternatives(words []foreignWord) (out [][]foreignWord) {
	most := 0
	for _, w := range words {
		most = max(most, len(w.alts))
		if w.value != nil {
			most = max(most, len(w.value.alts))
		}
		for _, e := range w.elems {
			most = max(most, len(e.alts))
		}
		if len(w.pairs) > 0 {
			most = max(most, 1)
		}
	}
	for k := range min(most, maxAlternatives) {
		var list []foreignWord
		for _, w := range words {
			if len(w.pairs) > 0 {
				list = append(list, w.pairs...)
				continue
			}
			list = append(list, w.alternative(k))
		}
		out = append(out, list)
	}
	return out
}

func (w foreignWord) alternative(k int) foreignWord {
	switch {
	case len(w.alts) > 0:
		return foreignWord{word: lit(w.alts[min(k, len(w.alts)-1)])}
	case w.value != nil:
		value := w.value.alternative(k)
		w.value, w.word = &value, lit(w.param+":"+value.text)
	case len(w.elems) > 0:
		elems := make([]foreignWord, len(w.elems))
		for i, e := range w.elems {
			elems[i] = e.alternative(k)
		}
		w.elems = elems
	}
	return w
}

// flat is the words as rules see them: the elements of an array are words of their own.
func flat(words []foreignWord) []word {
	var out []word
	for _, w := range words {
		if len(w.elems) > 0 {
			out = append(out, flat(w.elems)...)
			continue
		}
		out = append(out, w.word)
	}
	return out
}

// foreignReading records one reading of a command: what it is, what it reads and writes, and what it runs. It returns
// the index of the command, or -1.
func (x *analysis) foreignReading(fc foreignCommand, sh foreignShell) int {
	words := fc.words
	c := newCommand(x.platform, flat(words))
	c.unsafe = "commands of " + sh.syntax.name + " are not safe reads"
	c.parent, c.denyOnly, c.fed = sh.parent, sh.guess, fc.up.fed
	c.at, c.moved = x.dirs, !x.dirs.only(x.f.cwd)
	at := x.add(c)
	if at < 0 || len(c.words) == 0 {
		return -1
	}
	if !c.words[0].known {
		x.opaqueCommand(c, "command name is not literal")
		if !sh.guess {
			x.unknownForeign(fc, sh)
		}
		return at
	}
	x.executing(c)
	name := strings.ToLower(baseName(pathid.Windows, c.words[0].text))
	if name == "" {
		return at
	}
	canonical := name
	if other := sh.syntax.aliases[name]; other != "" {
		canonical = other
	}
	if sh.syntax == powerShellSyntax && cmdlets[canonical] == nil && cmdlets["get-"+canonical] != nil {
		canonical = "get-" + canonical // PowerShell looks for a cmdlet with Get- in front
	}
	runs := sh.syntax.runners[canonical] || sh.syntax.runners[name] || interpreterName(name)
	if runs && !sh.suffix {
		x.opaqueCommand(c, "runs other code: "+name)
		x.everySuffix(c, 1)
	}
	if c.moved && strings.ContainsAny(c.name, `/\`) && !pathid.IsAbs(x.platform, c.name) {
		x.opaqueCommand(c, "a relative program after a change of directory")
	}
	found := foundCommand{c: c, syntax: sh.syntax}
	switch row, n := cmdlets[canonical], natives[name]; {
	case sh.syntax == powerShellSyntax && row != nil:
		found.full = x.cmdletTargets(at, row, fc, sh)
		if !x.platform.IsWindows() && canonical != name {
			x.bashTargets(at) // elsewhere it is the program of that name
		}
	case n != nil:
		x.nativeTargets(at, name, n, fc)
	default:
		x.bashTargets(at)
	}
	if !sh.guess || sh.suffix {
		*sh.found = append(*sh.found, found)
	} else {
		*sh.found = append(*sh.found, foundCommand{c: c, syntax: sh.syntax})
	}
	x.moveForeign(c, canonical, words)
	x.runForeign(at, name, canonical, fc, sh)
	return at
}

// unknownForeign looks at what a command with a name that is not wholly known may be: what stands before the unknown
// part, what is left when it is empty, and the words behind it.
func (x *analysis) unknownForeign(fc foreignCommand, sh foreignShell) {
	sh.guess, sh.suffix = true, true
	first := fc.words[0]
	try := func(text string) {
		if text == "" {
			return
		}
		other := fc
		other.words = append([]foreignWord{{word: lit(text), bare: true}}, fc.words[1:]...)
		x.foreignReading(other, sh)
	}
	try(first.prefix)
	if first.text != first.prefix {
		try(first.text)
	}
	if first.text == "" && len(fc.words) > 1 && fc.words[1].known && first.many {
		other := fc
		other.words = fc.words[1:]
		x.foreignReading(other, sh)
	}
}

// bashTargets looks a program up in the table of programs that have the same options everywhere.
func (x *analysis) bashTargets(at int) {
	c := x.f.commands[at]
	switch strings.ToLower(c.base) {
	case "powershell", "pwsh", "cmd":
		return
	}
	guess := c.denyOnly
	c.denyOnly = false // what it writes counts for dangerous paths too
	x.operands(c, at, x.dirs)
	c.denyOnly = guess
}

// foreignTargets calls fn for every value of a word.
func (x *analysis) foreignTargets(w foreignWord, fn func(word)) {
	switch {
	case w.value != nil:
		x.foreignTargets(*w.value, fn)
	case len(w.elems) > 0:
		for _, e := range w.elems {
			x.foreignTargets(e, fn)
		}
	default:
		for _, alt := range w.alts[:min(len(w.alts), maxAlternatives)] {
			fn(lit(alt))
		}
		if len(w.alts) == 0 || !w.known {
			fn(w.word)
		}
	}
}

// plainForeign is a path without what PowerShell has in front of it: a provider, a drive of its own, the tilde. other
// is the name of what holds no files.
func (x *analysis) plainForeign(text string) (plain, other string) {
	if provider, rest, ok := strings.Cut(text, "::"); ok && !strings.ContainsAny(provider, `/:`) && rest != "" && provider != "" {
		lower := strings.ToLower(provider)
		if lower != "filesystem" && !strings.HasSuffix(lower, `\filesystem`) {
			if strings.ContainsAny(provider, ".") && !strings.Contains(provider, `\`) || rest[0] == '$' {
				return text, "" // a stream: a.txt::$DATA
			}
			return "", lower
		}
		text = rest
	}
	if drive, rest, ok := strings.Cut(text, ":"); ok && len(drive) > 1 {
		lower := strings.ToLower(drive)
		if providers[lower] {
			return "", lower
		}
		if lower == "temp" && (rest == "" || rest[0] == '\\' || rest[0] == '/') {
			text = `~\AppData\Local\Temp` + rest
		}
	}
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') && x.home() != "" {
		text = x.home() + rest
	}
	if !x.platform.IsWindows() {
		text = strings.ReplaceAll(text, `\`, "/") // PowerShell takes both on every system
	}
	return text, ""
}
