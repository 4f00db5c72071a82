package claude

import "strings"

// quote makes one word of the POSIX shell out of s (sh(1), 2.2.2 single quotes).
func quote(s string) string {
	if s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// unquote reads one word as quote writes it, and what follows it. Anything else that a shell would take is refused:
// only lines of our own making are read.
func unquote(s string) (word, rest string, ok bool) {
	var out strings.Builder
	i := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return "", "", false
			}
			out.WriteString(s[i+1 : i+1+end])
			i += end + 2
		case c == '\\' && i+1 < len(s) && s[i+1] == '\'':
			out.WriteByte('\'')
			i += 2
		case strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-", c) >= 0:
			out.WriteByte(c)
			i++
		default:
			return out.String(), s[i:], i > 0
		}
	}
	return out.String(), "", i > 0
}

// words reads a whole line of quoted words.
func words(line string) ([]string, bool) {
	var out []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		word, after, ok := unquote(rest)
		if !ok || (after != "" && after[0] != ' ' && after[0] != '\t') {
			return nil, false
		}
		out, rest = append(out, word), after
	}
	return out, len(out) > 0
}

// printable reports whether s can stand in a command line without hiding something: no control characters.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) < 0
}
