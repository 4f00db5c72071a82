package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a text that is handed to the parser. What is over them is opaque.
const (
	MaxCommand = 64 << 10 // bytes
	MaxNesting = 200      // of brackets or compound commands
	maxOpeners = 4000     // brackets in all: bounds the parser's recursion whatever quotes say
	maxChain   = 1000     // commands joined by | && || in one list
	maxEnds    = 4096     // ends of a command; more are more commands than are looked at
	maxLines   = 8192     // lines, those of here-documents included
)

// hiddenText says what in the text a reader cannot see, or "": invalid UTF-8, control characters (tab and newline are
// text), bidirectional controls, zero-width and other invisible characters.
func hiddenText(text string) string {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
				return "control character"
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return "invalid UTF-8"
		}
		switch {
		case unicode.IsControl(r):
			return "control character"
		case r == 0x2028, r == 0x2029:
			return "invisible line separator"
		case 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069, r == 0x061C, r == 0x200E, r == 0x200F:
			return "bidirectional control character"
		case r == 0x200B, r == 0x200C, r == 0x200D, 0x2060 <= r && r <= 0x2065, 0x206A <= r && r <= 0x206F,
			r == 0xFEFF, r == 0x00AD, r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0,
			r == 0x180E, 0xE0000 <= r && r <= 0xE007F, 0xFFF9 <= r && r <= 0xFFFB:
			return "invisible character"
		case unicode.Is(unicode.Zs, r):
			return "unusual space" // the shell does not split on it, but a reader sees a space
		}
		i += size
	}
	return ""
}

// joinedLines says which joined line of the text might be read in two ways, or "". A shell takes a backslash at the end
// of a line away before anything else, also between a dollar sign and its bracket; the parser looks at what it joins
// piece by piece, and joins a comment with the next line, which no shell does. Only a line that is joined after a blank, in
// a text without here-documents and comments, means the same to both.
func joinedLines(text string) string {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' || text[i+1] != '\n' {
			continue
		}
		if i == 0 || text[i-1] != ' ' && text[i-1] != '\t' {
			return "a line joined inside a word"
		}
		if strings.Contains(text, "<<") || strings.Contains(text, "#") {
			return "a joined line beside a here-document or a comment"
		}
	}
	return ""
}

// overLimit says which limit the text breaks, or "". It is one pass over the bytes and knows nothing of quotes, so it
// must come before any parser and errs on the side of refusing.
func overLimit(text string) string {
	if len(text) > MaxCommand {
		return "longer than 64 KiB"
	}
	depth, openers, compound, prefix, chain, ends, lines := 0, 0, 0, 0, 0, 0, 0
	word := -1 // start of the current run of letters
	for i := 0; i <= len(text); i++ {
		var c byte = '\n'
		if i < len(text) {
			c = text[i]
		}
		if 'a' <= c && c <= 'z' {
			if word < 0 {
				word = i
			}
			continue
		}
		if word >= 0 {
			switch text[word:i] {
			case "if", "while", "until", "for", "select", "case":
				compound++
			case "fi", "done", "esac":
				compound = max(compound-1, 0)
			case "time", "coproc", "function":
				prefix++
			}
			word = -1
		}
		switch c {
		case '(', '{', '[':
			depth++
			openers++
		case '`':
			openers++ // nests only through growing runs of backslashes, which the length bounds
		case ')', '}', ']':
			depth = max(depth-1, 0)
		case '!', '-', '+', '~':
			prefix++
		case '|', '&':
			chain++
		case ';':
			prefix, chain = 0, 0
			ends++
		case '\n':
			prefix, chain = 0, 0
			lines++
		}
		switch {
		case depth > MaxNesting, openers > maxOpeners, compound > MaxNesting:
			return "nested deeper than 200"
		case prefix > maxOpeners, chain > maxChain:
			return "too many operators"
		case ends > maxEnds, lines > maxLines:
			return "too many commands"
		}
	}
	return ""
}

// rawCommands splits a text that was not parsed into what could be simple commands: at every operator, quote and bracket.
// It finds too much rather than too little and is used only for deny and ask rules.
func rawCommands(text string) [][]string {
	var out [][]string
	for segment := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return strings.ContainsRune(";|&()<>{}`\"'$\n\r", r)
	}) {
		words := strings.FieldsFunc(segment, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || r == 0x200B || r == 0xFEFF
		})
		for len(words) > 0 && (words[0] == "" || strings.ContainsRune(words[0], '=')) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], `\`, "")
		}
		if out = append(out, words); len(out) >= maxRawCommands {
			break
		}
	}
	return out
}

// maxRawCommands bounds rawCommands for a text of nothing but operators.
const maxRawCommands = maxCommands
