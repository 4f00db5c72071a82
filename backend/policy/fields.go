package policy

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands {a,b} and {a..c} in a copy of the word. A sequence that is not two plain numbers or two letters of one
// case stays a piece of which nothing is known. expanded is true when the word had a brace expansion.
func (x *analysis) braces(w *syntax.Word) (words [][]syntax.WordPart, expanded bool) {
	if !hasBrace(w) {
		return [][]syntax.WordPart{w.Parts}, false
	}
	copied := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(copied)
	for _, part := range copied.Parts {
		_, brace := part.(*syntax.BraceExp)
		expanded = expanded || brace
	}
	if looseBrace(copied.Parts) && (expanded || hasComma(w)) {
		x.opaque("braces that can be read in two ways") // {..{1..3}..} is no expansion at all in bash
	}
	if expanded && startsExpansion(w) {
		x.opaque("an expansion that braces may complete") // {$,x}HOME becomes $HOME, which is expanded next
	}
	left := maxBraceWords
	words = x.expandBraces(copied.Parts, &left)
	if left <= 0 {
		x.opaque("brace expansion too large")
		return [][]syntax.WordPart{w.Parts}, true
	}
	return words, expanded
}

// looseBrace reports whether an opening brace was left that starts no expansion.
func looseBrace(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(part.Value); i++ {
				if part.Value[i] == '{' {
					return true
				}
				if part.Value[i] == '\\' {
					i++
				}
			}
		case *syntax.BraceExp:
			for _, elem := range part.Elems {
				if looseBrace(elem.Parts) {
					return true
				}
			}
		}
	}
	return false
}

// startsExpansion reports whether a literal of the word has a dollar sign, or a tilde without its slash, that braces might
// complete to an expansion.
func startsExpansion(w *syntax.Word) bool {
	for _, part := range w.Parts {
		l, ok := part.(*syntax.Lit)
		for i := 0; ok && i < len(l.Value); i++ {
			switch l.Value[i] {
			case '$':
				return true
			case '~':
				if !strings.HasPrefix(l.Value[i+1:], "/") {
					return true
				}
			case '\\':
				i++
			}
		}
	}
	return false
}

func hasComma(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if l, ok := part.(*syntax.Lit); ok && strings.Contains(l.Value, ",") {
			return true
		}
	}
	return false
}

// braceSequence returns the words of {x..y} or {x..y..step}, as bash makes them. ok is false for padded numbers, for letters of
// both cases, between which other characters lie, and for more words than are followed.
func braceSequence(brace *syntax.BraceExp) (words []string, ok bool) {
	var ends []int
	letters := false
	for i, elem := range brace.Elems {
		text := elem.Lit()
		n, err := strconv.Atoi(text)
		switch {
		case err == nil && text == strconv.Itoa(n) && max(n, -n) < 1<<31:
		case i < 2 && len(text) == 1 && (text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z'):
			n, letters = int(text[0]), true
		default:
			return nil, false
		}
		ends = append(ends, n)
	}
	if len(ends) < 2 || len(ends) > 3 || letters && (ends[0] <= 'Z') != (ends[1] <= 'Z') {
		return nil, false
	}
	step := 1
	if len(ends) == 3 && ends[2] != 0 {
		step = max(ends[2], -ends[2])
	}
	if max(ends[0]-ends[1], ends[1]-ends[0])/step >= maxBraceWords {
		return nil, false
	}
	if ends[0] > ends[1] {
		step = -step
	}
	for n := ends[0]; step > 0 && n <= ends[1] || step < 0 && n >= ends[1]; n += step {
		if letters {
			words = append(words, string(rune(n)))
		} else {
			words = append(words, strconv.Itoa(n))
		}
	}
	return words, true
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
		var elems []*syntax.Word
		switch {
		case ok && brace.Sequence:
			var texts []string
			texts, ok = braceSequence(brace)
			for _, text := range texts {
				elems = append(elems, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}})
			}
		case ok:
			elems = brace.Elems
		}
		if !ok {
			for i := range out {
				out[i] = append(out[i][:len(out[i]):len(out[i])], part)
			}
			continue
		}
		var tails [][]syntax.WordPart
		for _, elem := range elems {
			tails = append(tails, x.expandBraces(elem.Parts, left)...)
		}
		var next [][]syntax.WordPart
		for _, head := range out { // the order is the shell's: which word comes last may matter
			for _, tail := range tails {
				if *left--; *left <= 0 {
					return out
				}
				next = append(next, append(head[:len(head):len(head)], tail...))
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
		list, _ := x.braces(w)
		for _, parts := range list {
			out = append(out, x.pieces(parts, false, nil))
		}
		if len(out) > maxWords {
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
