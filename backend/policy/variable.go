package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variable is what the text itself says about one shell variable.
type variable struct {
	cands   []string // constants assigned anywhere in the text
	tainted bool     // assigned something else too, or in a place that need not run
	list    bool     // assigned as an array somewhere: declare evaluates a text that looks like one again
	count   int      // assignments in the text: only one that is the only one is certain
	value   string   // the value at this point of the walk
	certain bool
}

// variables are the variables of one shell process: the text and what it evaluates.
type variables struct {
	byName   map[string]*variable
	volatile bool // something may assign any variable: nothing is certain
}

func newVariables() *variables { return &variables{byName: map[string]*variable{}} }

func (v *variables) get(name string) *variable {
	known, ok := v.byName[name]
	if !ok {
		known = &variable{}
		v.byName[name] = known
	}
	return known
}

func (v *variables) candidate(name, value string) {
	known := v.get(name)
	for _, have := range known.cands {
		if have == value {
			return
		}
	}
	if len(known.cands) < maxCandidates {
		known.cands = append(known.cands, value)
	} else {
		known.tainted = true
	}
}

// scan collects every assignment of a tree before it is walked, so that a value assigned later in a loop is a candidate
// for a use that stands earlier.
func (v *variables) scan(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			v.scanAssign(n)
		case *syntax.ForClause:
			v.scanLoop(n)
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil {
				switch n.Exp.Op {
				case syntax.AssignUnset, syntax.AssignUnsetOrNull:
					v.get(n.Param.Value).tainted = true
					if value, ok := wordValue(n.Exp.Word); ok {
						v.candidate(n.Param.Value, value)
					}
				}
			}
		case *syntax.CallExpr:
			v.scanCall(n)
		case *syntax.DeclClause:
			for _, a := range n.Args {
				if a.Name != nil {
					v.get(a.Name.Value).tainted = true
				}
			}
		}
		return true
	})
}

func wordValue(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	return plainWord(w)
}

func (v *variables) scanAssign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	v.get(a.Name.Value).count++
	value, ok := wordValue(a.Value)
	if a.Array != nil || a.Index != nil {
		v.get(a.Name.Value).list = true
	}
	if a.Array != nil {
		for _, elem := range a.Array.Elems {
			if item, ok := wordValue(elem.Value); ok {
				v.candidate(a.Name.Value, item)
			}
		}
		ok = false
	}
	if a.Index != nil {
		ok = false
	}
	if ok {
		v.candidate(a.Name.Value, value)
	}
	if !ok || a.Append {
		v.get(a.Name.Value).tainted = true
	}
	if a.Append {
		// a=r; a+=m: every pair of a candidate and what is added is a candidate.
		for _, have := range append([]string(nil), v.get(a.Name.Value).cands...) {
			v.candidate(a.Name.Value, have+value)
		}
	}
}

func (v *variables) scanLoop(n *syntax.ForClause) {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok {
		return
	}
	v.get(iter.Name.Value).tainted = true
	for _, w := range iter.Items {
		if value, ok := plainWord(w); ok {
			v.candidate(iter.Name.Value, value)
		}
	}
}

// scanCall notices builtins that assign variables.
func (v *variables) scanCall(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	name, ok := plainWord(n.Args[0])
	if !ok {
		return
	}
	if strings.Contains(name, "{") {
		v.volatile = true // {read,USER} is read USER
	}
	switch name {
	case "eval", "source", ".", "trap", "alias", "enable", "shopt":
		v.volatile = true
	case "command", "builtin":
		v.volatile = true
		for _, w := range n.Args[1:] { // command read IFS
			if value, ok := plainWord(w); ok {
				value, _, _ = strings.Cut(value, "=")
				v.get(value).tainted = true
			}
		}
	case "read", "mapfile", "readarray", "getopts", "unset", "printf", "wait", "set", "shift", "let", "export",
		"readonly", "declare", "typeset", "local", "coproc":
		for _, w := range n.Args[1:] {
			if value, ok := plainWord(w); ok {
				value, _, _ = strings.Cut(value, "=")
				v.get(value).tainted = true
			} else {
				v.volatile = true
			}
		}
	}
}

// assign records a constant that is certainly assigned at this point.
func (v *variables) assign(name, value string, certain bool) {
	known := v.get(name)
	known.value, known.certain = value, certain && !known.tainted
	if !certain {
		known.tainted = true
	}
}

// harmlessVariables may be printed without telling a secret.
var harmlessVariables = map[string]bool{
	"USER": true, "LOGNAME": true, "SHELL": true, "LANG": true, "TERM": true, "PATH": true, "HOSTNAME": true,
	"OLDPWD": true, "HOME": true, "PWD": true, "UID": true, "EUID": true, "RANDOM": true, "SECONDS": true,
	"LINENO": true, "PPID": true, "BASHPID": true, "EPOCHSECONDS": true, "HOSTTYPE": true, "OSTYPE": true,
	"BASH_VERSION": true, "SHLVL": true,
}

