package jsonedit

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string and decodes it. A lone surrogate is refused: it has no UTF-8, so what one program compares is
// not what another one opens.
func (p *parser) str() (string, error) {
	start := p.at
	p.at++
	var out []byte
	run := p.at // start of the bytes that can be taken as they are
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case c == '"':
			out = append(out, p.data[run:p.at]...)
			p.at++
			return string(out), nil
		case c < 0x20:
			return "", p.fail(p.at, "a control character stands in a string")
		case c != '\\':
			p.at++
		default:
			out = append(out, p.data[run:p.at]...)
			decoded, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, decoded)
			run = p.at
		}
	}
	return "", p.fail(start, "the string has no end")
}

func (p *parser) escape() (rune, error) {
	start := p.at
	if p.at+1 >= len(p.data) {
		return 0, p.fail(start, "the escape has no end")
	}
	c := p.data[p.at+1]
	p.at += 2
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, ok := p.hex()
		if !ok {
			return 0, p.fail(start, "\\u needs four hexadecimal digits")
		}
		if !utf16.IsSurrogate(r) {
			return r, nil
		}
		if bytes.HasPrefix(p.data[p.at:], []byte(`\u`)) {
			p.at += 2
			if low, ok := p.hex(); ok {
				if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
					return full, nil
				}
			}
		}
		return 0, p.fail(start, "half of a surrogate pair stands alone")
	}
	return 0, p.fail(start, fmt.Sprintf("unknown escape \\%s", firstRune(p.data[start+1:])))
}

func (p *parser) hex() (rune, bool) {
	if p.at+4 > len(p.data) {
		return 0, false
	}
	var r rune
	for _, c := range p.data[p.at : p.at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	p.at += 4
	return r, true
}
