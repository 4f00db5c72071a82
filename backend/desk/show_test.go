package desk

import (
	"encoding/json"
	"strings"
	"testing"
)

// A write of a large file once lost its path with its content: its row in the inbox could not say which file it is.
func TestShownArgsKeepTheShortOnes(t *testing.T) {
	long := strings.Repeat("x", maxShownArgs)
	many := map[string]string{}
	for i := range maxShownArgs / 4 {
		many[itoa(i)] = "v"
	}
	for _, tt := range []struct {
		name string
		args any
		want string
	}{
		{"short", map[string]string{"path": "a"}, `{"path":"a"}`},
		{"one long", map[string]string{"path": "a", "content": long}, `{"content":{"omitted_bytes":16386},"path":"a"}`},
		{"no object", long, `{"omitted_bytes":16386}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, err := json.Marshal(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(shownArgs(args)); got != tt.want {
				t.Errorf("shown as %.100s, want %s", got, tt.want)
			}
		})
	}
	args, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	if got := shownArgs(args); len(got) > maxShownArgs {
		t.Errorf("%d short arguments are shown in %d bytes", len(many), len(got))
	}
}
