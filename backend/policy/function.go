package policy

import (
	"mvdan.cc/sh/v3/syntax"
)

// define notes a function. One that has the name of a command this package knows would change what that name means.
func (x *analysis) define(name string) {
	x.defined[name] = true
	base := baseName(x.platform, name)
	if isWrapperName(base) || builtinNames[base] || safeReads[base] != nil || name != base {
		x.opaque("a function takes the name of a command")
	}
}

// function analyses the body of a function, which may run anywhere and with any parameters.
func (x *analysis) function(cmd *syntax.FuncDecl, s scope, dirs places) {
	if cmd.Name == nil || cmd.Body == nil {
		x.opaque("unknown syntax")
		return
	}
	if forksItself(cmd) {
		x.f.forkBomb = true
	}
	if x.hasCd {
		dirs = dirs.lost()
	}
	x.functions++
	x.branch++
	x.stmt(cmd.Body, s, dirs)
	x.branch--
	x.functions--
}

// forksItself recognises a function that starts itself more than once at a time: the fork bomb :(){ :|:& };: in all its
// spellings.
func forksItself(cmd *syntax.FuncDecl) bool {
	calls := func(st *syntax.Stmt) (n int) {
		syntax.Walk(st, func(node syntax.Node) bool {
			if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				if name, ok := plainWord(call.Args[0]); ok && name == cmd.Name.Value {
					n++
				}
			}
			return true
		})
		return n
	}
	found := false
	syntax.Walk(cmd.Body, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.BinaryCmd:
			if (node.Op == syntax.Pipe || node.Op == syntax.PipeAll) && calls(node.X) > 0 && calls(node.Y) > 0 {
				found = true
			}
		case *syntax.Stmt:
			if node.Background && calls(node) > 0 && calls(cmd.Body) > 1 {
				found = true
			}
		}
		return !found
	})
	return found
}
