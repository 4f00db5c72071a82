package policy

import "strings"

// plainSed reports whether a sed script consists only of commands that print, delete, substitute and move text about. It
// reads the plain form of a script; whatever it does not know, and every command that reads or writes a file or runs a
// program (e, r, R, w, W, the flags e and w of s), is not plain.
func plainSed(script string) bool {
	i := 0
	for {
		for i < len(script) && strings.IndexByte(" \t\n;{}", script[i]) >= 0 {
			i++
		}
		if i >= len(script) {
			return true
		}
		var ok bool
		if i, ok = sedAddress(script, i); !ok || i >= len(script) {
			return false
		}
		command := script[i]
		i++
		switch {
		case strings.IndexByte("pPdDqQ=nNgGhHxz{", command) >= 0:
			for (command == 'q' || command == 'Q') && i < len(script) && '0' <= script[i] && script[i] <= '9' {
				i++
			}
			if command == '{' {
				continue
			}
		case command == 's' || command == 'y':
			if i >= len(script) || script[i] == '\\' || script[i] == '\n' || script[i] == '[' || script[i] == ';' {
				return false
			}
			delimiter := script[i]
			i++
			for range 2 {
				if i, ok = sedPart(script, i, delimiter); !ok {
					return false
				}
			}
			for command == 's' && i < len(script) && strings.IndexByte("gpiIm0123456789", script[i]) >= 0 {
				i++
			}
		case command == 'a' || command == 'i' || command == 'c':
			// The text up to the end of the line. With a backslash it might go on, also in another -e.
			text, _, _ := strings.Cut(script[i:], "\n")
			if strings.TrimSpace(text) == "" || strings.Contains(text, `\`) {
				return false
			}
			i += len(text)
		default:
			return false
		}
		for i < len(script) && (script[i] == ' ' || script[i] == '\t') {
			i++
		}
		if i < len(script) && strings.IndexByte(";\n}", script[i]) < 0 {
			return false
		}
	}
}

// sedAddress skips the addresses before a command.
func sedAddress(script string, i int) (int, bool) {
	for i < len(script) {
		switch c := script[i]; {
		case '0' <= c && c <= '9', strings.IndexByte("$,~+! \t", c) >= 0:
			i++
		case c == '/':
			next, ok := sedPart(script, i+1, '/')
			if !ok {
				return i, false
			}
			i = next
			for i < len(script) && script[i] == 'I' {
				i++
			}
		default:
			return i, true
		}
	}
	return i, false
}

// sedPart skips to behind the delimiter. A bracket that is open there is refused: seds do not agree whether the delimiter
// ends it.
func sedPart(script string, i int, delimiter byte) (int, bool) {
	open := false
	for ; i < len(script); i++ {
		switch c := script[i]; {
		case c == '\\':
			if i++; i >= len(script) || script[i] == '\n' {
				return i, false
			}
		case c == '\n':
			return i, false
		case c == delimiter:
			return i + 1, !open
		case c == '[':
			open = true
		case c == ']':
			open = false
		}
	}
	return i, false
}
