package policy

import (
	"strings"
)

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
