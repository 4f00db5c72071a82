package imports

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The literal subset of Starlark in which Codex's rules are written: calls whose arguments are named literals.
// Nothing is evaluated; any other statement is returned as one that was not understood.

// statement is one statement at the left margin.
type statement struct {
	line    int
	text    string // shortened
	name    string // of the call; "" where it is none that can be read
	args    map[string]any
	literal bool // every argument was a literal
}

// token is a part of Starlark text. kind is 'n' a name, 's' a string, 'd' a number, or the operator itself; '\n' ends a
// line that no bracket continues.
type token struct {
	kind     byte
	text     string
	line, at int
	margin   bool // first in a line, without white space before it
}

// maxStarlarkDepth is the deepest nesting of brackets that is read.
const maxStarlarkDepth = 32

func starlarkTokens(file, text string) ([]token, error) {
	fail := func(line int, problem string) error { return &SyntaxError{File: file, Line: line, Problem: problem} }
	if !utf8.ValidString(text) {
		return nil, fail(0, "the text is not valid UTF-8")
	}
	var out []token
	var open []byte
	line := 1
	for i := 0; i < len(text); {
		c := text[i]
		t := token{line: line, at: i, margin: i == 0 || text[i-1] == '\n'}
		switch {
		case c == '\n':
			if len(open) == 0 {
				out = append(out, token{kind: '\n', line: line, at: i})
			}
			line++
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r', c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			if i++; c == '\\' {
				line++
				i++
			}
			continue
		case c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case c == '"' || c == '\'':
			value, n, problem := starlarkString(text[i:], false)
			if problem != "" {
				return nil, fail(line, problem)
			}
			t.kind, t.text = 's', value
			line += strings.Count(text[i:i+n], "\n")
			i += n
		case c == 'r' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\''):
			value, n, problem := starlarkString(text[i+1:], true)
			if problem != "" {
				return nil, fail(line, problem)
			}
			t.kind, t.text = 's', value
			line += strings.Count(text[i+1:i+1+n], "\n")
			i += 1 + n
		case c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf:
			end := i
			for end < len(text) && (text[end] == '_' || 'a' <= text[end]|0x20 && text[end]|0x20 <= 'z' ||
				'0' <= text[end] && text[end] <= '9' || text[end] >= utf8.RuneSelf) {
				end++
			}
			t.kind, t.text = 'n', text[i:end]
			i = end
		case '0' <= c && c <= '9':
			end := i
			for end < len(text) && '0' <= text[end] && text[end] <= '9' {
				end++
			}
			t.kind, t.text = 'd', text[i:end]
			i = end
		default:
			switch c {
			case '(', '[', '{':
				if open = append(open, c); len(open) > maxStarlarkDepth {
					return nil, fail(line, "brackets are nested too deeply")
				}
			case ')', ']', '}':
				if len(open) == 0 || strings.IndexByte("([{", open[len(open)-1]) != strings.IndexByte(")]}", c) {
					return nil, fail(line, strconv.Quote(string(c))+" closes nothing")
				}
				open = open[:len(open)-1]
			}
			t.kind = c
			i++
		}
		out = append(out, t)
	}
	if len(open) > 0 {
		return nil, fail(line, strconv.Quote(string(open[len(open)-1]))+" is not closed")
	}
	return append(out, token{kind: '\n', line: line, at: len(text)}), nil
}

// starlarkString reads the string that begins text: its value and its length.
func starlarkString(text string, raw bool) (value string, n int, problem string) {
	quote := text[:1]
	if strings.HasPrefix(text, strings.Repeat(quote, 3)) {
		quote = text[:3]
	}
	var b strings.Builder
	for i := len(quote); i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], quote):
			return b.String(), i + len(quote), ""
		case c == '\n' && len(quote) == 1:
			return "", 0, "a string does not end in its line"
		case c == '\\' && raw && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case '\n':
			case '\\', '"', '\'':
				b.WriteByte(text[i])
			default:
				return "", 0, "a string has an escape that is not read here: \\" + text[i:i+1]
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, "a string has no end"
}

// starlarkStatements splits a text into statements.
func starlarkStatements(file, text string) ([]statement, error) {
	tokens, err := starlarkTokens(file, text)
	if err != nil {
		return nil, err
	}
	var out []statement
	for i := 0; i < len(tokens); {
		if tokens[i].kind == '\n' || tokens[i].kind == ';' {
			i++
			continue
		}
		// A statement goes to the end of its line, with the indented lines below it.
		end := i
		for end < len(tokens) && (tokens[end].kind != '\n' || end+1 < len(tokens) && tokens[end+1].kind != '\n' && !tokens[end+1].margin) {
			end++
		}
		s := statement{line: tokens[i].line, text: shorten(strings.Join(strings.Fields(text[tokens[i].at:tokens[min(end, len(tokens)-1)].at]), " "))}
		if len(s.text) > 4 && end-i == 1 && tokens[i].kind == 's' {
			i = end // a documentation string
			continue
		}
		s.call(tokens[i:end])
		out = append(out, s)
		i = end
	}
	return out, nil
}

// call reads NAME(argument = literal, …).
func (s *statement) call(tokens []token) {
	if len(tokens) < 3 || tokens[0].kind != 'n' || tokens[1].kind != '(' || tokens[len(tokens)-1].kind != ')' {
		return
	}
	s.name, s.args, s.literal = tokens[0].text, map[string]any{}, true
	for i := 2; i < len(tokens)-1; {
		if tokens[i].kind != 'n' || tokens[i+1].kind != '=' {
			s.name, s.args, s.literal = "", nil, false // an argument without a name could be any of them
			return
		}
		value, next, ok := literal(tokens, i+2)
		if _, twice := s.args[tokens[i].text]; !ok || twice {
			s.literal = false
		}
		s.args[tokens[i].text] = value
		if !ok {
			next = afterArgument(tokens, i+2)
		}
		if i = next; tokens[i].kind == ',' {
			i++
		} else if i != len(tokens)-1 {
			s.name, s.args, s.literal = "", nil, false
			return
		}
	}
}

// afterArgument skips an argument that is no literal.
func afterArgument(tokens []token, i int) int {
	for depth := 0; i < len(tokens)-1; i++ {
		switch tokens[i].kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// literal reads a string, a list or a name such as None. What follows it must end the argument.
func literal(tokens []token, i int) (value any, next int, ok bool) {
	if i >= len(tokens) {
		return nil, i, false
	}
	switch t := tokens[i]; t.kind {
	case 's':
		value, next = t.text, i+1
	case 'n':
		if t.text != "None" {
			return nil, i, false
		}
		next = i + 1
	case '[':
		list := []any{}
		for i++; i < len(tokens) && tokens[i].kind != ']'; {
			item, after, ok := literal(tokens, i)
			if !ok {
				return nil, i, false
			}
			list = append(list, item)
			if i = after; i < len(tokens) && tokens[i].kind == ',' {
				i++
			}
		}
		value, next = list, i+1
	default:
		return nil, i, false
	}
	if next >= len(tokens) || strings.IndexByte(",)]", tokens[next].kind) < 0 {
		return nil, i, false
	}
	return value, next, true
}
