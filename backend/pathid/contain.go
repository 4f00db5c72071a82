package pathid

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Contains reports whether name is root or lies below it. Both must be absolute and are compared lexically by
// component; resolve them first where links matter. A path that is not absolute contains nothing and lies nowhere.
//
// Linux compares bytes, because two spellings are two files there. macOS and Windows compare Keys.
func Contains(p Platform, root, name string) bool {
	if p.FoldsCase() {
		root, name = Key(p, root), Key(p, name)
	}
	outer, ok := Components(p, root)
	if !ok {
		return false
	}
	inner, ok := Components(p, name)
	if !ok || len(inner) < len(outer) {
		return false
	}
	for i := range outer {
		if outer[i] != inner[i] {
			return false
		}
	}
	return true
}

// Key returns a text that is equal for paths which the platform takes for the same name: in Unicode form NFC, and where
// the platform folds case, folded. On macOS the characters that HFS+ ignores are dropped too; on Windows slashes are
// backslashes and trailing dots and spaces of a component, which Windows drops, are dropped. Invalid UTF-8 is kept as it
// is. Key is idempotent. A key is for comparing, never for opening.
func Key(p Platform, name string) string {
	switch p {
	case MacOS:
		return foldMac(name)
	case Windows:
		return foldWindows(name)
	}
	return nfc(name)
}

func foldMac(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	name = mapValid(name, func(r rune) rune {
		if isIgnorable(r) {
			return -1
		}
		return r
	})
	// APFS compares full case folds of canonical decompositions: .ßh is .ssh. Folding can make text that composes and
	// composing can make text that folds, so it is done until nothing changes (two rounds for all of Unicode).
	for range 4 {
		next := norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
		if next == name {
			break
		}
		name = next
	}
	return name
}

func foldWindows(name string) string {
	name = strings.ReplaceAll(name, "/", `\`)
	if isASCII(name) {
		name = strings.ToLower(name)
	} else {
		for range 4 {
			next := mapValid(norm.NFC.String(name), simpleFold)
			if next == name {
				break
			}
			name = next
		}
	}
	if !strings.Contains(name, `.\`) && !strings.Contains(name, ` \`) &&
		!strings.HasSuffix(name, ".") && !strings.HasSuffix(name, " ") {
		return name
	}
	parts := strings.Split(name, `\`)
	for i, part := range parts {
		if cut := strings.TrimRight(part, ". "); cut != "" {
			parts[i] = cut
		}
	}
	return strings.Join(parts, `\`)
}

func nfc(name string) string {
	if isASCII(name) {
		return name
	}
	return norm.NFC.String(name)
}

// simpleFold picks one representative of the runes that differ only by case: the smallest, in lower case for ASCII.
func simpleFold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// mapValid is strings.Map that leaves invalid bytes alone, so that two damaged names do not become the same name.
func mapValid(text string, fn func(rune) rune) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(text[i])
		} else if r = fn(r); r >= 0 {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
