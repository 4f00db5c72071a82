package policy

import "strings"

// possible is a path that a command may read or write: a word, or a part of one, of a program whose words nobody here knows
// the meaning of. It only ever raises a call to a question, and only where a rule about that very path exists.
type possible struct {
	access
	readOnly bool // the program writes none of its operands
}

// maxPossible bounds the possible paths of one examination. More than that might match every rule.
const maxPossible = 512

// maxPossibleWords bounds the words that are looked at for them: the possible commands of one long line repeat its words.
const maxPossibleWords = 16 << 10

// onlyReaders never write an operand, whatever their options say; an option that writes is an executing option.
var onlyReaders = set(`cat tac nl rev less more most bat batcat head tail strings od hexdump hd base64 base32 md5sum sha1sum
	sha224sum sha256sum sha384sum sha512sum b2sum cksum sum file stat wc fold fmt expand grep egrep fgrep zgrep rgrep rg ag ack
	jq cut tr diff cmp comm join paste look readelf objdump nm size ls tree du df realpath readlink basename dirname zcat bzcat xzcat
	Get-Content type column date`)

// talkers do nothing with the files their words may name.
var talkers = set("echo printf true false : test [ [[ cd pushd popd exit return set export declare local readonly typeset unset sleep " +
	"seq kill pkill which type command wait shift umask ulimit basename dirname tr")

// possibleAccesses finds the possible paths of every command that is not wholly understood.
func (x *analysis) possibleAccesses() {
	seen := map[string]bool{}
	left := maxPossibleWords
	for _, c := range x.f.commands {
		switch {
		case c.raw, c.described, len(c.words) < 2, talkers[c.base] && c.name == c.base && c.wrap == wrapNone:
			continue
		case c.unsafe == "" && c.wrap == wrapNone && !c.denyOnly && c.opaque == "":
			continue
		}
		end := len(c.words)
		if c.wrap != wrapNone && c.innerAt > 0 {
			end = min(c.innerAt, end)
		}
		readOnly := onlyReaders[c.base] && len(c.options) == 0 && trustedName(c)
		from := x.f.cwd
		if len(c.at.list) > 0 {
			from = c.at.list[0].physical
		}
		message := false
		for _, w := range c.words[1:end] {
			if left--; left < 0 {
				x.f.possibleMore = true
				return
			}
			if message { // the message of a commit is no path
				message = false
				continue
			}
			message = c.base == "git" && w.known && (w.text == "--message" || len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' && strings.HasSuffix(w.text, "m"))
			x.possibleIn(w, from, readOnly, seen)
		}
	}
}

func (x *analysis) possibleIn(w word, from string, readOnly bool, seen map[string]bool) {
	add := func(text, pattern string) {
		key := from + "\x00" + text + "\x00" + pattern
		if readOnly {
			key += "r"
		}
		if text == "" || seen[key] {
			return
		}
		seen[key] = true
		if len(x.f.possible) >= maxPossible {
			x.f.possibleMore = true
			return
		}
		p := possible{access: access{text: text, denyOnly: true, command: -1}, readOnly: readOnly}
		if pattern != "" {
			p.globbed, p.pattern = true, x.absolutePattern(from, pattern)
		}
		x.locate(&p.access, from, text)
		x.f.possible = append(x.f.possible, p)
		if pattern != "" {
			if names, _ := x.expandGlob(p.pattern); len(names) > 0 {
				for _, name := range names {
					if len(x.f.possible) >= maxPossible {
						x.f.possibleMore = true
						return
					}
					q := possible{access: access{text: name, denyOnly: true, command: -1}, readOnly: readOnly}
					x.locate(&q.access, from, name)
					x.f.possible = append(x.f.possible, q)
				}
			}
		}
	}
	text := w.text
	switch {
	case !w.known:
		// What the word begins with, and whatever may follow it. A word nothing is known of may be anything: that alone does
		// not ask.
		if strings.ContainsAny(w.prefix, "/.") {
			add(w.prefix, escapePattern(w.prefix)+"*")
		}
		return
	case w.glob:
		add(text, w.pattern)
		return
	case len(text) > 2 && text[0] == '-' && text[1] != '-':
		add(text[2:], "") // -oFILE
	case text != "" && text[0] != '-':
		add(text, "")
	}
	if _, value, ok := strings.Cut(text, "="); ok {
		add(value, "")
	}
	if !strings.ContainsAny(text, separators) {
		return
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if x.f.possibleMore {
			return
		}
		if len(part) > 1 && strings.ContainsAny(part, "/.") {
			add(part, "")
		}
	}
}

// separators end a path inside a word that holds more: an option's value, a revision, a script.
const separators = " \t\n=:@<>,;'\"`()[]{}|&!+"

// restrainPossible raises a call to a question for a rule about a path that it may read or write.
func (d *decision) restrainPossible(r *SourcedRule, write bool, out *restraint) {
	f := d.f
	if r.Rule.c.kind != kindPath {
		return
	}
	if f.possibleMore {
		out.add(matchMaybe, r, "more words that may be paths than were looked at")
		return
	}
	var at anchored
	for i := range f.possible {
		p := &f.possible[i]
		if write && p.readOnly {
			continue
		}
		if at.patterns == nil {
			at = r.Rule.c.anchor(f.paths, true)
		}
		if r.Rule.c.restrainsAccess(&p.access, at, f.paths) != matchNo {
			out.add(matchMaybe, r, "a program that may read or write its arguments is given "+p.text)
			return
		}
	}
}
