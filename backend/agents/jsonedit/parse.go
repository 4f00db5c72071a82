package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting that is parsed.
const MaxDepth = 200

// Kind is the kind of a value.
type Kind string

// The kinds of a value.
const (
	Object Kind = "object"
	Array  Kind = "array"
	String Kind = "string"
	Number Kind = "number"
	Bool   Kind = "bool"
	Null   Kind = "null"
)

// Node is one value with its place in the text: data[Start:End].
type Node struct {
	Kind    Kind
	Start   int
	End     int
	Members []Member // of an object, in order
	Items   []Item   // of an array, in order
	Text    string   // of a string: decoded; otherwise the literal's own bytes
}

// Member is one member of an object. Comma is the offset of the comma after it, or -1.
type Member struct {
	Key      string
	KeyStart int
	Value    *Node
	Comma    int
}

// Item is one element of an array. Comma is the offset of the comma after it, or -1.
type Item struct {
	Value *Node
	Comma int
}

// Get returns the member named key exactly, or nil: also when n is nil or no object.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Str returns the decoded string, and whether n is one.
func (n *Node) Str() (string, bool) {
	if n == nil || n.Kind != String {
		return "", false
	}
	return n.Text, true
}

// True reports whether n is the literal true.
func (n *Node) True() bool { return n != nil && n.Kind == Bool && n.Text == "true" }

