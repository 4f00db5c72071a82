package policy

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellCommand analyses sh -c TEXT, sh FILE and a shell that reads its standard input.
func (x *analysis) shellCommand(c *command, at int, s scope, dirs places) {
	c.wrap = wrapShell
	hasText, fromInput := false, false
	i := 1
	for ; i < len(c.words); i++ {
		w := c.words[i]
		if !w.known && hasText {
			break // the text itself; what is known of it is analysed
		}
		if !w.known {
			x.opaqueCommand(c, "option of a shell is not literal")
			x.everySuffix(c, i)
			return
		}
		text := w.text
		if text == "--" || text == "-" {
			i++
			break
		}
		if len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		if strings.HasPrefix(text, "--") {
			switch name, _, attached := strings.Cut(text, "="); name {
			case "--rcfile", "--init-file":
				x.opaqueCommand(c, "a shell loads a file")
				if !attached {
					i++
				}
			case "--command":
				hasText = true
			case "--norc", "--noprofile", "--login", "--posix", "--verbose", "--restricted", "--noediting":
			default:
				x.opaqueCommand(c, "unknown option of a shell")
			}
			continue
		}
		if strings.ContainsAny(text, "c") && text[0] == '-' {
			hasText = true
		}
		fromInput = fromInput || strings.Contains(text, "s")
		if strings.ContainsAny(text, "oO") {
			i++
		}
	}
	switch {
	case hasText && i < len(c.words):
		c.innerAt = i
		inner := s
		inner.explicit = true
		x.runText(c, at, c.words[i], inner, dirs, true)
		if !bashLike[c.base] && !plainText(c.words[i].text) {
			x.opaqueCommand(c, "text of another shell")
		}
		if i+1 < len(c.words) {
			x.positional(c, i+1, s, dirs)
		}
	case hasText:
		x.opaqueCommand(c, "a shell's text is not known")
	case i < len(c.words) && !fromInput && isStream(c.words[i].text):
		x.opaqueCommand(c, "a script on a descriptor into an interpreter")
		for _, text := range s.stdin {
			inner := s
			inner.explicit = true
			x.runText(c, at, lit(text), inner, dirs, true)
		}
	case i < len(c.words) && !fromInput:
		c.wrap = wrapNone // runs a file
	case s.fed:
		x.opaqueCommand(c, "a script on a pipe into an interpreter")
		inner := s
		inner.explicit = true
		for _, text := range s.stdin {
			x.runText(c, at, lit(text), inner, dirs, true)
		}
	default:
		c.wrap = wrapNone
	}
}

// positional adds what a text may run through its positional parameters: sh -c '$0 x' rm.
func (x *analysis) positional(c *command, from int, s scope, dirs places) {
	if strings.Contains(c.words[from-1].text, "$") {
		x.everySuffix(c, from)
	}
}

// plainText reports whether a text means the same in every shell: words, quotes without expansions, and list operators.
func plainText(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte(" \t\n-_./:,@%+;&|'\"", c) >= 0:
		case c == '=' && i > 0 && text[i-1] != ' ':
		default:
			return false
		}
	}
	return true
}

// runText analyses a text that a command runs. separate is true when it is another process with variables of its own.
func (x *analysis) runText(c *command, at int, w word, s scope, dirs places, separate bool) flow {
	if !w.known {
		x.opaqueCommand(c, "text to run is not literal")
	}
	inner := s.inside(at)
	inner.consumer = -1
	inner.fed = s.fed
	if !separate {
		return x.text(w.text, inner, dirs)
	}
	vars, defined, cdMoves, hasCd := x.vars, x.defined, x.cdMoves, x.hasCd
	x.vars, x.defined, x.cdMoves, x.hasCd = newVariables(), map[string]bool{}, false, false
	// What the outer text exports or puts before the command is a possible value inside.
	for name, v := range vars.byName {
		for _, value := range v.cands {
			x.vars.candidate(name, value)
		}
		x.vars.get(name).tainted = true
	}
	for i := c.innerAt + 1; i < len(c.words) && i <= c.innerAt+maxParameters; i++ {
		if c.words[i].known {
			x.vars.candidate(fmt.Sprint(i-c.innerAt-1), c.words[i].text)
		}
	}
	functions, branch := x.functions, x.branch
	x.functions, x.branch = 0, 0
	f := x.text(w.text, inner, dirs)
	x.functions, x.branch = functions, branch
	x.vars, x.defined, x.cdMoves, x.hasCd = vars, defined, cdMoves, hasCd
	return f
}

// evalText joins the words of eval and runs them in the same shell.
func (x *analysis) evalText(c *command, at int, s scope, dirs places) flow {
	c.wrap = wrapShell
	if len(c.words) == 1 {
		c.wrap = wrapNone
		return stay(dirs)
	}
	c.innerAt = 1
	words := c.words[1:]
	if words[0].known && words[0].text == "--" { // the end of options
		words = words[1:]
	}
	joined := lit("")
	var parts []string
	for _, w := range words {
		parts = append(parts, w.text)
		joined.known = joined.known && w.known && !w.glob
	}
	joined.text = strings.Join(parts, " ")
	s.explicit = true
	if len(c.words) > 2 {
		c.innerAt = len(c.words) // a rule must spell all of it
	}
	return x.runText(c, at, joined, s, dirs, false)
}

