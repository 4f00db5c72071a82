package capability

import (
	"bytes"
	"encoding/hex"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// CheckJSONText refuses JSON text that a decoder would change without a word: bytes that are not UTF-8 and surrogates that
// are not a pair (RFC 8259, section 8). What was judged and what is used must be the same text.
func CheckJSONText(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("not valid UTF-8")
	}
	for i := 0; i < len(raw); i++ {
		skip := bytes.IndexByte(raw[i:], '\\')
		if skip < 0 {
			return nil
		}
		i += skip + 1 // at the character after the backslash
		unit, ok := escapedUnit(raw, i)
		if !ok {
			continue
		}
		i += 4
		if !utf16.IsSurrogate(unit) {
			continue
		}
		if i+2 < len(raw) && raw[i+1] == '\\' {
			if low, ok := escapedUnit(raw, i+2); ok && utf16.DecodeRune(unit, low) != utf8.RuneError {
				i += 6
				continue
			}
		}
		return errors.New("half of a surrogate pair")
	}
	return nil
}

// escapedUnit reads the UTF-16 unit of an escape whose "u" stands at i.
func escapedUnit(raw []byte, i int) (rune, bool) {
	if i+5 > len(raw) || raw[i] != 'u' {
		return 0, false
	}
	var b [2]byte
	if _, err := hex.Decode(b[:], raw[i+1:i+5]); err != nil {
		return 0, false
	}
	return rune(b[0])<<8 | rune(b[1]), true
}