// SyntaxError says where a text could not be read, and why. Line and Column count from 1; a column is a byte.
type SyntaxError struct {
	Line    int
	Column  int
	Problem string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// Options says what is accepted beside plain JSON.
type Options struct {
	Comments bool // line and block comments
}

// Document is a parsed text.
type Document struct {
	Data     []byte
	Root     *Node // nil when the text holds no value at all (empty, white space, only a byte order mark)
	Comments bool  // at least one comment stands in it
}

// bom is the byte order mark that some editors put in front of UTF-8.
var bom = []byte("\xef\xbb\xbf")

// Parse reads one JSON value and nothing after it. The document keeps data; it must not change afterwards.
func Parse(data []byte, o Options) (*Document, error) {
	p := &parser{data: data, options: o}
	doc := &Document{Data: data}
	if at := invalidUTF8(data); at >= 0 {
		return nil, p.fail(at, "the text is not valid UTF-8")
	}
	if bytes.HasPrefix(data, bom) {
		p.at = len(bom)
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(data) {
		root, err := p.value(0)
		if err != nil {
			return nil, err
		}
		doc.Root = root
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at < len(data) {
			return nil, p.fail(p.at, "there is text after the end of the value")
		}
	}
	doc.Comments = p.comments
	return doc, nil
}

// Position tells line and column of an offset, both from 1.
func (d *Document) Position(at int) (line, column int) { return position(d.Data, at) }

// Fail makes a SyntaxError about the value at an offset, for callers that find the text well formed but of a shape
// they cannot edit.
func (d *Document) Fail(at int, problem string) *SyntaxError {
	line, column := position(d.Data, at)
	return &SyntaxError{Line: line, Column: column, Problem: problem}
}

func position(data []byte, at int) (line, column int) {
	at = min(max(at, 0), len(data))
	before := data[:at]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = at - (bytes.LastIndexByte(before, '\n') + 1) + 1
	if line == 1 && bytes.HasPrefix(data, bom) && at >= len(bom) {
		column -= len(bom)
	}
	return line, column
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

type parser struct {
	data     []byte
	at       int
	options  Options
	comments bool
}

func (p *parser) fail(at int, problem string) *SyntaxError {
	line, column := position(p.data, at)
	return &SyntaxError{Line: line, Column: column, Problem: problem}
}

// space skips white space and, where allowed, comments.
func (p *parser) space() error {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		case '/':
			if err := p.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) comment() error {
	start := p.at
	if !p.options.Comments {
		return p.fail(start, "a comment is not allowed here")
	}
	rest := p.data[start:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		p.at = start + end
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return p.fail(start, "the comment has no end")
		}
		p.at = start + 2 + end + 2
	default:
		return p.fail(start, "unexpected '/'")
	}
	p.comments = true
	return nil
}

func (p *parser) value(depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, p.fail(p.at, fmt.Sprintf("nested deeper than %d", MaxDepth))
	}
	if p.at >= len(p.data) {
		return nil, p.fail(p.at, "the text ends where a value is expected")
	}
	switch c := p.data[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		start := p.at
		text, err := p.str()
		if err != nil {
			return nil, err
		}
		return &Node{Kind: String, Start: start, End: p.at, Text: text}, nil
	case c == '-' || c >= '0' && c <= '9':
		return p.literal(Number)
	case c == 't' || c == 'f':
		return p.literal(Bool)
	case c == 'n':
		return p.literal(Null)
	}
	return nil, p.fail(p.at, fmt.Sprintf("unexpected %q where a value is expected", firstRune(p.data[p.at:])))
}

func firstRune(data []byte) string {
	_, size := utf8.DecodeRune(data)
	return string(data[:size])
}

// literal reads a number, true, false or null: everything up to the next delimiter must be one.
func (p *parser) literal(kind Kind) (*Node, error) {
	start := p.at
	for p.at < len(p.data) && !bytes.ContainsRune([]byte(" \t\r\n,]}:/\"[{"), rune(p.data[p.at])) {
		p.at++
	}
	text := p.data[start:p.at]
	if !json.Valid(text) {
		return nil, p.fail(start, fmt.Sprintf("%.40q is no JSON value", text))
	}
	return &Node{Kind: kind, Start: start, End: p.at, Text: string(text)}, nil
}

func (p *parser) object(depth int) (*Node, error) {
	n := &Node{Kind: Object, Start: p.at}
	p.at++
	seen := map[string]bool{}
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at >= len(p.data) {
			return nil, p.fail(n.Start, "the object has no end")
		}
		if p.data[p.at] == '}' {
			if len(n.Members) > 0 {
				return nil, p.fail(n.Members[len(n.Members)-1].Comma, "a comma stands before the closing brace")
			}
			p.at++
			n.End = p.at
			return n, nil
		}
		m := Member{KeyStart: p.at, Comma: -1}
		if p.data[p.at] != '"' {
			return nil, p.fail(p.at, fmt.Sprintf("unexpected %q where a key is expected", firstRune(p.data[p.at:])))
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, p.fail(m.KeyStart, fmt.Sprintf("the key %.80q stands twice in this object", key))
		}
		seen[key] = true
		m.Key = key
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at >= len(p.data) || p.data[p.at] != ':' {
			return nil, p.fail(p.at, "a colon is missing after the key")
		}
		p.at++
		if err := p.space(); err != nil {
			return nil, err
		}
		if m.Value, err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at < len(p.data) && p.data[p.at] == ',' {
			m.Comma = p.at
			p.at++
			n.Members = append(n.Members, m)
			continue
		}
		n.Members = append(n.Members, m)
		if p.at < len(p.data) && p.data[p.at] == '}' {
			p.at++
			n.End = p.at
			return n, nil
		}
		return nil, p.fail(p.at, "a comma or a closing brace is missing")
	}
}

func (p *parser) array(depth int) (*Node, error) {
	n := &Node{Kind: Array, Start: p.at}
	p.at++
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at >= len(p.data) {
			return nil, p.fail(n.Start, "the array has no end")
		}
		if p.data[p.at] == ']' {
			if len(n.Items) > 0 {
				return nil, p.fail(n.Items[len(n.Items)-1].Comma, "a comma stands before the closing bracket")
			}
			p.at++
			n.End = p.at
			return n, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		item := Item{Value: v, Comma: -1}
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at < len(p.data) && p.data[p.at] == ',' {
			item.Comma = p.at
			p.at++
			n.Items = append(n.Items, item)
			continue
		}
		n.Items = append(n.Items, item)
		if p.at < len(p.data) && p.data[p.at] == ']' {
			p.at++
			n.End = p.at
			return n, nil
		}
		return nil, p.fail(p.at, "a comma or a closing bracket is missing")
	}
}
