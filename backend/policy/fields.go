package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands {a,b} in a copy of the word. Sequences such as {1..9} stay one word of which nothing is known but that
// it is made of digits or letters.
func (x *analysis) braces(w *syntax.Word) [][]syntax.WordPart {
	if !hasBrace(w) {
		return [][]syntax.WordPart{w.Parts}
	}
	copied := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(copied)
	left := maxBraceWords
	words := x.expandBraces(copied.Parts, &left)
	if left <= 0 {
		x.opaque("brace expansion too large")
		return [][]syntax.WordPart{w.Parts}
	}
	return words
}

func hasBrace(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if l, ok := part.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

func (x *analysis) expandBraces(parts []syntax.WordPart, left *int) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, part := range parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok || brace.Sequence {
			for i := range out {
				out[i] = append(out[i][:len(out[i]):len(out[i])], part)
			}
			continue
		}
		var next [][]syntax.WordPart
		for _, elem := range brace.Elems {
			for _, tail := range x.expandBraces(elem.Parts, left) {
				for _, head := range out {
					if *left--; *left <= 0 {
						return out
					}
					next = append(next, append(head[:len(head):len(head)], tail...))
				}
			}
		}
		out = next
	}
	return out
}

// expandWords turns the words of a command into pieces, one list per word after brace expansion.
func (x *analysis) expandWords(words []*syntax.Word) [][]piece {
	var out [][]piece
	for _, w := range words {
		for _, parts := range x.braces(w) {
			out = append(out, x.pieces(parts, false, nil))
		}
		if len(out) > MaxCommand {
			x.opaque("too many words")
			break
		}
	}
	return out
}

// readings returns the words of a command: first the certain reading, then the others that the candidates of unknown
// variables allow (for deny and ask rules only).
func (x *analysis) readings(list [][]piece) (certain []word, others [][]word) {
	certain = fieldsOf(list, nil)
	type slot struct{ word, piece int }
	var open []slot
	count := 1
	for i, pieces := range list {
		for j, p := range pieces {
			if !p.unknown || len(p.cands) == 0 {
				continue
			}
			open = append(open, slot{i, j})
			if count *= len(p.cands); count > maxReadings {
				x.opaque("too many possible values")
				return certain, others
			}
		}
	}
	if len(open) == 0 {
		return certain, nil
	}
	for n := range count {
		pick := map[[2]int]string{}
		for _, s := range open {
			cands := list[s.word][s.piece].cands
			pick[[2]int{s.word, s.piece}] = cands[n%len(cands)]
			n /= len(cands)
		}
		others = append(others, fieldsOf(list, pick))
	}
	return certain, others
}

// fieldsOf does field splitting. pick gives values to unknown pieces.
func fieldsOf(list [][]piece, pick map[[2]int]string) []word {
	var out []word
	for i, pieces := range list {
		var f fieldBuilder
		for j, p := range pieces {
			if p.unknown {
				if value, ok := pick[[2]int{i, j}]; ok {
					p.unknown, p.text, p.pattern = false, value, escapePattern(value)
					p.split = !p.quoted
				}
			}
			f.add(p)
		}
		out = f.done(out)
	}
	return out
}

// fieldBuilder joins pieces to words, splitting where the shell would.
type fieldBuilder struct {
	out     []word
	cur     word
	text    []byte // of cur; words of many pieces would else be copied for every piece
	pattern []byte
	prefix  []byte
	started bool
	broken  bool // an unknown piece was seen in cur
}

func (f *fieldBuilder) add(p piece) {
	if p.split && !p.quoted {
		text := p.text
		for {
			i := strings.IndexAny(text, " \t\n")
			if i < 0 {
				break
			}
			f.put(piece{text: text[:i], pattern: escapePattern(text[:i]), assumed: p.assumed}, text[:i] != "")
			f.flush()
			text = text[i+1:]
		}
		f.put(piece{text: text, pattern: text, assumed: p.assumed, glob: strings.ContainsAny(text, "*?[")}, text != "")
		return
	}
	f.put(p, p.quoted || p.text != "" || p.unknown)
}

func (f *fieldBuilder) put(p piece, start bool) {
	if start && !f.started {
		f.started = true
		f.cur = word{known: true, tame: true}
	}
	if !f.started {
		return
	}
	w := &f.cur
	f.text = append(f.text, p.text...)
	f.pattern = append(f.pattern, p.pattern...)
	w.assumed = w.assumed || p.assumed
	w.glob = w.glob || p.glob
	w.quoted = w.quoted || p.quoted
	if p.unknown {
		w.known = false
		w.many = w.many || !p.quoted && !p.tame
		w.tame = w.tame && p.tame
		w.wild = w.wild || !p.tame && !p.echoes && !p.subst
		w.subst = w.subst || p.subst
		f.broken = true
	}
	if !f.broken {
		f.prefix = append(f.prefix, p.text...)
	}
}

func (f *fieldBuilder) flush() {
	if f.started {
		f.cur.tame = f.cur.tame && !f.cur.known
		f.cur.text, f.cur.pattern, f.cur.prefix = string(f.text), string(f.pattern), string(f.prefix)
		f.out = append(f.out, f.cur)
	}
	f.started, f.broken, f.cur = false, false, word{}
	f.text, f.pattern, f.prefix = f.text[:0], f.pattern[:0], f.prefix[:0]
}

func (f *fieldBuilder) done(out []word) []word {
	f.flush()
	return append(out, f.out...)
}
