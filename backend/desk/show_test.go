package desk

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"countersign/backend/wire"
)

// A write of a large file once lost its path with its content: its row in the inbox could not say which file it is.
func TestShownArgsKeepTheShortOnes(t *testing.T) {
	long := strings.Repeat("x", maxShownArgs)
	many := map[string]string{}
	for i := range maxShownArgs / 4 {
		many[itoa(i)] = "v"
	}
	for _, tt := range []struct {
		name    string
		args    any
		want    string
		omitted map[string]int
	}{
		{"short", map[string]string{"path": "a"}, `{"path":"a"}`, nil},
		{"one long", map[string]string{"path": "a", "content": long}, `{"path":"a"}`, map[string]int{"content": maxShownArgs + 2}},
		{"no object", long, `{}`, map[string]int{"": maxShownArgs + 2}},
		// An agent once hid its arguments by naming one of them as the core named what it left out.
		{"one that says so itself", map[string]any{"omitted_bytes": 3, "x": "y"}, `{"omitted_bytes":3,"x":"y"}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, err := json.Marshal(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if got, omitted := shownArgs(args); string(got) != tt.want || !maps.Equal(omitted, tt.omitted) {
				t.Errorf("shown as %.100s without %v, want %s without %v", got, omitted, tt.want, tt.omitted)
			}
		})
	}
	args, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	if got, omitted := shownArgs(args); len(got) > maxShownArgs || omitted[""] != len(args) {
		t.Errorf("%d short arguments are shown in %d bytes, %v left out", len(many), len(got), omitted)
	}
}

// A file that loses its last line end once looked unchanged.
func TestAMissingLineEndIsSaid(t *testing.T) {
	list, _, _ := hunks([]byte("a\nb\n"), []byte("a\nb"))
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	want := []wire.DiffLine{{Op: " ", Text: "a"}, {Op: "-", Text: "b"}, {Op: "+", Text: "b", NoNewline: true}}
	if !slices.Equal(list[0].Lines, want) {
		t.Errorf("%+v", list[0].Lines)
	}
}
