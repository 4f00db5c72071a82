package policy

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// add appends a command and returns its index, or -1 when there are too many.
func (x *analysis) add(c *command) int {
	if len(x.f.commands) >= maxCommands {
		x.opaque("too many commands")
		x.full = true
		return -1
	}
	x.f.commands = append(x.f.commands, c)
	return len(x.f.commands) - 1
}

// call analyses a simple command with the assignments before it.
func (x *analysis) call(ce *syntax.CallExpr, s scope, dirs places) flow {
	assigns := x.assignments(ce.Assigns, s, dirs)
	if len(ce.Args) == 0 {
		for i := range assigns {
			assigns[i].single = true
			a := assigns[i]
			x.vars.assign(a.name, a.value, a.known && !a.append && x.branch == 0 && x.functions == 0)
		}
		c := newCommand(x.platform, nil)
		c.assigns = append(assigns, s.inherited...)
		c.parent, c.denyOnly, c.explicit = s.parent, s.denyOnly, s.explicit
		c.consumer, c.stretch = s.consumer, s.at
		x.add(c)
		return stay(dirs)
	}
	list := x.expandWords(ce.Args)
	certain, others := x.readings(list)
	s.inherited = append(assigns, s.inherited...)
	at := len(x.f.commands)
	f := x.simple(certain, s, dirs)
	for _, w := range ce.Args {
		x.substitutionsIn(w, s, at, dirs)
	}
	for _, words := range others {
		maybe := s
		maybe.denyOnly = true
		f.ok = f.ok.union(x.simple(words, maybe, dirs).ok)
	}
	return f
}

// codeVariables run code, or change what a name means, when they are set.
var codeVariables = map[string]bool{
	"PS4": true, "PS0": true, "PS1": true, "PROMPT_COMMAND": true, "BASH_ENV": true, "ENV": true,
	"BASH_CMDS": true, "BASH_ALIASES": true, "BASH_LOADABLES_PATH": true, "SHELLOPTS": true, "BASHOPTS": true,
}

// numberVariables are evaluated as arithmetic when they are set: RANDOM=N runs what stands in a subscript in the text of N.
var numberVariables = set("RANDOM SRANDOM SECONDS OPTIND HISTCMD LINENO BASHPID PPID UID EUID EPOCHSECONDS EPOCHREALTIME " +
	"BASH_SUBSHELL BASH_MONOSECONDS COMP_CWORD COMP_POINT COMP_KEY COMP_TYPE")

// setting notes that the text sets a variable whose value bash runs or evaluates.
func (x *analysis) setting(name, value string, known bool) {
	switch {
	case codeVariables[name], strings.HasPrefix(name, "BASH_FUNC_"):
		x.opaque(name + " is set")
	case numberVariables[name] && (!known || strings.Trim(value, "0123456789") != ""):
		x.opaque("arithmetic over a variable")
	}
}

func (x *analysis) assignments(list []*syntax.Assign, s scope, dirs places) []assignment {
	var out []assignment
	if len(list) > maxWords {
		x.opaque("too many words")
		list = list[:maxWords]
	}
	for _, a := range list {
		if a.Name == nil {
			x.opaque("assignment without a name")
			continue
		}
		entry := assignment{name: a.Name.Value, append: a.Append, known: a.Array == nil && a.Index == nil}
		if a.Index != nil && !safeSubscript(a.Index) {
			x.opaque("subscript over a variable")
			x.substitutionsIn(a.Index, s, -1, dirs)
		}
		if a.Value != nil {
			words := fieldsOf([][]piece{quoteAll(x.pieces(a.Value.Parts, false, nil))}, nil)
			for _, w := range words {
				entry.value += w.text
				entry.known = entry.known && w.known && !w.assumed
			}
			x.substitutionsIn(a.Value, s, -1, dirs)
		}
		if a.Array != nil {
			for _, elem := range a.Array.Elems {
				if elem.Index != nil && !safeSubscript(elem.Index) {
					x.opaque("subscript over a variable")
				}
				if elem.Value != nil {
					x.pieces(elem.Value.Parts, false, nil)
				}
			}
			x.substitutionsIn(a.Array, s, -1, dirs)
		}
		x.setting(entry.name, entry.value, entry.known)
		out = append(out, entry)
	}
	return out
}

