package imports

import (
	"strings"
)

// gitignorePath reads one of Claude Code's path patterns, which follow gitignore, into a pattern of ours. anchor is how
// it begins: "/" absolute, "~" in the home directory, "." below the working directory, "?" at a place that two versions
// of the documentation give differently (the settings file's, the project's), "!" a negation.
func gitignorePath(p string) (pattern, anchor string) {
	switch {
	case strings.HasPrefix(p, "!"):
		return "", "!"
	case strings.HasPrefix(p, "//"):
		anchor, p = "/", "/"+strings.TrimLeft(p, "/")
	case strings.HasPrefix(p, "/"):
		anchor, p = "?", strings.TrimLeft(p, "/")
	case p == "~", strings.HasPrefix(p, "~/"):
		anchor = "~"
	default:
		for strings.HasPrefix(p, "./") {
			p = strings.TrimLeft(p[2:], "/")
		}
		anchor = "."
	}
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '\\' && i+1 < len(p):
			i++
			b.WriteString(literalChar(p[i]))
		case c == '{' || c == '}':
			b.WriteString(literalChar(c)) // alternatives here, characters there
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), anchor
}

// literalChar writes one character of a path so that a pattern means it. A backslash would be a separator on Windows.
func literalChar(c byte) string {
	if strings.IndexByte("*?[{}", c) >= 0 {
		return "[" + string(c) + "]"
	}
	return string(c)
}

// wildcardPaths reads a path pattern in which * stands for any text, slashes too (OpenCode), into patterns of ours, in
// which it stands within one name. exact is false where they cannot mean the same.
func wildcardPaths(p string, deny bool) (patterns []string, exact bool) {
	exact = true
	for strings.Contains(p, "**") {
		p = strings.ReplaceAll(p, "**", "*")
	}
	out := []string{""}
	for i := 0; i < len(p); i++ {
		c := p[i]
		begins := i == 0 || p[i-1] == '/'
		ends := i == len(p)-1
		for k := range out {
			switch {
			case c == '*' && begins && ends:
				out[k] += "**"
			case c == '*' && begins && p[i+1] == '/' && deny:
				out[k] += "**" // x/y too
			case c == '*' && begins && p[i+1] == '/':
				out[k] += "*/**"
			case c == '*' && begins:
				out[k] += "**/*"
			case c == '*' && ends:
				out[k] += "*/**"
			case c == '*' && p[i+1] == '/':
				out[k] += "*/**"
			case c == '*':
				out = append(out, out[k]+"*/**/*")
				out[k] += "*"
			case c == '?' && deny:
				out[k] += "?"
				exact = false
			default:
				out[k] += literalWild(c)
			}
		}
		if len(out) > maxAlternatives {
			if deny {
				return nil, false
			}
			out, exact = out[:1], false
		}
	}
	return out, exact
}

func literalWild(c byte) string {
	if c == '?' {
		return "?"
	}
	return literalChar(c)
}
