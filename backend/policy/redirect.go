package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"countersign/backend/pathid"
)

// redirects looks at the redirections of a statement. It returns the scope with what stands on standard input, and the
// accesses it made.
func (x *analysis) redirects(list []*syntax.Redirect, s scope, dirs places) (scope, []int) {
	var targets []int
	if len(list) > maxRedirects {
		x.opaque("too many redirections")
		list = list[:maxRedirects]
	}
	for _, r := range list {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			x.opaque("redirection into a variable")
		}
		input := r.N == nil || r.N.Value == "0"
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			s.fed = s.fed || input
			if r.Hdoc != nil {
				s.leaks = s.leaks || leaks(x.pieces(r.Hdoc.Parts, true, nil))
				s.stdin = append(s.stdin, heredocTexts(r.Hdoc)...)
				x.substitutionsIn(r.Hdoc, s, len(x.f.commands), dirs)
			}
			continue
		case syntax.WordHdoc:
			s.fed = s.fed || input
			s.leaks = s.leaks || leaks(x.pieces(r.Word.Parts, false, nil))
			s.stdin = append(s.stdin, stdinTexts(r.Word)...)
			x.substitutionsIn(r.Word, s, len(x.f.commands), dirs)
			continue
		}
		certain, others := x.readings([][]piece{x.pieces(r.Word.Parts, false, nil)})
		if list, expanded := x.braces(r.Word); expanded {
			// bash expands braces in a target too; sh does not. So nothing is certain, and each word is a possible reading.
			certain = nil
			for _, parts := range list {
				first, more := x.readings([][]piece{x.pieces(parts, false, nil)})
				others = append(append(others, first), more...)
			}
		}
		write := true
		switch r.Op {
		case syntax.RdrIn:
			write = false
			s.fed = s.fed || input
		case syntax.DplIn, syntax.DplOut:
			if len(certain) == 1 && certain[0].known && isDescriptor(certain[0].text) {
				continue
			}
			write = r.Op == syntax.DplOut
		}
		both := r.Op == syntax.RdrInOut
		x.substitutionsIn(r.Word, s, -1, dirs)
		if len(certain) != 1 {
			certain = []word{{wild: true, many: true}}
		}
		targets = append(targets, x.redirectTo(certain[0], write, both, false, dirs)...)
		for _, words := range others {
			for _, w := range words {
				targets = append(targets, x.redirectTo(w, write, both, true, dirs)...)
			}
		}
	}
	return s, targets
}

// leaks reports whether a text that becomes input holds a variable nobody knows.
func leaks(pieces []piece) bool {
	for _, p := range pieces {
		if p.unknown && !p.tame && !p.echoes && !p.subst {
			return true
		}
	}
	return false
}

// heredocTexts returns the text of a here-document that has no expansions.
func heredocTexts(w *syntax.Word) []string {
	var b strings.Builder
	for _, part := range w.Parts {
		l, ok := part.(*syntax.Lit)
		if !ok {
			return nil
		}
		b.WriteString(l.Value)
	}
	return []string{b.String()}
}

func isDescriptor(text string) bool {
	text = strings.TrimSuffix(text, "-")
	return strings.Trim(text, "0123456789") == ""
}

func (x *analysis) redirectTo(w word, write, both, denyOnly bool, dirs places) []int {
	if strings.HasPrefix(w.text, "/dev/tcp/") || strings.HasPrefix(w.text, "/dev/udp/") {
		x.opaque("a connection through /dev/tcp")
		return nil
	}
	if strings.HasPrefix(w.text, "!") {
		x.opaque("a redirection that zsh reads in another way")
	}
	if w.known && harmlessDevice(x.platform, w.text) {
		return nil
	}
	proto := access{write: write, redirect: true, denyOnly: denyOnly, command: -1}
	out := x.access(w, proto, dirs)
	if w.known && w.glob && len(out) <= max(1, len(dirs.list)) { // matches nothing: then it is a name like any other
		w.glob = false
		out = append(out, x.access(w, proto, dirs)...)
	}
	if both {
		proto.write = !write
		out = append(out, x.access(w, proto, dirs)...)
	}
	return out
}

// harmlessDevice names what a redirection may always use.
func harmlessDevice(p pathid.Platform, name string) bool {
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/zero", "/dev/tty", "/dev/full",
		"/dev/fd/0", "/dev/fd/1", "/dev/fd/2":
		return true
	case "NUL", "nul": // elsewhere it is a file like any other
		return p.IsWindows()
	}
	return false
}

// access records that a word names a path, once for every directory it may be relative to.
func (x *analysis) access(w word, proto access, dirs places) []int {
	if len(x.f.accesses) >= maxAccesses {
		x.opaque("too many paths")
		return nil
	}
	proto.text = w.text
	var out []int
	put := func(a access) {
		if len(x.f.accesses) >= maxAccesses {
			x.opaque("too many paths")
			return
		}
		x.f.accesses = append(x.f.accesses, a)
		out = append(out, len(x.f.accesses)-1)
	}
	proto.assumed = w.assumed
	if !w.known {
		proto.dynamic = true
		proto.lexical = ""
		put(proto)
		return out
	}
	if w.text == "" {
		return nil
	}
	if dirs.unknown && !pathid.IsAbs(x.platform, w.text) {
		proto.dynamic = true
	}
	list := dirs.list
	if len(list) == 0 {
		list = []place{{logical: x.f.call.Cwd, physical: x.f.cwd}}
	}
	if pathid.IsAbs(x.platform, w.text) {
		list = list[:1]
	}
	for _, from := range list {
		if !w.glob {
			a := proto
			x.locate(&a, from.physical, w.text)
			put(a)
			continue
		}
		a := proto
		a.globbed = true
		a.pattern = x.absolutePattern(from.physical, w.pattern)
		x.locate(&a, from.physical, w.text)
		put(a)
		names, complete := x.expandGlob(a.pattern)
		if !complete {
			a.dynamic = true
			put(a)
		}
		for _, name := range names {
			a := proto
			x.locate(&a, from.physical, name)
			put(a)
		}
	}
	return out
}