// quoteAll marks pieces as not split and not patterns: an assignment does neither.
func quoteAll(pieces []piece) []piece {
	for i := range pieces {
		pieces[i].quoted, pieces[i].split, pieces[i].glob = true, false, false
	}
	return pieces
}

// substitutionsIn analyses the command and process substitutions inside a node, and what arithmetic stands beside them.
// Their output becomes words of the command consumer.
func (x *analysis) substitutionsIn(node syntax.Node, s scope, consumer int, dirs places) {
	inner := s
	inner.consumer = consumer
	inner.explicit = true
	inner.parent = -1
	inner.fed, inner.stdin = false, nil
	run := func(stmts []*syntax.Stmt) {
		x.aside(func() flow { return x.stmts(stmts, inner, dirs) })
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if n.ReplyVar || n.TempFile {
				x.opaque("unknown syntax")
			}
			run(n.Stmts)
			return false
		case *syntax.ProcSubst:
			run(n.Stmts)
			return false
		case *syntax.ArithmExp:
			if !constantArithmetic(n.X) {
				x.opaque("arithmetic over a variable")
			}
		case *syntax.ParamExp:
			// Parameters inside arithmetic and inside other expansions are looked at for what makes them opaque.
			x.parameter(n, true)
		}
		return true
	})
	x.dirs = dirs
}

// testClause analyses [[ … ]].
func (x *analysis) testClause(cmd *syntax.TestClause, s scope, dirs places) {
	c := newCommand(x.platform, lits("[["))
	c.parent, c.denyOnly, c.explicit, c.consumer = s.parent, s.denyOnly, s.explicit, s.consumer
	c.assigns, c.stretch = s.inherited, s.at
	at := x.add(c)
	numbers := func(operands ...syntax.TestExpr) bool {
		for _, o := range operands {
			w, ok := o.(*syntax.Word)
			if !ok {
				return false
			}
			text, ok := plainWord(w)
			if _, err := strconv.Atoi(text); !ok || err != nil {
				return false
			}
		}
		return true
	}
	syntax.Walk(cmd.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				x.opaque("[[ -v ]]")
			}
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				if !numbers(n.X, n.Y) {
					x.opaque("arithmetic over a variable")
				}
			}
		case *syntax.Word:
			c.words = append(c.words, fieldsOf([][]piece{quoteAll(x.pieces(n.Parts, false, nil))}, nil)...)
			x.substitutionsIn(n, s, at, dirs)
			return false
		}
		return true
	})
}

// declare analyses declare, local, export, readonly, typeset and nameref.
func (x *analysis) declare(cmd *syntax.DeclClause, s scope, dirs places) {
	c := newCommand(x.platform, lits(cmd.Variant.Value))
	c.parent, c.denyOnly, c.explicit, c.consumer = s.parent, s.denyOnly, s.explicit, s.consumer
	c.stretch = s.at
	if cmd.Variant.Value == "nameref" {
		x.opaque("reference to a variable")
	}
	var named []*syntax.Assign
	for _, a := range cmd.Args {
		if !a.Naked {
			named = append(named, a)
			continue
		}
		if a.Value == nil {
			if a.Name != nil {
				c.words = append(c.words, lit(a.Name.Value))
			}
			if a.Index != nil && !safeSubscript(a.Index) {
				x.opaque("subscript over a variable")
			}
			continue
		}
		for _, w := range fieldsOf([][]piece{x.pieces(a.Value.Parts, false, nil)}, nil) {
			c.words = append(c.words, w)
			switch {
			case !w.known:
				x.opaque("declaration is not literal")
			case strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "nifF"),
				strings.ContainsAny(w.text, "[=") && !strings.HasPrefix(w.text, "-"):
				x.opaque("declaration that evaluates")
			}
		}
		x.substitutionsIn(a.Value, s, -1, dirs)
	}
	own := x.assignments(named, s, dirs)
	lists := false
	for _, w := range c.words {
		lists = lists || strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "aA")
	}
	for i, a := range own {
		// A value that looks like an array is read as one, whatever quotes it has: declare -A x='([a]=$(date))'.
		if named[i].Array == nil && (strings.HasPrefix(a.value, "(") || !a.known && (lists || x.vars.get(a.name).list)) {
			x.opaque("declaration that evaluates")
		}
	}
	c.assigns = append(own, s.inherited...)
	c.declares = len(named) > 0 && len(c.words) == 1
	x.add(c)
}

