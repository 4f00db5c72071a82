package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Splice replaces the Removed bytes at an offset by the Inserted ones.
type Splice struct {
	At       int    `json:"at"`
	Removed  string `json:"removed"`
	Inserted string `json:"inserted"`
}

// ErrSplice means that the text is not the one the splice was made for.
var ErrSplice = errors.New("jsonedit: the text is not the one the change was made for")

// Apply returns data with the splice applied; data itself is not changed.
func (s Splice) Apply(data []byte) ([]byte, error) {
	if s.At < 0 || s.At > len(data) || !bytes.HasPrefix(data[s.At:], []byte(s.Removed)) {
		return nil, fmt.Errorf("at byte %d: %w", s.At, ErrSplice)
	}
	out := make([]byte, 0, len(data)-len(s.Removed)+len(s.Inserted))
	out = append(out, data[:s.At]...)
	out = append(out, s.Inserted...)
	return append(out, data[s.At+len(s.Removed):]...), nil
}

// Undo is the splice that takes s back.
func (s Splice) Undo() Splice { return Splice{At: s.At, Removed: s.Inserted, Inserted: s.Removed} }

// AddMember makes the splice that adds a member at the end of an object of the document. value is anything
// encoding/json can marshal.
func (d *Document) AddMember(object *Node, key string, value any) (Splice, error) {
	if object == nil || object.Kind != Object {
		return Splice{}, errors.New("jsonedit: not an object")
	}
	k, err := marshal(key)
	if err != nil {
		return Splice{}, err
	}
	last := -1
	if n := len(object.Members); n > 0 {
		last = object.Members[n-1].Value.End
	}
	return d.add(object, last, k, value)
}

// AddItem makes the splice that adds an element at the end of an array of the document.
func (d *Document) AddItem(array *Node, value any) (Splice, error) {
	if array == nil || array.Kind != Array {
		return Splice{}, errors.New("jsonedit: not an array")
	}
	last := -1
	if n := len(array.Items); n > 0 {
		last = array.Items[n-1].Value.End
	}
	return d.add(array, last, nil, value)
}

// add puts a value (with its key, for an object) behind the container's last one, which ends at last, or into the
// empty container when last is negative.
func (d *Document) add(container *Node, last int, key []byte, value any) (Splice, error) {
	style := d.style()
	compact, err := marshal(value)
	if err != nil {
		return Splice{}, err
	}
	oneLine := last >= 0 && !bytes.Contains(d.Data[container.Start:firstStart(container)], []byte("\n"))
	if oneLine {
		text := ", "
		if key != nil {
			text += string(key) + ": "
		}
		return Splice{At: last, Inserted: text + spaced(compact)}, nil
	}
	inner := style.lineIndent(d.Data, container.Start) + style.unit
	if last >= 0 {
		inner = style.lineIndent(d.Data, firstStart(container))
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, compact, inner, style.unit); err != nil {
		return Splice{}, err
	}
	text := inner
	if key != nil {
		text += string(key) + ": "
	}
	text += pretty.String()
	text = strings.ReplaceAll(text, "\n", style.newline)
	if last >= 0 {
		comment := d.commentAfter(last)
		return Splice{At: last, Removed: comment, Inserted: "," + comment + style.newline + text}, nil
	}
	closing := container.End - 1
	start := closing
	for start > container.Start+1 && isSpace(d.Data[start-1]) {
		start--
	}
	outer := style.lineIndent(d.Data, container.Start)
	return Splice{At: start, Removed: string(d.Data[start:closing]), Inserted: style.newline + text + style.newline + outer}, nil
}

// commentAfter returns the line comment that follows a value on its line, with the blanks before it: it stays with that
// value.
func (d *Document) commentAfter(at int) string {
	line, _, _ := bytes.Cut(d.Data[at:], []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if d.Comments && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("//")) {
		return string(line)
	}
	return ""
}