// textRunner analyses su -c TEXT and its like; without the option they run a program or a shell. Which word is the text
// is sure only in the plain form: options, at most one operand, -c TEXT, at most one operand. In flock l rm x -- -c y it is
// an argument of rm. So every suffix is a possible command as well.
func (x *analysis) textRunner(c *command, at int, letter string, s scope, dirs places) {
	c.wrap = wrapElevate
	inner := s
	inner.explicit = true
	before, after, texts, sure := 0, 0, 0, true
	for i := 1; i < len(c.words); i++ {
		text := c.words[i].text
		name, value, attached := strings.Cut(text, "=")
		long := name == "--command" || name == "--session-command"
		short := len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.Contains(text, letter)
		switch {
		case !long && !short:
			switch {
			case !c.words[i].known || c.words[i].glob || text == "--":
				sure = false
			case strings.HasPrefix(text, "-") || text != "" && strings.Trim(text, "0123456789") == "":
			case texts > 0:
				after++
			default:
				before++
			}
			continue
		case attached && long:
			sure = false
			x.runText(c, at, lit(value), inner, dirs, true)
			continue
		case short && text != "-"+letter:
			sure = false // a cluster, or the text in the same word
			if rest := text[strings.Index(text, letter)+1:]; rest != "" {
				x.runText(c, at, lit(rest), inner, dirs, true)
			}
		}
		texts++
		if i+1 < len(c.words) {
			c.innerAt = i + 1
			i++
			x.runText(c, at, c.words[i], inner, dirs, true)
		}
	}
	if texts > 0 && (!sure || texts > 1 || before > 1 || after > 1 || c.base == "flock" && (before != 1 || after > 0)) || texts == 0 && !sure {
		x.opaqueCommand(c, "which text "+c.base+" runs is not known")
	}
	x.everySuffix(c, 1)
}

// findCommand analyses the commands of find's -exec and its like.
func (x *analysis) findCommand(c *command, at int, s scope, dirs places) {
	for i := 1; i < len(c.words); i++ {
		switch c.words[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			if !c.words[i].known && c.words[i].prefix == "" && c.words[i].many {
				x.opaqueCommand(c, "an argument of find is not known")
			}
			continue
		}
		c.wrap = wrapFeed
		if c.innerAt == 0 {
			c.innerAt = i + 1
		}
		inner := s.inside(at)
		inner.explicit = true
		var words []word
		for i++; i < len(c.words); i++ {
			w := c.words[i]
			if w.known && (w.text == ";" || w.text == "+" && len(words) > 0 && strings.HasSuffix(words[len(words)-1].text, "{}")) {
				break
			}
			if before, _, ok := strings.Cut(w.text, "{}"); ok {
				// find gives names that start with what it was told to search, so they are no options.
				w = word{text: w.text, prefix: before, wild: true, quoted: true, tame: before == ""}
			}
			words = append(words, w)
		}
		if len(words) > 0 {
			where := dirs
			if strings.HasSuffix(c.words[c.innerAt-1].text, "dir") {
				where = dirs.lost()
			}
			x.simple(words, inner, where)
		}
	}
}

// isStream reports whether a file name is one of the names of an open descriptor.
func isStream(name string) bool {
	return name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/")
}

// hasScript reports whether an interpreter is given its program by an argument, so that standard input is data.
func hasScript(c *command) bool {
	for _, w := range c.words[1:] {
		switch {
		case w.text == "-", isStream(w.text):
			return false
		case strings.HasPrefix(w.text, "-c"), strings.HasPrefix(w.text, "-e"), strings.HasPrefix(w.text, "-m"),
			strings.HasPrefix(w.text, "-p"), w.text == "--eval", strings.HasPrefix(w.text, "--version"), w.text == "-V":
			return !remoteRunner[c.base]
		case !strings.HasPrefix(w.text, "-"):
			return !remoteRunner[c.base]
		}
	}
	return false
}

// remoteRunner hand their standard input to a program somewhere else: ssh host sh, docker exec -i c sh.
var remoteRunner = map[string]bool{
	"ssh": true, "docker": true, "podman": true, "kubectl": true, "nsenter": true, "psql": true, "mysql": true,
	"sqlite3": true, "redis-cli": true, "mongosh": true, "ftp": true, "sftp": true, "lftp": true, "telnet": true,
	"at": true, "batch": true, "ed": true, "ex": true, "vim": true, "vi": true, "bc": true, "dc": true, "gdb": true,
}

// stdinTexts returns what a here-document or here-string puts on standard input, when it is literal.
func stdinTexts(w *syntax.Word) []string {
	if text, ok := wordValue(w); ok {
		return []string{text}
	}
	return nil
}
