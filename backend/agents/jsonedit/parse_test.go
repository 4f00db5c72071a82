package jsonedit

import (
	"errors"
	"strings"
	"testing"
)

func TestParseErrorsNameTheirPlace(t *testing.T) {
	for _, tc := range []struct {
		name, text   string
		line, column int
		problem      string
	}{
		{"trailing comma in object", "{\n  \"a\": 1,\n}", 2, 9, "comma stands before"},
		{"trailing comma in array", "[1,\n 2,\n]", 2, 3, "comma stands before"},
		{"duplicate key", "{\"a\": 1,\n \"a\": 2}", 2, 2, "stands twice"},
		{"duplicate key spelled with an escape", `{"a": 1, "\u0061": 2}`, 1, 10, "stands twice"},
		{"missing colon", `{"a" 1}`, 1, 6, "colon"},
		{"missing comma", `{"a": 1 "b": 2}`, 1, 9, "comma or a closing brace"},
		{"text after the end", "{}\n{}", 2, 1, "after the end"},
		{"open object", `{"a": 1`, 1, 8, "comma or a closing brace"},
		{"open string", `"abc`, 1, 1, "no end"},
		{"control character", "\"a\nb\"", 1, 3, "control character"},
		{"bad escape", `"\x"`, 1, 2, "unknown escape"},
		{"lone high surrogate", `"\ud800"`, 1, 2, "surrogate"},
		{"lone low surrogate", `"a\udc00"`, 1, 3, "surrogate"},
		{"bad number", "[01]", 1, 2, "no JSON value"},
		{"bad word", "[nul]", 1, 2, "no JSON value"},
		{"not UTF-8", "\"\xff\"", 1, 2, "UTF-8"},
		{"comment that is not allowed", "// x\n{}", 1, 1, "comment"},
		{"too deep", strings.Repeat("[", MaxDepth+2), 1, MaxDepth + 2, "nested deeper"},
		{"byte order mark does not count", "\xef\xbb\xbf{,}", 1, 2, "key is expected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.text), Options{})
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			if syntax.Line != tc.line || syntax.Column != tc.column || !strings.Contains(syntax.Problem, tc.problem) {
				t.Errorf("got %v, want line %d, column %d, %q", syntax, tc.line, tc.column, tc.problem)
			}
		})
	}
}

func TestParse(t *testing.T) {
	text := "\xef\xbb\xbf// head\r\n{ /* in */ \"a\": [1, {\"b\": \"x\\n\\u00e9\\ud83d\\ude00\"}], \"A\": true, \"n\": null }\n"
	doc, err := Parse([]byte(text), Options{Comments: true})
	if err != nil {
		t.Fatal(err)
	}
	if !doc.Comments {
		t.Error("the comments were not noticed")
	}
	b, ok := doc.Root.Get("a").Items[1].Value.Get("b").Str()
	if !ok || b != "x\né😀" {
		t.Errorf("b = %q", b)
	}
	if !doc.Root.Get("A").True() || doc.Root.Get("a").True() || doc.Root.Get("nothing") != nil {
		t.Error("keys are compared exactly")
	}
	if v := doc.Root.Get("a"); text[v.Start:v.End] != `[1, {"b": "x\n\u00e9\ud83d\ude00"}]` {
		t.Errorf("offsets: %q", text[v.Start:v.End])
	}
	for _, empty := range []string{"", " \n", "\xef\xbb\xbf", "\xef\xbb\xbf\n"} {
		doc, err := Parse([]byte(empty), Options{})
		if err != nil || doc.Root != nil {
			t.Errorf("%q: %v, root %v", empty, err, doc)
		}
	}
}
