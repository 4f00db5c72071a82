package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// word is one word of a simple command after expansion, as far as it is known.
type word struct {
	text    string // its value; what is unknown is left out
	known   bool   // text is the whole value
	assumed bool   // known only because HOME or PWD are what they should be
	glob    bool   // unquoted pattern characters: becomes file names
	pattern string // for a glob: text with the quoted pattern characters escaped
	prefix  string // the text before the first unknown piece
	many    bool   // an unquoted unknown: may become no word or several
	tame    bool   // what is unknown is a number the shell made ($?, $#, ${#x})
	wild    bool   // some of what is unknown is neither tame, nor a harmless variable, nor a substitution
	subst   bool   // some of what is unknown comes from a command substitution
	quoted  bool
}

// literal reports whether the word is exactly text, whatever the environment holds.
func (w word) literal() bool { return w.known && !w.assumed && !w.glob }

func lit(text string) word { return word{text: text, known: true, prefix: text} }

func lits(texts ...string) []word {
	out := make([]word, len(texts))
	for i, t := range texts {
		out[i] = lit(t)
	}
	return out
}

// assignment is NAME=value before a command or on its own.
type assignment struct {
	name   string
	value  string
	known  bool // value is a constant of the text
	single bool // a statement of its own, not exported to one command
	append bool
}

func (a assignment) text() string {
	if a.append {
		return a.name + "+=" + a.value
	}
	return a.name + "=" + a.value
}

// wrapKind says what a command that runs another command does with it.
type wrapKind int

const (
	wrapNone        wrapKind = iota
	wrapTransparent          // runs it as it is: timeout, nice, env
	wrapShell                // runs a text in a new shell: sh -c, eval
	wrapElevate              // runs it with other rights: sudo
	wrapFeed                 // adds words of its own to it: xargs, find -exec
)

// command is one simple command that was found, at one level of wrapping.
type command struct {
	words    []word
	assigns  []assignment // its own and those of everything around it
	name     string       // the first word, as it is known
	base     string       // its base name, without .exe
	parent   int          // the wrapper that runs it, or -1
	wrap     wrapKind
	innerAt  int    // index of the inner command's first word (for a shell: of its text)
	inner    []int  // what the wrapper runs
	denyOnly bool   // a possible reading, not the certain one: for deny and ask rules only
	raw      bool   // from a text that was not parsed
	explicit bool   // being a safe read is not enough: its output or its input is another command's
	at       places // where it may run
	moved    bool   // the working directory may not be the call's own here
	consumer int    // the command whose words its output becomes, or -1
	opaque   string
	leaks    bool     // its input holds a variable that may be a secret
	fed      bool     // its standard input comes from a pipe or a here-document
	options  []option // executing options that were found
	unsafe   string   // why it is not a safe read; "" when it is one
	chdir    string   // for cd: "inside" or why it is not
	accesses []int
	function bool    // a call of a function of the same text
	stretch  stretch // where it stands in the call\'s own text
	declares bool    // export, local …: nothing but assignments of its own, at least one

	described bool // its safeSpec knows every option: its accesses are all its files
}

// option is an executing option that stands in a command's words.
type option struct {
	spelling string // as in the table
	at       int    // index of the word
	dynamic  bool   // an unknown word that could be one
	code     bool   // an operand that the program runs
	file     bool   // an operand that the program writes, where one would not expect it
}

// baseName reduces a command name to what deny and ask rules compare.
func baseName(p pathid.Platform, name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if p.IsWindows() {
		if i := strings.LastIndexByte(name, '\\'); i >= 0 {
			name = name[i+1:]
		}
	}
	if p.FoldsCase() {
		name = pathid.Key(pathid.MacOS, name)
	}
	lower := strings.ToLower(name)
	for _, ext := range [...]string{".exe", ".cmd", ".bat", ".com", ".ps1"} {
		if len(lower) > len(ext) && strings.HasSuffix(lower, ext) {
			return lower[:len(lower)-len(ext)]
		}
	}
	return name
}

// newCommand fills what follows from the words.
func newCommand(p pathid.Platform, words []word) *command {
	c := &command{words: words, parent: -1, consumer: -1}
	if len(words) > 0 {
		c.name = words[0].text
		if !words[0].known {
			c.name = words[0].prefix
		}
		c.base = baseName(p, c.name)
	}
	return c
}

// describe prints the command for people: assignments and words, quoted where needed.
func (c *command) describe() string {
	var b strings.Builder
	for _, a := range c.assigns {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.name + "=" + quoteRuleWord(a.value))
	}
	for _, w := range c.words {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		switch {
		case !w.known:
			b.WriteString(w.text + "…")
		case w.glob:
			b.WriteString(w.text)
		default:
			b.WriteString(quoteRuleWord(w.text))
		}
	}
	return b.String()
}

// texts returns the words' texts.
func (c *command) texts() []string {
	out := make([]string, len(c.words))
	for i, w := range c.words {
		out[i] = w.text
	}
	return out
}

// full returns the words with the assignments before them, for rules that spell assignments out.
func (c *command) full() []word {
	out := make([]word, 0, len(c.assigns)+len(c.words))
	for _, a := range c.assigns {
		out = append(out, word{text: a.text(), known: a.known, prefix: a.name + "="})
	}
	return append(out, c.words...)
}