// Fill makes the splice that puts a whole value into a document without one.
func (d *Document) Fill(value any) (Splice, error) {
	compact, err := marshal(value)
	if err != nil {
		return Splice{}, err
	}
	style := d.style()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, compact, "", style.unit); err != nil {
		return Splice{}, err
	}
	at := 0
	if bytes.HasPrefix(d.Data, bom) {
		at = len(bom)
	}
	text := strings.ReplaceAll(pretty.String()+"\n", "\n", style.newline)
	if d.Comments {
		return Splice{At: len(d.Data), Inserted: style.newline + text}, nil
	}
	return Splice{At: at, Removed: string(d.Data[at:]), Inserted: text}, nil
}

// RemoveMember makes the splice that removes the i-th member of an object with the comma that belongs to it. Comments
// stay.
func (d *Document) RemoveMember(object *Node, i int) Splice {
	var before int
	if i > 0 {
		before = object.Members[i-1].Comma
	}
	m := object.Members[i]
	return d.remove(object, i, len(object.Members), m.KeyStart, m.Value.End, m.Comma, before)
}

// RemoveItem makes the splice that removes the i-th element of an array.
func (d *Document) RemoveItem(array *Node, i int) Splice {
	var before int
	if i > 0 {
		before = array.Items[i-1].Comma
	}
	item := array.Items[i]
	return d.remove(array, i, len(array.Items), item.Value.Start, item.Value.End, item.Comma, before)
}

// remove cuts data[start:end] with the white space before it and one comma: the one after it, or for the last of
// several the one before it. In a document with comments the white space stays: the line end after a line comment
// belongs to that comment.
func (d *Document) remove(container *Node, i, count, start, end, comma, before int) Splice {
	from := start
	for !d.Comments && from > container.Start+1 && isSpace(d.Data[from-1]) {
		from--
	}
	switch {
	case comma >= 0:
		kept := ""
		if d.Comments {
			kept = string(d.Data[end:comma])
		}
		return Splice{At: from, Removed: string(d.Data[from : comma+1]), Inserted: kept}
	case count > 1 && i > 0:
		return Splice{At: before, Removed: string(d.Data[before:end]), Inserted: string(d.Data[before+1 : from])}
	}
	to := end
	for !d.Comments && to < container.End-1 && isSpace(d.Data[to]) {
		to++
	}
	return Splice{At: from, Removed: string(d.Data[from:to])}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func firstStart(container *Node) int {
	if container.Kind == Object {
		return container.Members[0].KeyStart
	}
	return container.Items[0].Value.Start
}

// style is how a file is laid out.
type style struct {
	newline string
	unit    string
}

// style reads the layout from the text: the first line end, and the indentation of the root's first member.
func (d *Document) style() style {
	s := style{newline: "\n", unit: "  "}
	if i := bytes.IndexByte(d.Data, '\n'); i > 0 && d.Data[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if d.Root != nil && (len(d.Root.Members) > 0 || len(d.Root.Items) > 0) {
		at := firstStart(d.Root)
		if bytes.Contains(d.Data[d.Root.Start:at], []byte("\n")) {
			outer := s.lineIndent(d.Data, d.Root.Start)
			if indent := s.lineIndent(d.Data, at); len(indent) > len(outer) && strings.HasPrefix(indent, outer) {
				s.unit = indent[len(outer):]
			}
		}
	}
	return s
}

// lineIndent is the white space that the line of an offset starts with.
func (s style) lineIndent(data []byte, at int) string {
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	end := start
	for end < at && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return string(data[start:end])
}

// marshal encodes without escaping <, > and &: settings are read by people.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// spaced puts the usual blanks into compact JSON: {"a": 1, "b": [2, 3]}.
func spaced(compact []byte) string {
	var out strings.Builder
	inString := false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		out.WriteByte(c)
		switch {
		case inString && c == '\\':
			i++
			out.WriteByte(compact[i])
		case c == '"':
			inString = !inString
		case !inString && (c == ':' || c == ','):
			out.WriteByte(' ')
		}
	}
	return out.String()
}
