package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"countersign/backend/pathid"
)

// Limits of one analysis. What is over them is opaque.
const (
	maxCommands   = 4096       // simple commands found, readings included
	maxParsed     = 130 << 10  // bytes parsed in all, texts inside texts included
	maxWords      = 2048       // words of one command
	maxRedirects  = 1024       // redirections of one command
	maxTextDepth  = 8          // texts inside texts: sh -c "sh -c …"
	maxWrappers   = 16         // wrappers around one command
	maxMoves      = 64         // changes of directory that are followed
	maxParameters = 64         // positional parameters that are followed
	maxTreeDepth  = MaxNesting // of the syntax tree
)

// analysis is one examination of a command text. It lives as long as Examine.
type analysis struct {
	f        *Facts
	platform pathid.Platform
	view     pathid.FS

	vars      *variables
	dirs      places // where the statement that is being looked at runs
	functions int    // inside how many function bodies
	branch    int    // inside how many constructs that need not run, or that run in a subshell
	depth     int    // of the tree
	texts     int    // of texts inside texts
	wrappers  int
	moves     int
	full      bool // too many commands: nothing more is looked at
	parsed    int
	cdMoves   bool            // the text changes its directory in a place that runs more than once
	hasCd     bool            // the text changes its directory somewhere
	defined   map[string]bool // functions that the text defines
	looked    looked          // what was already looked at on the filesystem
}

// scope is what the surroundings of a statement say about every command in it.
type scope struct {
	parent    int
	consumer  int
	explicit  bool
	denyOnly  bool
	fed       bool
	leaks     bool
	stdin     []string // what may stand on standard input, when that is literal text
	at        stretch  // where the statement stands in the call's own text
	inherited []assignment
}

func (x *analysis) home() string { return x.f.call.Home }

// opaque records why the text cannot be judged; the first reason stays the one that is shown.
func (x *analysis) opaque(why string) {
	if len(x.f.opaque) < 16 {
		x.f.opaque = append(x.f.opaque, why)
	}
}

func (x *analysis) insideRoots(path string) bool {
	return insideAny(x.platform, x.f.call.Roots, path)
}

func insideAny(p pathid.Platform, roots []string, path string) bool {
	for _, root := range roots {
		if pathid.Contains(p, root, path) {
			return true
		}
	}
	return false
}

// text analyses a whole text in the current shell.
func (x *analysis) text(text string, s scope, dirs places) flow {
	if why := hiddenText(text); why != "" {
		x.opaque(why)
		x.rawText(text)
	}
	if why := overLimit(text); why != "" {
		x.opaque(why)
		x.rawText(text)
		return stay(dirs.lost())
	}
	if why := joinedLines(text); why != "" {
		x.opaque(why)
		guess := s
		guess.denyOnly = true
		x.aside(func() flow { return x.text(strings.ReplaceAll(text, "\\\n", ""), guess, dirs) })
	}
	if x.parsed += len(text); x.parsed > maxParsed || x.texts >= maxTextDepth {
		x.opaque("too many texts inside texts")
		x.rawText(text)
		return stay(dirs.lost())
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		x.opaque("cannot be parsed")
		x.rawText(text)
		return stay(dirs.lost())
	}
	x.texts++
	defer func() { x.texts-- }()
	x.timedCommands(file)
	x.survey(file)
	return x.stmts(file.Stmts, s, dirs)
}

// rawText adds what a text that cannot be parsed might run, for deny and ask rules.
func (x *analysis) rawText(text string) {
	for _, words := range rawCommands(text) {
		for len(words) > 1 && isWrapperName(baseName(x.platform, words[0])) {
			words = words[1:]
			for len(words) > 1 && strings.HasPrefix(words[0], "-") {
				words = words[1:]
			}
		}
		c := newCommand(x.platform, lits(words...))
		c.denyOnly, c.raw = true, true
		if x.add(c) < 0 {
			return
		}
	}
}

// timedCommands takes the end of options away from time -- ls: the parser takes it for the name of the command, and what
// follows for its arguments. An assignment there is not read as one.
func (x *analysis) timedCommands(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if timed, ok := n.(*syntax.TimeClause); ok && timed.Stmt != nil {
			first := timed.Stmt
			for pipe, ok := first.Cmd.(*syntax.BinaryCmd); ok; pipe, ok = first.Cmd.(*syntax.BinaryCmd) {
				first = pipe.X
			}
			if call, ok := first.Cmd.(*syntax.CallExpr); ok && len(call.Assigns) == 0 && len(call.Args) > 0 && call.Args[0].Lit() == "--" {
				if call.Args = call.Args[1:]; len(call.Args) > 0 && assignsWord(call.Args[0]) {
					x.opaque("an assignment behind time --")
				}
			}
		}
		return true
	})
}

