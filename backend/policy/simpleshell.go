package policy

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"

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

// touch records that a command reads or writes what a word names.
func (x *analysis) touch(at int, w word, role byte, deep, chosen, literal bool) {
	if w.known {
		text, other := x.plainForeign(w.text)
		if other != "" {
			if role != 'r' {
				x.opaqueCommand(x.f.commands[at], "changes "+other)
			}
			return
		}
		w.text, w.prefix = text, text
		if !literal && strings.ContainsAny(text, "*?[") {
			w.glob, w.pattern = true, strings.ReplaceAll(text, `\`, "/")
		}
	}
	put := func(a access) {
		if !w.known && w.text != "" {
			// A variable that is not set is nothing, and the rest is a path of its own.
			bare := a
			bare.denyOnly = true
			x.record(at, x.access(lit(w.text), bare, x.dirs))
		}
		if chosen {
			// Only some of what is there: which is not known, so a rule about any path may be meant.
			a.dynamic = true
		} else {
			a.recursive = deep
		}
		x.record(at, x.access(w, a, x.dirs))
	}
	switch role {
	case 'r':
		put(access{})
	case 'w':
		put(access{write: true})
	case 'd':
		put(access{write: true, remove: true})
	case 'b':
		put(access{})
		put(access{write: true})
	case 'm':
		put(access{})
		put(access{write: true, remove: true})
	}
}

// cmdletTargets binds the words of a cmdlet to its parameters, as PowerShell would, and records the files. It returns
// the words with every parameter under its full name.
func (x *analysis) cmdletTargets(at int, row *cmdlet, fc foreignCommand, sh foreignShell) []word {
	type bound struct {
		w     foreignWord
		param cmdletParam
	}
	var targets []bound
	var plain []foreignWord
	named := map[string]bool{}
	described := true // every parameter is known, so the files below are all of them
	deep, chosen := fc.up.deep && fc.up.fed, false
	full := []word{fc.words[0].word}
	words := fc.words
	for i := 1; i < len(words); i++ {
		w := words[i]
		name := w.param
		if name == "" && w.bare && w.known && len(w.text) > 1 && w.text[0] == '-' && !(w.text[1] >= '0' && w.text[1] <= '9') {
			name = w.text
		}
		if name == "" {
			if row.reaches && w.bare && len(w.text) <= 4 && strings.HasPrefix(w.text, "/") {
				deep = deep || strings.Contains(strings.ToLower(w.text), "/s") // rd /s, as people write it for cmd
				continue
			}
			plain = append(plain, w)
			full = append(full, flat([]foreignWord{w})...)
			continue
		}
		param, reaches, known := row.param(strings.ToLower(strings.TrimLeft(name, "-")))
		deep = deep || reaches
		if !known {
			described = false
			full = append(full, w.word)
			if w.value != nil {
				plain = append(plain, *w.value) // a parameter nobody here knows
			}
			continue
		}
		named[param.name] = true
		switch param.name {
		case "LiteralPath", "PSPath", "FullName":
			named["Path"], named["FilePath"] = true, true
		}
		full = append(full, lit("-"+param.name))
		if w.value != nil {
			targets = append(targets, bound{*w.value, param})
			if param.role == 's' || param.role == 'R' {
				continue
			}
			full = append(full, flat([]foreignWord{*w.value})...)
			continue
		}
		if param.role == 's' || param.role == 'R' || i+1 >= len(words) {
			continue
		}
		i++
		targets = append(targets, bound{words[i], param})
		full = append(full, flat([]foreignWord{words[i]})...)
	}
	var free []cmdletParam
	for _, p := range row.operands {
		if !named[p.name] {
			free = append(free, p)
		}
	}
	for i, w := range plain {
		switch {
		case i < len(free):
			targets = append(targets, bound{w, free[i]})
		case len(free) > 0:
			targets = append(targets, bound{w, free[len(free)-1]})
		case len(row.operands) > 0:
			targets = append(targets, bound{w, row.operands[len(row.operands)-1]})
		}
	}
	paths := false
	for _, t := range targets {
		if t.param.role == 'c' {
			x.foreignTargets(t.w, func(w word) { chosen = chosen || t.param.name != "Exclude" && selects(w) })
		}
		paths = paths || strings.IndexByte("rwdmb", t.param.role) >= 0
	}
	for _, t := range targets {
		x.foreignTargets(t.w, func(w word) {
			switch t.param.role {
			case 'n':
				below := false
				for _, other := range targets {
					if strings.IndexByte("wm", other.param.role) < 0 || other.param.name == "Value" {
						continue
					}
					x.foreignTargets(other.w, func(dir word) {
						below = true
						x.touch(at, nameBelow(dir, w, other.param.role == 'm'), 'w', false, false, true)
					})
				}
				if !below {
					x.touch(at, w, 'w', false, false, true)
				}
			case 'x':
				x.opaqueCommand(x.f.commands[at], "runs a text")
				if w.known && !sh.raw {
					x.foreignText(w.text, sh.inside(at, powerShellSyntax))
				}
			default:
				x.touch(at, w, t.param.role, deep, chosen, strings.HasPrefix(t.param.name, "Literal"))
			}
		})
	}
	if !paths && fc.up.fed && row.pipe != 0 && row.pipe != 'v' {
		for _, path := range fc.up.paths {
			x.touch(at, lit(path), row.pipe, deep, chosen || fc.up.chosen, false)
		}
		if len(fc.up.paths) == 0 && row.pipe != 'r' {
			x.touch(at, word{many: true}, row.pipe, deep, false, false)
		}
	}
	c := x.f.commands[at]
	c.described = described && c.opaque == "" && !fc.up.fed
	if strings.EqualFold(row.name, "Invoke-Expression") && fc.up.fed && !sh.raw {
		for _, text := range fc.up.paths {
			x.foreignText(text, sh.inside(at, powerShellSyntax))
		}
	}
	return full
}

// selects reports whether a pattern leaves something out: it has a letter or a digit outside its classes.
func selects(w word) bool {
	class := false
	for _, r := range w.text {
		switch {
		case r == '[':
			class = true
		case r == ']':
			class = false
		case !class && strings.IndexByte("*?. ", byte(r)) < 0 || r > 0x7f:
			return true
		}
	}
	return !w.known
}

// nameBelow puts a name into a directory, or beside a file.
func nameBelow(dir, name word, beside bool) word {
	if !dir.known || !name.known {
		return word{}
	}
	text := dir.text
	if beside {
		i := strings.LastIndexAny(text, `/\`)
		if i < 0 {
			return name
		}
		text = text[:i]
	}
	return lit(text + `\` + name.text)
}

// param finds a parameter by its name or an unambiguous beginning of it. Of several, one that names a file counts.
func (row *cmdlet) param(name string) (out cmdletParam, reaches, known bool) {
	better := func(p cmdletParam) bool { return strings.IndexByte("rwdmbxn", p.role) >= 0 }
	for _, list := range [...][]cmdletParam{row.params, commonCmdlets} {
		for _, p := range list {
			if p.lower == name {
				return p, p.role == 'R', true
			}
		}
	}
	for _, list := range [...][]cmdletParam{row.params, commonCmdlets} {
		for _, p := range list {
			if !strings.HasPrefix(p.lower, name) {
				continue
			}
			reaches = reaches || p.role == 'R'
			if !known || better(p) && !better(out) {
				out, known = p, true
			}
		}
	}
	return out, reaches, known
}

// nativeTargets records the files of a program of Windows, or of a builtin of cmd.
func (x *analysis) nativeTargets(at int, name string, n *native, fc foreignCommand) {
	deep, removes := n.below["*"], false
	var operands []foreignWord
	roles := map[int]byte{}
	words := fc.words
	for i := 1; i < len(words); i++ {
		w := words[i]
		option := w.known && len(w.text) > 1 && (isCmdOption(w.text) || w.bare && w.text[0] == '-')
		if !option {
			operands = append(operands, w)
			continue
		}
		lower := "/" + strings.ToLower(strings.TrimLeft(w.text, "-/"))
		key, value, attached := lower, "", false
		if j := strings.IndexAny(lower, ":="); j > 0 {
			key, value, attached = lower[:j], w.text[min(len(w.text)-len(lower)+j+1, len(w.text)):], true
		}
		for part := range strings.SplitSeq(lower[1:], "/") { // /s/q
			part, _, _ = strings.Cut(part, ":")
			deep, removes = deep || n.below["/"+part], removes || n.removes["/"+part]
		}
		role, ok := n.options[key]
		switch {
		case !ok:
		case attached && value != "":
			roles[len(operands)] = role
			operands = append(operands, foreignWord{word: lit(value)})
		case i+1 < len(words):
			i++
			roles[len(operands)] = role
			operands = append(operands, words[i])
		}
	}
	place := 0
	var moved []foreignWord
	for i, w := range operands {
		role, ok := roles[i]
		if !ok {
			role = n.operands[min(place, len(n.operands)-1)]
			place++
		}
		if role == 'w' && removes {
			role = 'd'
		}
		values := []foreignWord{w}
		if name == "copy" && strings.Contains(w.text, "+") {
			for part := range strings.SplitSeq(w.text, "+") {
				values = append(values, foreignWord{word: lit(part)})
			}
		}
		for _, v := range values {
			x.foreignTargets(v, func(w word) {
				if role == 'n' {
					for _, from := range moved {
						x.touch(at, nameBelow(from.word, w, true), 'w', false, false, true)
					}
					return
				}
				x.touch(at, w, role, deep, false, false)
			})
		}
		if role == 'm' {
			moved = append(moved, w)
		}
	}
}

// isCmdOption recognises /s, /s/q and /g:file, and leaves out what is a path.
func isCmdOption(text string) bool {
	if text[0] != '/' {
		return false
	}
	i := strings.IndexAny(text, `\:`)
	return i < 0 || text[i] == ':' && i > 1
}

// movers change the directory for what follows.
var movers = set("cd chdir set-location sl pushd popd push-location pop-location")

// moveForeign follows a change of directory. A place that is not known, or outside the roots, is covered only by a rule
// that spells it.
func (x *analysis) moveForeign(c *command, name string, words []foreignWord) {
	if len(c.name) == 2 && isDrive(c.name) {
		x.dirs = x.dirs.lost()
		x.opaqueCommand(c, "changes the drive")
		return
	}
	if !movers[name] || len(words) == 1 && name != "popd" && name != "pop-location" {
		return
	}
	var target word
	for _, w := range words[1:] {
		switch {
		case w.value != nil:
			target = w.value.word
		case w.bare && len(w.text) > 1 && (w.text[0] == '-' || strings.EqualFold(w.text, "/d")):
		default:
			target = w.word
		}
	}
	out := places{unknown: x.dirs.unknown, list: x.dirs.list}
	inside := target.known && target.text != "" && !x.dirs.unknown
	if x.moves++; x.moves > maxMoves {
		inside = false
	} else if text, other := x.plainForeign(target.text); inside && other == "" {
		for _, from := range x.dirs.list {
			to, err := x.enter(from, text)
			if err != nil {
				inside = false
				continue
			}
			inside = inside && x.insideRoots(to.physical) && x.insideRoots(to.logical)
			out = out.union(places{list: []place{to}})
		}
	} else {
		inside = false
	}
	if inside {
		c.chdir = cdInside
	} else {
		out.unknown = true
		c.options = append(c.options, option{spelling: target.text, at: 1, dynamic: !target.known, file: true})
	}
	x.dirs = out
}

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