// parameter expands $x and ${x…}.
func (x *analysis) parameter(p *syntax.ParamExp, quoted bool) piece {
	unknown := piece{unknown: true, quoted: quoted}
	if p.Param == nil || p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0 || p.Width || p.IsSet {
		x.opaque("unknown expansion")
		return unknown
	}
	name := p.Param.Value
	if p.Index != nil && !safeSubscript(p.Index) {
		x.opaque("subscript over a variable")
	}
	if p.Excl && p.Names == 0 {
		x.opaque("indirect expansion")
		return unknown
	}
	if p.Slice != nil && (!constantArithmetic(p.Slice.Offset) || !constantArithmetic(p.Slice.Length)) {
		x.opaque("arithmetic over a variable")
	}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		if op, ok := wordValue(p.Exp.Word); !ok || !strings.Contains("QUuLaAkK", op) || op == "" {
			x.opaque("${x@P} expansion")
		}
		return unknown
	}
	if p.Length {
		return piece{unknown: true, quoted: quoted, tame: true}
	}
	switch name {
	case "!", "-": // may be empty, and the letters of $- are letters of options
		if p.Exp == nil && p.Repl == nil && p.Index == nil && p.Slice == nil {
			unknown.echoes = true
		}
		return unknown
	case "?", "$", "#", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID":
		if _, assigned := x.vars.byName[name]; assigned {
			break
		}
		if p.Exp == nil && p.Repl == nil && p.Index == nil && p.Slice == nil {
			return piece{unknown: true, quoted: quoted, tame: true}
		}
	}
	if p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		unknown.cands = x.candidates(name)
		return unknown
	}
	value, known, assumed := x.lookup(name)
	if p.Exp == nil {
		if known && (quoted || !x.splitsOddly()) {
			return piece{text: value, pattern: escapePattern(value), quoted: quoted, split: !quoted, assumed: assumed}
		}
		unknown.cands = x.candidates(name)
		_, assigned := x.vars.byName[name]
		unknown.echoes = harmlessVariables[name] && !assigned && !x.vars.volatile
		return unknown
	}
	word, plain := wordValue(p.Exp.Word)
	if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
		x.setting(name, word, plain)
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if known && value != "" && (quoted || !x.splitsOddly()) {
			return piece{text: value, pattern: escapePattern(value), quoted: quoted, split: !quoted, assumed: true}
		}
		unknown.cands = x.candidates(name)
		if plain {
			unknown.cands = append(unknown.cands, word)
		}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if plain {
			unknown.cands = []string{word, ""}
		}
	default: // prefixes and suffixes removed, letter case changed
		unknown.cands = x.candidates(name)
		if known {
			unknown.cands = append(unknown.cands, value)
		}
	}
	return unknown
}

// splitsOddly reports whether the text sets IFS, so that nobody here knows where an unquoted value is split.
func (x *analysis) splitsOddly() bool {
	_, assigned := x.vars.byName["IFS"]
	return assigned
}

// candidates are the constants that the text assigns to name.
func (x *analysis) candidates(name string) []string {
	if known, ok := x.vars.byName[name]; ok {
		return append([]string(nil), known.cands...)
	}
	return nil
}

// lookup returns what a variable holds: assumed when only the environment says so.
func (x *analysis) lookup(name string) (value string, known, assumed bool) {
	if v, ok := x.vars.byName[name]; ok {
		if v.certain && !v.tainted && v.count <= 1 && !x.vars.volatile && x.functions == 0 {
			return v.value, true, false
		}
		return "", false, false
	}
	switch name {
	case "HOME":
		return x.home(), x.home() != "", true
	case "PWD":
		if len(x.dirs.list) == 1 && !x.dirs.unknown {
			return x.dirs.list[0].logical, true, true
		}
	case "IFS":
		return " ", true, true
	}
	return "", false, false
}

// constantArithmetic reports whether an arithmetic expression is made of numbers only: bash evaluates the text of every
// variable in it again, subscripts with command substitutions included.
func constantArithmetic(e syntax.ArithmExpr) bool {
	constant := true
	if e == nil {
		return true
	}
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			text, ok := plainWord(n)
			if !ok || strings.Trim(text, "0123456789") != "" || text == "" {
				constant = false
			}
			return false
		case *syntax.FlagsArithm:
			constant = false
		}
		return constant
	})
	return constant
}

// safeSubscript accepts [@], [*] and numbers.
func safeSubscript(e syntax.ArithmExpr) bool {
	if w, ok := e.(*syntax.Word); ok {
		if text, ok := plainWord(w); ok && (text == "@" || text == "*") {
			return true
		}
	}
	return constantArithmetic(e)
}
