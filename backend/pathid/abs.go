package pathid

import (
	"strings"
)

// MaxPath is the longest path, in bytes, that is looked at. Windows allows 32,767 UTF-16 units, Linux 4,096 bytes.
const MaxPath = 32 * 1024

// Abs joins name to the absolute directory base and cleans the result. It is purely lexical: a ".." removes the
// component before it even if that is a symbolic link (Resolve follows what the system would follow).
//
// On Windows C:/x, C:\x, /c/x and /cygdrive/c/x become C:\x, and a rooted path without a drive gets the drive of base.
// Refused with a *fs.PathError are: an empty name, a NUL byte, a name over MaxPath, a relative base (ErrRelative), and on
// Windows UNC paths (ErrRemote), the prefixes \\?\, \\.\ and \??\ and reserved device names (ErrDevice), a path relative
// to another drive's directory (ErrRelative), and a component of only dots and spaces (ErrAmbiguous).
func Abs(p Platform, base, name string) (string, error) {
	switch {
	case name == "":
		return "", refuse("abs", name, ErrEmpty)
	case len(name) > MaxPath || len(base) > MaxPath:
		return "", refuse("abs", name[:min(len(name), 256)], ErrTooLong)
	case strings.IndexByte(name, 0) >= 0 || strings.IndexByte(base, 0) >= 0:
		return "", refuse("abs", name, ErrNUL)
	}
	if p.IsWindows() {
		return absWindows(base, name)
	}
	if name[0] != '/' {
		if base == "" || base[0] != '/' {
			return "", refuse("abs", base, ErrRelative)
		}
		name = base + "/" + name
	}
	return "/" + strings.Join(cleanComponents(strings.Split(name, "/")), "/"), nil
}

func absWindows(base, name string) (string, error) {
	drive, rest, err := splitWindows(name)
	if err != nil {
		return "", err
	}
	if drive == 0 || !strings.HasPrefix(rest, `\`) {
		baseDrive, baseRest, err := splitWindows(base)
		if err != nil {
			return "", err
		}
		if baseDrive == 0 || !strings.HasPrefix(baseRest, `\`) {
			return "", refuse("abs", base, ErrRelative)
		}
		if drive != 0 && drive != baseDrive {
			// D:x means "x in D's current directory", which only the running process knows.
			return "", refuse("abs", name, ErrRelative)
		}
		drive = baseDrive
		if !strings.HasPrefix(rest, `\`) {
			rest = baseRest + `\` + rest
		}
	}
	parts := cleanComponents(strings.Split(rest, `\`))
	for _, part := range parts {
		if strings.Trim(part, ". ") == "" {
			return "", refuse("abs", name, ErrAmbiguous)
		}
		if isReservedName(part) {
			return "", refuse("abs", name, ErrDevice)
		}
	}
	return string(drive) + `:\` + strings.Join(parts, `\`), nil
}

// splitWindows takes the drive off a Windows path and turns every slash into a backslash. The drive is 0 when the path
// has none.
func splitWindows(name string) (drive byte, rest string, err error) {
	switch prefixKind(name) {
	case prefixDevice:
		return 0, "", refuse("abs", name, ErrDevice)
	case prefixUNC:
		return 0, "", refuse("abs", name, ErrRemote)
	}
	if hasDrive(name) {
		return upper(name[0]), strings.ReplaceAll(name[2:], "/", `\`), nil
	}
	posix := name
	if after, ok := strings.CutPrefix(name, "/cygdrive/"); ok {
		posix = "/" + after
	}
	// /c and /c/… are drives in Git Bash and Cygwin; only the forward slash is read so.
	if len(posix) >= 2 && posix[0] == '/' && isLetter(posix[1]) && (len(posix) == 2 || posix[2] == '/') {
		return upper(posix[1]), `\` + strings.ReplaceAll(strings.TrimPrefix(posix[2:], "/"), "/", `\`), nil
	}
	return 0, strings.ReplaceAll(name, "/", `\`), nil
}

// cleanComponents drops empty and "." components and lets ".." remove the one before it; ".." at the root stays there.
func cleanComponents(parts []string) []string {
	out := parts[:0:0]
	for _, part := range parts {
		switch part {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, part)
		}
	}
	return out
}

// IsAbs reports whether name is absolute by the platform's rules: a POSIX path that starts with a slash, or a Windows
// path with a drive and a root. UNC and device paths are not absolute here: nothing accepts them.
func IsAbs(p Platform, name string) bool {
	if p.IsWindows() {
		return len(name) > 2 && hasDrive(name) && isSlash(name[2])
	}
	return strings.HasPrefix(name, "/")
}

// Components returns the path components of an absolute path, without the root ("/" or the drive). For Windows the
// drive, such as "C:", is the first component. A path that is not absolute has no components and ok is false.
func Components(p Platform, name string) (parts []string, ok bool) {
	if strings.IndexByte(name, 0) >= 0 || !IsAbs(p, name) {
		return nil, false
	}
	if p.IsWindows() {
		rest := strings.ReplaceAll(name[2:], "/", `\`)
		return append([]string{string(upper(name[0])) + ":"}, cleanComponents(strings.Split(rest, `\`))...), true
	}
	return cleanComponents(strings.Split(name, "/")), true
}

// Join appends one relative name to an absolute directory without cleaning it.
func Join(p Platform, dir, name string) string {
	sep := separator(p)
	return strings.TrimSuffix(dir, sep) + sep + name
}

func separator(p Platform) string {
	if p.IsWindows() {
		return `\`
	}
	return "/"
}

// Dir returns the directory of an absolute, cleaned path; the root is its own directory.
func Dir(p Platform, name string) string {
	parts, ok := Components(p, name)
	if !ok {
		return name
	}
	return build(p, parts[:max(len(parts)-1, rootLength(p))])
}

// Base returns the last component of an absolute path, or "" for the root.
func Base(p Platform, name string) string {
	parts, ok := Components(p, name)
	if !ok || len(parts) <= rootLength(p) {
		return ""
	}
	return parts[len(parts)-1]
}

// rootLength is how many components name the root itself.
func rootLength(p Platform) int {
	if p.IsWindows() {
		return 1
	}
	return 0
}

// build is the inverse of Components.
func build(p Platform, parts []string) string {
	if p.IsWindows() {
		return parts[0] + `\` + strings.Join(parts[1:], `\`)
	}
	return "/" + strings.Join(parts, "/")
}

func isSlash(c byte) bool  { return c == '/' || c == '\\' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func hasDrive(name string) bool {
	return len(name) >= 2 && name[1] == ':' && isLetter(name[0])
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}
