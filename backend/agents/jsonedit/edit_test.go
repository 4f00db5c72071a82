package jsonedit

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type pair struct {
	X int    `json:"x"`
	Y string `json:"y"`
}

func TestAddMember(t *testing.T) {
	for _, tc := range []struct{ name, before, after string }{
		{"two blanks", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"k\": {\n    \"x\": 1,\n    \"y\": \"<&>\"\n  }\n}\n"},
		{"tabs", "{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"k\": {\n\t\t\"x\": 1,\n\t\t\"y\": \"<&>\"\n\t}\n}"},
		{"four blanks, CRLF", "{\r\n    \"a\": 1\r\n}\r\n", "{\r\n    \"a\": 1,\r\n    \"k\": {\r\n        \"x\": 1,\r\n        \"y\": \"<&>\"\r\n    }\r\n}\r\n"},
		{"one line", `{"a":1}`, `{"a":1, "k": {"x": 1, "y": "<&>"}}`},
		{"empty", "{}", "{\n  \"k\": {\n    \"x\": 1,\n    \"y\": \"<&>\"\n  }\n}"},
		{"empty with room", "{\n}\n", "{\n  \"k\": {\n    \"x\": 1,\n    \"y\": \"<&>\"\n  }\n}\n"},
		{"comment at the end", "{\n  \"a\": 1 // one\n  // two\n}", "{\n  \"a\": 1, // one\n  \"k\": {\n    \"x\": 1,\n    \"y\": \"<&>\"\n  }\n  // two\n}"},
		{"only a comment", "{ // c\n}", "{ // c\n  \"k\": {\n    \"x\": 1,\n    \"y\": \"<&>\"\n  }\n}"},
		{"byte order mark", "\xef\xbb\xbf{}", "\xef\xbb\xbf{\n  \"k\": {\n    \"x\": 1,\n    \"y\": \"<&>\"\n  }\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := parsed(t, tc.before)
			s, err := doc.AddMember(doc.Root, "k", pair{1, "<&>"})
			if err != nil {
				t.Fatal(err)
			}
			after := applied(t, doc.Data, s)
			if diff := cmp.Diff(tc.after, string(after)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if back := applied(t, after, s.Undo()); !bytes.Equal(back, doc.Data) {
				t.Errorf("undone: %q", back)
			}
			again := parsed(t, string(after))
			if back := applied(t, after, again.RemoveMember(again.Root, len(again.Root.Members)-1)); len(doc.Root.Members) > 0 && !doc.Comments && !bytes.Equal(back, doc.Data) {
				t.Errorf("removed: %q, want %q", back, doc.Data)
			}
		})
	}
}

func TestRemoveItem(t *testing.T) {
	for _, tc := range []struct {
		name, before string
		index        int
		after        string
	}{
		{"first", "[\n  1,\n  2\n]", 0, "[\n  2\n]"},
		{"middle", "[1, 2, 3]", 1, "[1, 3]"},
		{"last", "[\n  1,\n  2\n]", 1, "[\n  1\n]"},
		{"only", "[\n  1\n]", 0, "[]"},
		{"only, with a comment", "[ // c\n  1\n]", 0, "[ // c\n  \n]"},
		{"line comment before the comma", "[1 // c\n, 2]", 0, "[ // c\n 2]"},
		{"line comment before the last", "[1, // c\n 2 ]", 1, "[1 // c\n  ]"},
		{"block comment", "[/* a */ 1, 2]", 0, "[/* a */  2]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := parsed(t, tc.before)
			after := applied(t, doc.Data, doc.RemoveItem(doc.Root, tc.index))
			if string(after) != tc.after {
				t.Errorf("got %q, want %q", after, tc.after)
			}
			if got, want := len(parsed(t, string(after)).Root.Items), len(doc.Root.Items)-1; got != want {
				t.Errorf("%d elements, want %d", got, want)
			}
		})
	}
}

func TestFill(t *testing.T) {
	for _, tc := range []struct{ before, after string }{
		{"", "{}\n"}, {"  \n", "{}\n"}, {"\xef\xbb\xbf", "\xef\xbb\xbf{}\n"}, {"// c", "// c\n{}\n"},
	} {
		doc := parsed(t, tc.before)
		s, err := doc.Fill(struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		if after := applied(t, doc.Data, s); string(after) != tc.after {
			t.Errorf("%q became %q, want %q", tc.before, after, tc.after)
		}
	}
}

func TestSpliceOfAnotherText(t *testing.T) {
	for _, s := range []Splice{{At: 1, Removed: "x"}, {At: -1}, {At: 9}} {
		if _, err := s.Apply([]byte("abc")); err == nil {
			t.Errorf("%+v was applied", s)
		}
	}
}

// FuzzEdit checks that what parses survives any edit: the result parses, holds the new value, and can be undone.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "{\n\t\"a\": [1,\n 2] // c\n}", "[1, // c\n 2 ]", "{\"a\":{\"b\":[]},\"c\":\"\\ud83d\\ude00\"}",
		"\xef\xbb\xbf{\r\n \"a\" : null /* x */ ,\r\n\"b\":-1e5}\r\n", "[ // c\n 1]", "{\"a\":1,}", "[1 /* c */ , // d\n2]",
	} {
		f.Add([]byte(seed), 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, index int) {
		doc, err := Parse(data, Options{Comments: true})
		if err != nil {
			return
		}
		if doc.Root == nil {
			s, err := doc.Fill(ordinary{"k": 1})
			if err != nil {
				t.Fatal(err)
			}
			checkEdit(t, doc, s, 1)
			return
		}
		n := len(doc.Root.Members) + len(doc.Root.Items)
		switch doc.Root.Kind {
		case Object:
			if doc.Root.Get("new key") != nil {
				return
			}
			s, err := doc.AddMember(doc.Root, "new key", ordinary{"k": []int{1}})
			if err != nil {
				t.Fatal(err)
			}
			checkEdit(t, doc, s, n+1)
			if n > 0 {
				checkEdit(t, doc, doc.RemoveMember(doc.Root, abs(index)%n), n-1)
			}
		case Array:
			s, err := doc.AddItem(doc.Root, "new")
			if err != nil {
				t.Fatal(err)
			}
			checkEdit(t, doc, s, n+1)
			if n > 0 {
				checkEdit(t, doc, doc.RemoveItem(doc.Root, abs(index)%n), n-1)
			}
		}
		if !doc.Comments && !bytes.HasPrefix(data, bom) && !json.Valid(data) {
			t.Errorf("%q is no JSON, and was accepted", data)
		}
	})
}

type ordinary map[string]any

func abs(i int) int { return max(i, -(i + 1)) }

func checkEdit(t *testing.T, doc *Document, s Splice, want int) {
	t.Helper()
	after := applied(t, doc.Data, s)
	again := parsed(t, string(after))
	if got := len(again.Root.Members) + len(again.Root.Items); got != want {
		t.Errorf("%q became %q: %d values, want %d", doc.Data, after, got, want)
	}
	if back := applied(t, after, s.Undo()); !bytes.Equal(back, doc.Data) {
		t.Errorf("undone: %q, want %q", back, doc.Data)
	}
}

func parsed(t *testing.T, text string) *Document {
	t.Helper()
	doc, err := Parse([]byte(text), Options{Comments: true})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return doc
}

func applied(t *testing.T, data []byte, s Splice) []byte {
	t.Helper()
	out, err := s.Apply(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