// assignsWord reports whether a word may be an assignment: its unquoted beginning has an equals sign.
func assignsWord(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if l, ok := part.(*syntax.Lit); ok && strings.Contains(l.Value, "=") {
			return true
		}
	}
	return false
}

// survey looks over a tree before it is walked.
func (x *analysis) survey(file *syntax.File) {
	x.vars.scan(file)
	inFunction := 0
	var ends []syntax.Pos
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			return true
		}
		for len(ends) > 0 && n.Pos().After(ends[len(ends)-1]) {
			ends = ends[:len(ends)-1]
			inFunction--
		}
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				x.define(n.Name.Value)
			}
			inFunction++
			ends = append(ends, n.End())
		case *syntax.CallExpr:
			if movesDirectory(n) {
				x.hasCd = true
				x.cdMoves = x.cdMoves || inFunction > 0
			}
		}
		return true
	})
}

// movesDirectory reports whether a call may change the working directory of its shell.
func movesDirectory(n *syntax.CallExpr) bool {
	for _, w := range n.Args {
		name, ok := plainWord(w)
		if !ok || strings.Contains(name, "{") { // {cd,src} is cd src
			return true
		}
		switch name {
		case "cd", "pushd", "popd", "eval", "source", ".":
			return true
		case "command", "builtin":
		default:
			return false
		}
	}
	return false
}

func containsMove(node syntax.Node) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && movesDirectory(call) {
			found = true
		}
		return !found
	})
	return found
}

func (x *analysis) stmts(list []*syntax.Stmt, s scope, dirs places) flow {
	f := stay(dirs)
	for _, st := range list {
		f = x.stmt(st, s, dirs)
		dirs = f.after()
	}
	return f
}

func (x *analysis) stmt(st *syntax.Stmt, s scope, dirs places) flow {
	if x.full {
		return stay(dirs.lost())
	}
	if x.depth++; x.depth > maxTreeDepth {
		// A long pipeline or list is a deep tree too, so the walk goes on; only real nesting is over the limit.
		if x.depth > maxCommands {
			x.opaque("nested too deep")
			x.depth--
			return stay(dirs.lost())
		}
	}
	defer func() { x.depth-- }()
	if x.cdMoves {
		dirs = dirs.lost()
	}
	x.dirs = dirs
	s.at = stretch{}
	s, targets := x.redirects(st.Redirs, s, dirs)
	s.at = x.stretchOf(st)
	if st.Background || st.Coprocess || st.Disown {
		x.branch++
		defer func() { x.branch-- }()
	}
	first := len(x.f.commands)
	f := x.command(st.Cmd, s, dirs)
	if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		x.attach(targets, first)
	}
	if st.Negated {
		f.ok, f.fail = f.fail, f.ok
	}
	if st.Background || st.Coprocess || st.Disown {
		return stay(dirs)
	}
	return f
}

// attach gives the accesses of redirections to the one command that they stand at. Those of a compound command, or of
// none, belong to nobody; every redirection is judged on its own as well (coveredText).
func (x *analysis) attach(targets []int, command int) {
	for _, t := range targets {
		if command < len(x.f.commands) {
			x.f.accesses[t].command = command
			x.f.commands[command].accesses = append(x.f.commands[command].accesses, t)
		}
	}
}

// aside analyses something that need not run, or that runs in a subshell.
func (x *analysis) aside(fn func() flow) flow {
	x.branch++
	defer func() { x.branch-- }()
	return fn()
}

func (x *analysis) command(cmd syntax.Command, s scope, dirs places) flow {
	switch cmd := cmd.(type) {
	case nil:
		return stay(dirs)
	case *syntax.CallExpr:
		return x.call(cmd, s, dirs)
	case *syntax.BinaryCmd:
		return x.binary(cmd, s, dirs)
	case *syntax.Subshell:
		x.aside(func() flow { return x.stmts(cmd.Stmts, s, dirs) })
		return stay(dirs)
	case *syntax.Block:
		return x.stmts(cmd.Stmts, s, dirs)
	case *syntax.IfClause:
		return x.ifClause(cmd, s, dirs)
	case *syntax.WhileClause:
		return x.loop(cmd, dirs, func(dirs places) places {
			f := x.stmts(cmd.Cond, s, dirs)
			return x.stmts(cmd.Do, s, f.after()).after()
		})
	case *syntax.ForClause:
		return x.forClause(cmd, s, dirs)
	case *syntax.CaseClause:
		return x.caseClause(cmd, s, dirs)
	case *syntax.FuncDecl:
		x.function(cmd, s, dirs)
		return stay(dirs)
	case *syntax.ArithmCmd:
		if !constantArithmetic(cmd.X) {
			x.opaque("arithmetic over a variable")
		}
		x.substitutionsIn(cmd, s, -1, dirs)
		return stay(dirs)
	case *syntax.LetClause:
		x.opaque("let")
		x.substitutionsIn(cmd, s, -1, dirs)
		return stay(dirs)
	case *syntax.TestClause:
		x.testClause(cmd, s, dirs)
		return stay(dirs)
	case *syntax.DeclClause:
		x.declare(cmd, s, dirs)
		return stay(dirs)
	case *syntax.TimeClause:
		if cmd.Stmt == nil {
			return stay(dirs)
		}
		return x.stmt(cmd.Stmt, s, dirs)
	case *syntax.CoprocClause:
		// The name of a coprocess is evaluated as a subscripted variable, and the parser does not see assignments before
		// its command.
		x.opaque("coprocess")
		x.aside(func() flow { return x.stmt(cmd.Stmt, s, dirs) })
		return stay(dirs)
	}
	x.opaque("unknown syntax")
	return stay(dirs.lost())
}

