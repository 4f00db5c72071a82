package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"countersign/backend/pathid"
)

// pathContext is what a path rule is anchored in.
type pathContext struct {
	platform pathid.Platform
	roots    []string // match keys
	home     string   // match key, or ""
}

// anchored is a path rule made absolute for one call.
type anchored struct {
	patterns []string
	literal  []string // the patterns that have no pattern characters, for comparing with a shell pattern
	windows  bool
}

// anchor makes a path rule absolute. For allow a relative rule lies under the roots; for deny and ask it matches at any
// depth.
func (c *compiledRule) anchor(pc pathContext, generous bool) anchored {
	if c.kind != kindPath {
		return anchored{}
	}
	text := c.pattern
	if pc.platform.IsWindows() {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	for strings.HasPrefix(text, "./") {
		text = strings.TrimLeft(text[2:], "/")
	}
	if text == "" || text == "." {
		text = "**"
	}
	out := anchored{windows: pc.platform.IsWindows()}
	add := func(pattern string) {
		pattern = cleanPattern(matchKey(pc.platform, pattern))
		out.patterns = append(out.patterns, pattern)
		if base, ok := strings.CutSuffix(pattern, "/**"); ok && base != "" {
			out.patterns = append(out.patterns, base) // dir/** covers dir
		}
		if !strings.ContainsAny(pattern, `*?[{\`) {
			out.literal = append(out.literal, pattern)
		}
	}
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		if pc.home != "" {
			add(escapePattern(pc.home) + text[1:])
		}
	case strings.HasPrefix(text, "//"): // Claude Code writes //path for an absolute path
		add("/" + strings.TrimLeft(text, "/"))
	case pc.platform.IsWindows() && isDrive(text):
		add(text)
	case pc.platform.IsWindows() && len(text) >= 2 && text[0] == '/' && (len(text) == 2 || text[2] == '/') && isDrive(text[1:2]+":"):
		add(text[1:2] + ":/" + strings.TrimLeft(text[2:], "/"))
	case strings.HasPrefix(text, "/"):
		if pc.platform.IsWindows() {
			for _, root := range pc.roots {
				if len(root) >= 2 {
					add(root[:2] + text)
				}
			}
			break
		}
		add(text)
	default:
		for _, root := range pc.roots {
			add(strings.TrimSuffix(escapePattern(root), "/") + "/" + text)
		}
		if generous {
			if pc.platform.IsWindows() {
				add("?:/**/" + text)
			} else {
				add("/**/" + text)
			}
		}
	}
	return out
}

func isDrive(text string) bool {
	return len(text) >= 2 && text[1] == ':' && ('a' <= text[0]|0x20 && text[0]|0x20 <= 'z')
}

// cleanPattern removes doubled slashes, "." components and stars that say the same twice.
func cleanPattern(pattern string) string {
	parts := strings.Split(pattern, "/")
	out := parts[:0]
	for i, part := range parts {
		if part == "." || part == "" && i > 0 {
			continue
		}
		if part == "**" && len(out) > 0 && out[len(out)-1] == "**" {
			continue
		}
		if part == ".." && len(out) > 1 && out[len(out)-1] != "**" {
			out = out[:len(out)-1]
			continue
		}
		out = append(out, part)
	}
	if len(out) == 1 && out[0] == "" {
		return "/"
	}
	return strings.Join(out, "/")
}

// matches reports whether the path key matches.
func (a anchored) matches(key string) bool {
	for _, pattern := range a.patterns {
		if ok, err := doublestar.Match(pattern, key); err == nil && ok {
			return true
		}
		if a.windows && strings.Contains(key, "~") && matchShort(pattern, key) {
			return true
		}
	}
	return false
}

// matchShort compares component by component where the key has 8.3 names: they match a component of the pattern that
// could have such a short name.
func matchShort(pattern, key string) bool {
	p, k := strings.Split(pattern, "/"), strings.Split(key, "/")
	var walk func(i, j, budget int) bool
	walk = func(i, j, budget int) bool {
		if budget == 0 {
			return true // too involved to tell: deny and ask rules only, so that is the safe answer
		}
		switch {
		case i == len(p):
			return j == len(k)
		case p[i] == "**":
			for n := j; n <= len(k); n++ {
				if walk(i+1, n, budget-1) {
					return true
				}
			}
			return false
		case j == len(k):
			return false
		}
		ok, err := doublestar.Match(p[i], k[j])
		if !(ok && err == nil) && !couldBeShort(unescapePattern(p[i]), k[j]) {
			return false
		}
		return walk(i+1, j+1, budget-1)
	}
	return walk(0, 0, 64)
}

// restrainsAccess compares a deny or ask rule with a path: either spelling of the path is enough, and a path that is not
// known is a maybe.
func (c *compiledRule) restrainsAccess(a *access, at anchored, pc pathContext) match {
	if c.kind == kindWhole {
		return matchYes
	}
	if c.kind != kindPath {
		return matchNo
	}
	for _, key := range a.keys {
		if at.matches(key) {
			return matchYes
		}
	}
	if a.globbed && a.pattern != "" {
		for _, literal := range at.literal {
			if ok, err := doublestar.Match(matchKey(pc.platform, a.pattern), literal); err == nil && ok {
				return matchYes
			}
		}
	}
	if a.dynamic && !a.denyOnly {
		return matchMaybe
	}
	if a.recursive {
		for _, key := range a.reachKeys {
			if at.matches(key) {
				return matchMaybe
			}
		}
		for _, literal := range at.literal {
			for _, key := range a.keys {
				if strings.HasPrefix(literal, strings.TrimSuffix(key, "/")+"/") {
					return matchMaybe
				}
			}
		}
		if a.reachMore && len(at.literal) == 0 {
			return matchMaybe
		}
	}
	return matchNo
}

// grantsAccess compares an allow rule with a path: the path as written and where it leads must both match.
func (c *compiledRule) grantsAccess(a *access, pc pathContext) bool {
	if a.dynamic || a.globbed || a.refused != "" || a.lexical == "" || a.resolved == "" || len(a.keys) == 0 {
		return false
	}
	if c.kind == kindWhole {
		return true
	}
	if c.kind != kindPath {
		return false
	}
	at := c.anchor(pc, false)
	at.windows = false // no guessing for allow
	for _, key := range a.keys {
		if !at.matches(key) {
			return false
		}
	}
	return true
}
