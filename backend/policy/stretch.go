package policy

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// stretch is a literal run of bytes of the command text; start and end are both 0 where there is none.
type stretch struct{ start, end int }

func (s stretch) exists() bool { return s.end > s.start }

func (s stretch) overlaps(o stretch) bool { return s.start < o.end && o.start < s.end }

// stretchOf is where a simple command stands in the call's own text: its assignments, its words and its redirections. The
// body of a here-document is not in it, because other commands may stand between the two. What stands in a text inside the
// text has no place, since that text was put together by the shell.
func (x *analysis) stretchOf(st *syntax.Stmt) stretch {
	if x.texts != 1 {
		return stretch{}
	}
	switch st.Cmd.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.TestClause:
	default:
		return stretch{}
	}
	first, last := st.Cmd.Pos(), st.Cmd.End()
	for _, r := range st.Redirs {
		if r.Pos().Offset() < first.Offset() {
			first = r.Pos()
		}
		if r.Word != nil && r.Word.End().Offset() > last.Offset() {
			last = r.Word.End()
		}
	}
	out := stretch{int(first.Offset()), int(last.Offset())}
	if !first.IsValid() || !last.IsValid() || !out.exists() || out.end > len(x.f.text) {
		return stretch{}
	}
	return out
}

// severity orders the states of a part by how much they want a reader's attention.
var severity = map[string]int{PartOpaque: 0, PartNew: 1, PartCovered: 2}

// placeParts puts the parts in the order of the text and settles whose stretch counts where one command stands inside
// another (echo $(date)): the one that wants more attention, and of equals the outer one. So nothing that is new or opaque
// is ever marked as covered.
func placeParts(parts []Part) {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := &parts[a], &parts[b]
		return cmp.Or(cmp.Compare(severity[p.State], severity[q.State]), cmp.Compare(q.End-q.Start, p.End-p.Start))
	})
	var taken []stretch
	keeps := make([]bool, len(parts))
	for _, i := range order {
		at := stretch{parts[i].Start, parts[i].End}
		if !at.exists() || overlapsAny(taken, at) {
			continue
		}
		pos, _ := slices.BinarySearchFunc(taken, at, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
		taken = slices.Insert(taken, pos, at)
		keeps[i] = true
	}
	// A part without a place of its own keeps to the one that it was found after, or that it stands in.
	type placed struct {
		part Part
		at   int
	}
	list := make([]placed, len(parts))
	at := 0
	for i, p := range parts {
		if p.End > p.Start {
			at = p.Start
		}
		if !keeps[i] {
			p.Start, p.End = 0, 0
		}
		list[i] = placed{p, at}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	for i, p := range list {
		parts[i] = p.part
	}
}

// overlapsAny looks in a list of stretches that do not overlap, in order.
func overlapsAny(list []stretch, at stretch) bool {
	i, _ := slices.BinarySearchFunc(list, at, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	return i < len(list) && list[i].overlaps(at) || i > 0 && list[i-1].overlaps(at)
}
