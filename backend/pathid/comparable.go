package pathid

import (
	"strings"
)

// Comparable returns the absolute path that a name is compared as where Abs refuses it on Windows: \\?\C:\x and
// \\.\C:\x as C:\x, the administrator's share \\localhost\c$\x too, and a name with a reserved or ambiguous component
// with that component left as it is, or without it where nothing is left of it. It is a guess for rules that
// restrain; nothing may be opened, and nothing allowed, by it. ok is false for every other name and on every other
// platform.
func Comparable(p Platform, base, name string) (path string, ok bool) {
	if !p.IsWindows() || name == "" || len(name) > MaxPath || len(base) > MaxPath || strings.IndexByte(name, 0) >= 0 {
		return "", false
	}
	for range maxPrefixes {
		bare, found := withoutPrefix(name)
		if !found {
			break
		}
		name = bare
	}
	if prefixKind(name) != prefixNone {
		return "", false
	}
	drive, rest, err := splitWindows(name)
	if err != nil {
		return "", false
	}
	if drive == 0 || !strings.HasPrefix(rest, `\`) {
		baseDrive, baseRest, err := splitWindows(base)
		switch {
		case drive != 0 && (err != nil || baseDrive != drive):
			rest = `\` + rest // the directory of another drive is not known: its root is the likeliest
		case err != nil || baseDrive == 0:
			return "", false
		default:
			drive = baseDrive
			if !strings.HasPrefix(rest, `\`) {
				rest = baseRest + `\` + rest
			}
		}
	}
	var parts []string
	for _, part := range cleanComponents(strings.Split(rest, `\`)) {
		if strings.Trim(part, ". ") != "" {
			parts = append(parts, part)
		}
	}
	return string(drive) + `:\` + strings.Join(parts, `\`), true
}

// maxPrefixes is how many prefixes in front of each other are taken away.
const maxPrefixes = 4

// withoutPrefix takes one device prefix, or the administrator's share of this computer, off a name.
func withoutPrefix(name string) (string, bool) {
	if prefixKind(name) == prefixDevice && len(name) > 4 {
		rest := name[4:]
		if len(rest) > 4 && strings.EqualFold(rest[:3], "UNC") && isSlash(rest[3]) {
			return `\\` + rest[4:], true
		}
		if hasDrive(rest) && (len(rest) == 2 || isSlash(rest[2])) {
			if len(rest) == 2 {
				rest += `\`
			}
			return rest, true
		}
		return "", false
	}
	if prefixKind(name) != prefixUNC {
		return "", false
	}
	server, rest, _ := strings.Cut(strings.ReplaceAll(name[2:], "/", `\`), `\`)
	share, rest, _ := strings.Cut(rest, `\`)
	if !thisComputer(server) || len(share) != 2 || share[1] != '$' || !isLetter(share[0]) {
		return "", false
	}
	return share[:1] + `:\` + rest, true
}

// thisComputer recognises the names that every computer has for itself.
func thisComputer(server string) bool {
	server, _, _ = strings.Cut(strings.ToLower(server), "@") // \\localhost@80\… goes through WebDAV
	switch strings.TrimRight(server, ".") {
	case "localhost", "127.0.0.1", "::1", "[::1]", "0--1.ipv6-literal.net":
		return true
	}
	return strings.HasPrefix(server, "127.")
}

// Share returns the server, the share and what follows of a UNC path, with slashes between them, for comparing with
// rules.
func Share(p Platform, name string) (path string, ok bool) {
	if !p.IsWindows() || strings.IndexByte(name, 0) >= 0 || len(name) > MaxPath {
		return "", false
	}
	if bare, found := withoutPrefix(name); found {
		name = bare
	}
	if prefixKind(name) != prefixUNC {
		return "", false
	}
	parts := cleanComponents(strings.Split(strings.ReplaceAll(name[2:], "/", `\`), `\`))
	if len(parts) == 0 {
		return "", false
	}
	return strings.Join(parts, "/"), true
}

// WithoutStreams cuts the stream off every component of an absolute Windows path: C:\a:b\c::$DATA is C:\a\c. Elsewhere,
// and where there is none, the path is returned as it is.
func WithoutStreams(p Platform, path string) string {
	if !p.IsWindows() || len(path) < 3 || strings.IndexByte(path[2:], ':') < 0 {
		return path
	}
	parts, ok := Components(p, path)
	if !ok {
		return path
	}
	for i := range parts {
		if i > 0 {
			parts[i], _, _ = strings.Cut(parts[i], ":")
		}
	}
	return build(p, parts)
}
