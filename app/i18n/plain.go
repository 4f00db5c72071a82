package i18n

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks may stand on one character. Languages need up to two; more are written over the
// lines around them.
const maxMarks = 2

// Plain makes a text that others chose fit for one line of ours and impossible to misread: what cannot be seen, or
// would change how the rest is read, and invalid bytes are spelled out; line ends and tabs become blanks. What has more
// than limit characters ends in an ellipsis, and never within such a spelling.
func Plain(text string, limit int) string {
	var pieces []string
	length, marks := 0, maxMarks // a mark at the beginning would stand on our own words
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		piece := text[i : i+size]
		mark := unicode.Is(unicode.M, r)
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, text[i])
		case r == '\n', r == '\t':
			piece = " "
		case !shown(r), mark && marks == maxMarks:
			piece = fmt.Sprintf(`\u{%x}`, r)
		}
		switch {
		case mark && marks < maxMarks:
			marks++
		case len(piece) == size && piece != " " && !mark:
			marks = 0
		default:
			marks = maxMarks // nor on a blank or a spelling
		}
		pieces, length = append(pieces, piece), length+utf8.RuneCountInString(piece)
		if length > limit {
			for length > limit-1 {
				last := pieces[len(pieces)-1]
				pieces, length = pieces[:len(pieces)-1], length-utf8.RuneCountInString(last)
			}
			return strings.Join(pieces, "") + "…"
		}
		i += size
	}
	return strings.Join(pieces, "")
}

// blanks are characters that Unicode calls graphic and fonts draw as nothing.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},   // BRAILLE PATTERN BLANK
	R32: []unicode.Range32{{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}}, // MUSICAL SYMBOL NULL NOTEHEAD
}

func shown(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.In(r, unicode.Z, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blanks)
}