func (x *analysis) binary(cmd *syntax.BinaryCmd, s scope, dirs places) flow {
	switch cmd.Op {
	case syntax.AndStmt:
		left := x.stmt(cmd.X, s, dirs)
		right := x.aside(func() flow { return x.stmt(cmd.Y, s, left.ok) })
		return flow{ok: right.ok, fail: left.fail.union(right.fail)}
	case syntax.OrStmt:
		left := x.stmt(cmd.X, s, dirs)
		right := x.aside(func() flow { return x.stmt(cmd.Y, s, left.fail) })
		return flow{ok: left.ok.union(right.ok), fail: right.fail}
	}
	x.aside(func() flow { return x.stmt(cmd.X, s, dirs) })
	piped := s
	piped.fed, piped.stdin = true, echoed([]*syntax.Stmt{cmd.X})
	x.aside(func() flow { return x.stmt(cmd.Y, piped, dirs) })
	return stay(dirs)
}

func (x *analysis) ifClause(cmd *syntax.IfClause, s scope, dirs places) flow {
	out := places{}
	for cmd != nil {
		cond := flow{ok: dirs, fail: dirs}
		if len(cmd.Cond) > 0 {
			cond = x.stmts(cmd.Cond, s, dirs)
		}
		then := x.aside(func() flow { return x.stmts(cmd.Then, s, cond.ok) })
		out = out.union(then.after())
		dirs = cond.fail
		cmd = cmd.Else
		x.branch++ // every following condition need not be reached
		defer func() { x.branch-- }()
	}
	return stay(out.union(dirs))
}

// loop analyses a body that runs any number of times.
func (x *analysis) loop(node syntax.Node, dirs places, body func(places) places) flow {
	if containsMove(node) {
		dirs = dirs.lost()
	}
	x.branch++
	defer func() { x.branch-- }()
	return stay(dirs.union(body(dirs)))
}

func (x *analysis) forClause(cmd *syntax.ForClause, s scope, dirs places) flow {
	switch iter := cmd.Loop.(type) {
	case *syntax.WordIter:
		x.loopName(iter, s)
		for _, w := range iter.Items {
			x.pieces(w.Parts, false, nil)
			x.substitutionsIn(w, s, -1, dirs)
		}
	case *syntax.CStyleLoop:
		if !constantArithmetic(iter.Init) || !constantArithmetic(iter.Cond) || !constantArithmetic(iter.Post) {
			x.opaque("arithmetic over a variable")
		}
		x.substitutionsIn(iter, s, -1, dirs)
	}
	return x.loop(cmd, dirs, func(dirs places) places { return x.stmts(cmd.Do, s, dirs).after() })
}

// loopName judges the variable of for and select like any other assignment: for PATH in ./bin changes what ls is.
func (x *analysis) loopName(iter *syntax.WordIter, s scope) {
	if iter.Name == nil {
		x.opaque("unknown syntax")
		return
	}
	name := iter.Name.Value
	x.setting(name, "", false)
	c := newCommand(x.platform, nil)
	// What the values are does not matter for a name that no program reads.
	c.assigns = append([]assignment{{name: name, known: localName(name), single: true}}, s.inherited...)
	c.parent, c.denyOnly, c.explicit, c.consumer = s.parent, s.denyOnly, s.explicit, s.consumer
	x.add(c)
}

func (x *analysis) caseClause(cmd *syntax.CaseClause, s scope, dirs places) flow {
	x.pieces(cmd.Word.Parts, false, nil)
	x.substitutionsIn(cmd.Word, s, -1, dirs)
	out := dirs
	for _, item := range cmd.Items {
		for _, p := range item.Patterns {
			x.pieces(p.Parts, false, nil)
			x.substitutionsIn(p, s, -1, dirs)
		}
		// ;& and ;;& run the next body too, so every body starts where any of them may have left.
		f := x.aside(func() flow { return x.stmts(item.Stmts, s, out) })
		out = out.union(f.after())
	}
	return stay(out)
}
