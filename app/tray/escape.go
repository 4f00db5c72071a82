package tray

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestName bounds a name in the menu, in characters as they are shown. A menu is as wide as its longest line.
const longestName = 32

// name makes a name that others chose fit for one line of a menu and impossible to misread: control, format
// (bidirectional, zero-width) and other invisible characters and invalid bytes are spelled out; what is too long ends
// in an ellipsis and is never cut within such a spelling.
func name(text string) string {
	var pieces []string
	length := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		piece := text[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, text[i])
		case !shown(r) && r > 0xffff:
			piece = fmt.Sprintf(`\U%08x`, r)
		case !shown(r):
			piece = fmt.Sprintf(`\u%04x`, r)
		}
		pieces, length = append(pieces, piece), length+utf8.RuneCountInString(piece)
		if length > longestName {
			for length > longestName-1 {
				last := pieces[len(pieces)-1]
				pieces, length = pieces[:len(pieces)-1], length-utf8.RuneCountInString(last)
			}
			return strings.Join(pieces, "") + "…"
		}
		i += size
	}
	return strings.Join(pieces, "")
}

func shown(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.Is(unicode.Variation_Selector, r)
}
