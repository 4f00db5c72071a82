package pathid

import (
	"strings"
	"unicode"
)

// The reasons Suspicious gives, in the order in which they are looked for.
const (
	SuspiciousControl       = "control"        // control, bidirectional or invisible character
	SuspiciousDevicePrefix  = "device_prefix"  // \\?\, \\.\ or \??\
	SuspiciousUNC           = "unc"            // \\server\share
	SuspiciousADS           = "ads"            // alternate data stream, file:stream
	SuspiciousDots          = "dots"           // a component of three or more dots
	SuspiciousTrailingDot   = "trailing_dot"   // Windows drops it
	SuspiciousTrailingSpace = "trailing_space" // Windows drops it
	SuspiciousReservedName  = "reserved_name"  // CON, NUL, COM1 …, with any extension
	SuspiciousShortName     = "short_name"     // PROGRA~1
)

// Suspicious says why a path might mean another file than it seems to name on some platform, or "" if nothing was
// found. It is asked with the same answer on every platform, because what is written on one is checked out on another,
// and it looks at the text only. Both slashes separate components.
func Suspicious(name string) string {
	for _, r := range name {
		if isControl(r) {
			return SuspiciousControl
		}
	}
	switch prefixKind(name) {
	case prefixDevice:
		return SuspiciousDevicePrefix
	case prefixUNC:
		return SuspiciousUNC
	}
	rest := name
	if hasDrive(rest) && (len(rest) == 2 || isSlash(rest[2])) {
		rest = rest[2:]
	}
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '/' || r == '\\' }) {
		if why := suspiciousComponent(part); why != "" {
			return why
		}
	}
	return ""
}

func suspiciousComponent(part string) string {
	switch {
	case part == "." || part == "..":
		return ""
	case strings.Contains(part, ":"):
		return SuspiciousADS
	case len(part) >= 3 && strings.Trim(part, ".") == "":
		return SuspiciousDots
	case strings.HasSuffix(part, "."):
		return SuspiciousTrailingDot
	case strings.HasSuffix(part, " "):
		return SuspiciousTrailingSpace
	case isReservedName(part):
		return SuspiciousReservedName
	case isShortName(part):
		return SuspiciousShortName
	}
	return ""
}

// isControl covers C0, C1 and DEL, line and paragraph separators, and the invisible and bidirectional characters that
// make a displayed path differ from the real one.
func isControl(r rune) bool {
	return unicode.IsControl(r) || isIgnorable(r) || r == 0x2028 || r == 0x2029 || r == 0x061C || r == 0x200B ||
		0x2060 <= r && r <= 0x2069
}

// isIgnorable lists what HFS+ ignores when it compares names (Apple technical note 1150).
func isIgnorable(r rune) bool {
	return 0x200C <= r && r <= 0x200F || 0x202A <= r && r <= 0x202E || 0x206A <= r && r <= 0x206F || r == 0xFEFF
}

type prefix int

const (
	prefixNone prefix = iota
	prefixDevice
	prefixUNC
)

// prefixKind recognises \\?\, \\.\, \??\ and \\server in any mix of slashes.
func prefixKind(name string) prefix {
	if len(name) < 2 || !isSlash(name[0]) {
		return prefixNone
	}
	if name[0] == '\\' && strings.HasPrefix(name[1:], "??") && (len(name) == 3 || isSlash(name[3])) {
		return prefixDevice
	}
	if !isSlash(name[1]) {
		return prefixNone
	}
	if len(name) >= 3 && (name[2] == '?' || name[2] == '.') && (len(name) == 3 || isSlash(name[3])) {
		return prefixDevice
	}
	return prefixUNC
}

// isReservedName reports whether Windows opens a device for this component, whatever its extension or stream.
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func isReservedName(part string) bool {
	if i := strings.IndexAny(part, ".:"); i >= 0 {
		part = part[:i]
	}
	part = strings.ToUpper(strings.TrimRight(part, " "))
	switch part {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	if port, ok := strings.CutPrefix(part, "COM"); ok {
		return isPort(port)
	}
	port, ok := strings.CutPrefix(part, "LPT")
	return ok && isPort(port)
}

// isPort accepts 0-9 and the superscript digits that Windows also takes for ports.
func isPort(text string) bool {
	switch text {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// isShortName reports whether the component has the shape of a generated 8.3 name: at most eight characters ending in
// "~" and digits, and an extension of at most three.
func isShortName(part string) bool {
	base, ext, _ := strings.Cut(part, ".")
	if len(ext) > 3 || len(base) > 8 {
		return false
	}
	i := strings.LastIndexByte(base, '~')
	if i < 0 || i == len(base)-1 {
		return false
	}
	return strings.Trim(base[i+1:], "0123456789") == ""
}