// simple analyses one reading of a simple command: what it is, what it runs, what it reads and writes.
func (x *analysis) simple(words []word, s scope, dirs places) flow {
	c := newCommand(x.platform, words)
	c.parent, c.consumer, c.explicit, c.denyOnly = s.parent, s.consumer, s.explicit, s.denyOnly
	c.assigns, c.fed, c.leaks = s.inherited, s.fed, s.leaks
	c.at, c.moved, c.stretch = dirs, !dirs.only(x.f.cwd), s.at
	at := x.add(c)
	if at < 0 {
		return stay(dirs.lost())
	}
	if x.wrappers++; x.wrappers > maxWrappers {
		x.wrappers--
		x.opaqueCommand(c, "too many wrappers")
		x.everySuffix(c, 1)
		return stay(dirs.lost())
	}
	defer func() { x.wrappers-- }()
	if s.parent >= 0 {
		x.f.commands[s.parent].inner = append(x.f.commands[s.parent].inner, at)
	}
	if len(words) == 0 {
		x.opaqueCommand(c, "command name is not literal")
		return stay(dirs)
	}
	if !words[0].known || words[0].glob || words[0].text == "" {
		return x.unknownName(c, s, dirs)
	}
	if misread(words[0]) {
		x.opaqueCommand(c, "a command that begins with a word of the shell")
		x.everySuffix(c, 1)
	}
	if x.defined[c.name] {
		c.function = true
	}
	x.dirs = dirs
	f := x.builtin(c, at, s, dirs)
	x.operands(c, at, dirs)
	x.executing(c)
	return f
}

// misread reports whether the first word of a command is one that a shell would not take for a program: an assignment or
// a keyword, unquoted, where the parser saw none. Then shell and parser disagree about where the command starts.
func misread(w word) bool {
	if w.quoted {
		return false
	}
	_, _, assigns := splitAssign(w.text)
	return assigns || w.text == "!" || syntax.IsKeyword(w.text) && w.text != "time"
}

// unknownName handles a command whose name nobody can read: it is opaque, and what stands before the first unknown is
// still compared with deny rules (rm$IFS-rf).
func (x *analysis) unknownName(c *command, s scope, dirs places) flow {
	x.opaqueCommand(c, "command name is not literal")
	if w := c.words[0]; w.prefix != "" && !w.known {
		guess := s
		guess.denyOnly = true
		rest := append([]word{lit(w.prefix)}, c.words[1:]...)
		x.simple(rest, guess, dirs)
	}
	if c.words[0].many && len(c.words) > 1 && !s.denyOnly {
		// An unquoted unknown may vanish: $EMPTY rm -rf x is rm.
		guess := s
		guess.denyOnly = true
		x.simple(c.words[1:], guess, dirs)
	}
	return stay(dirs.lost())
}

func (x *analysis) opaqueCommand(c *command, why string) {
	if c.opaque == "" {
		c.opaque = why
	}
	x.opaque(why)
}
