package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func editArgs(old, new string, all bool) []byte {
	raw, err := json.Marshal(map[string]any{"path": "a", "old_string": old, "new_string": new, "replace_all": all})
	if err != nil {
		panic(err)
	}
	return raw
}

func TestEditPlan(t *testing.T) {
	tests := []struct {
		name, current, old, new string
		all                     bool
		want                    string
		matches                 int
		err                     error
	}{
		{"once", "a b c", "b", "X", false, "a X c", 1, nil},
		{"removed", "a b c", " b", "", false, "a c", 1, nil},
		{"whole file", "abc", "abc", "x", false, "x", 1, nil},
		{"none", "abc", "x", "y", false, "", 0, ErrNoMatch},
		{"none of all", "abc", "x", "y", true, "", 0, ErrNoMatch},
		{"empty file", "", "x", "y", false, "", 0, ErrNoMatch},
		{"twice", "a b a", "a", "x", false, "", 2, ErrAmbiguous},
		{"all", "a b a", "a", "aa", true, "aa b aa", 2, nil},
		{"all of one", "a b", "a", "x", true, "x b", 1, nil},
		{"places that overlap", "aaa", "aa", "x", false, "", 2, ErrAmbiguous},
		{"all of what overlaps", "aaa", "aa", "x", true, "xa", 1, nil},
		{"long overlap", "abcabcab", "abcab", "x", false, "", 2, ErrAmbiguous},
		{"bytes kept", "\xff\x00a\xfe", "a", "b", false, "\xff\x00b\xfe", 1, nil},
		{"BOM kept", "\ufeffa\n", "a", "b", false, "\ufeffb\n", 1, nil},
		{"BOM named", "\ufeffa\n", "\ufeffa", "b", false, "b\n", 1, nil},
		{"no final newline", "a\nb", "b", "c", false, "a\nc", 1, nil},

		{"CRLF", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n", 1, nil},
		{"CRLF, one line into two", "a\r\nb\r\n", "b", "b\nc", false, "a\r\nb\r\nc\r\n", 1, nil},
		{"CRLF as written", "a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n", 1, nil},
		{"CRLF and explicit ends", "a\r\nb\r\n", "a", "x\r", false, "x\r\r\nb\r\n", 1, nil},
		{"CRLF all", "a\r\nx\r\na\r\n", "a\n", "b\n", true, "b\r\nx\r\nb\r\n", 2, nil},
		{"CRLF, only ends differ", "a\r\nb\r\n", "a\nb", "a\r\nb", false, "", 0, ErrNoChange},
		{"CRLF, a bare newline", "a\r\nb\r\n", "\nb", "\nc", false, "a\r\nc\r\n", 1, nil},
		{"LF", "a\nb\n", "a\r\nb", "x\r\ny", false, "x\ny\n", 1, nil},
		{"LF, no match all the same", "a\nb\n", "c\r\n", "x", false, "", 0, ErrNoMatch},
		{"mixed ends are left alone", "a\r\nb\nc\n", "b\nc", "x\ny", false, "a\r\nx\ny\n", 1, nil},
		{"mixed ends match only as written", "a\r\nb\nc\n", "a\nb", "x", false, "", 0, ErrNoMatch},
		{"no line end at all", "ab", "b", "c\nd", false, "ac\nd", 1, nil},
		{"too large", strings.Repeat("a", 1<<20), "a", strings.Repeat("b", 100), true, "", 1 << 20, ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			current := []byte(tt.current)
			got, matches, err := EditPlan(editArgs(tt.old, tt.new, tt.all), current)
			if !errors.Is(err, tt.err) || matches != tt.matches {
				t.Fatalf("%d matches, error %v; want %d, %v", matches, err, tt.matches, tt.err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if string(current) != tt.current {
				t.Error("the current content was changed in place")
			}
			if errors.Is(err, ErrAmbiguous) && !strings.Contains(err.Error(), "2 matches") {
				t.Errorf("error %q does not say how many", err)
			}
			if err != nil && (Code(err) == "file_error" || err.Error() == "") {
				t.Errorf("%v has no code", err)
			}
		})
	}
	if _, _, err := EditPlan([]byte(`{}`), nil); !errors.Is(err, ErrArguments) {
		t.Errorf("no arguments: %v", err)
	}
	if _, _, err := (EditArgs{}).Plan([]byte("a")); !errors.Is(err, ErrArguments) {
		t.Errorf("arguments that were not parsed: %v", err)
	}
}

// FuzzEdit: a plan replaces exactly the places it counts and nothing else, keeps a BOM and uniform line ends, and never
// touches its input.
func FuzzEdit(f *testing.F) {
	for _, seed := range []struct {
		current, old, new string
		all               bool
	}{
		{"a b a", "a", "x", true}, {"aaa", "aa", "b", false}, {"a\r\nb\r\n", "a\nb", "c\nd", false}, {"\ufeffx\n", "x", "y", false},
		{"a\nb", "a\r\nb", "c\r\n", false}, {"\xff\x00", "\x00", "\r", true}, {"\r\n\r\n", "\n", "\n\n", true}, {"\n\r\n", "\n", "", false},
	} {
		f.Add([]byte(seed.current), seed.old, seed.new, seed.all)
	}
	f.Fuzz(func(t *testing.T, current []byte, old, new string, all bool) {
		input := bytes.Clone(current)
		args := EditArgs{Path: "a", Old: old, New: new, ReplaceAll: all}
		next, matches, err := args.Plan(input)
		if !bytes.Equal(input, current) {
			t.Fatal("input changed")
		}
		if err != nil {
			if next != nil {
				t.Fatal("a plan beside an error")
			}
			return
		}
		before, after := args.adapted(current)
		if matches < 1 || !all && matches != 1 {
			t.Fatalf("%d matches", matches)
		}
		if len(next) != len(current)+matches*(len(after)-len(before)) {
			t.Fatalf("%d bytes from %d with %d matches of %d -> %d", len(next), len(current), matches, len(before), len(after))
		}
		first := bytes.Index(current, before)
		if !bytes.HasPrefix(next, current[:first]) {
			t.Fatal("bytes before the first match changed")
		}
		if !all {
			if !bytes.Equal(next, append(append(bytes.Clone(current[:first]), after...), current[first+len(before):]...)) {
				t.Fatal("other bytes changed")
			}
			if bytes.Contains(current[first+1:], before) {
				t.Fatal("there was a second place")
			}
		}
		if bom := []byte("\ufeff"); bytes.HasPrefix(current, bom) && !bytes.HasPrefix(next, bom) && first >= len(bom) {
			t.Fatal("BOM lost")
		}
		uniform := func(b []byte) bool { return bytes.Count(b, []byte("\n")) == bytes.Count(b, []byte("\r\n")) }
		if bytes.Contains(current, []byte("\n")) && uniform(current) && !strings.Contains(old+new, "\r") && !uniform(next) {
			t.Fatalf("uniform line ends lost: %q", next)
		}
	})
}

func FuzzParseArguments(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a","old_string":"x","new_string":"y"}`, `{"file_path":"a","content":""}`, `{"path":"a","offset":1}`, `{}`, `[`,
		`{"path":"\ud800"}`, `{"path":null}`, `{"a":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		read, err := ParseRead(raw)
		if err == nil && (read.Path == "" || read.Offset < 0 || read.Limit < 0) {
			t.Fatalf("%+v", read)
		}
		edit, err := ParseEdit(raw)
		if err == nil && (edit.Path == "" || edit.Old == "") {
			t.Fatalf("%+v", edit)
		}
		write, err := ParseWrite(raw)
		if err == nil && (write.Path == "" || !json.Valid(raw)) {
			t.Fatalf("%+v", write)
		}
	})
}
