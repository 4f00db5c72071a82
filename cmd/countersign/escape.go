package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape makes untrusted text safe to show in a terminal and impossible to misread: control, format (bidirectional,
// zero-width) and other invisible characters and invalid bytes are spelled out. With lines, newline and tab are kept.
func escape(text string, lines bool) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.Is(unicode.Variation_Selector, r):
			b.WriteRune(r)
		default:
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
		i += size
	}
	return b.String()
}
