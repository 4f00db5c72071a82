package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"countersign/backend/desk"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// root is the module's root, from this package.
const root = "../.."

func TestFilesAreCurrent(t *testing.T) {
	stale, err := run(root, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stale {
		t.Errorf("%s is stale: go run ./build/wiretypes", name)
	}
}

func described(t *testing.T) *model {
	t.Helper()
	m, err := registered()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTheSameEveryTime: types come out of maps.
func TestTheSameEveryTime(t *testing.T) {
	for _, o := range outputs {
		first, err := o.make(described(t))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if again, err := o.make(described(t)); err != nil || !bytes.Equal(first, again) {
				t.Fatalf("%s differs from one run to the next (%v)", o.name, err)
			}
		}
	}
}

type inner struct {
	Deep string `json:"deep"`
}

type sample struct {
	inner
	Plain    string            `json:"plain"`
	Maybe    int               `json:"maybe,omitempty"`
	When     time.Time         `json:"when"`
	Ended    time.Time         `json:"ended,omitzero"`
	List     []string          `json:"list"`
	Some     []policy.Risk     `json:"some,omitempty"`
	Map      map[string]string `json:"map"`
	Pointer  *inner            `json:"pointer"`
	Optional *inner            `json:"optional,omitempty"`
	Raw      json.RawMessage   `json:"raw"`
	Bytes    []byte            `json:"bytes"`
	Rule     policy.Rule       `json:"rule"`
	Hidden   string            `json:"-"`
	private  string
}

func TestMembers(t *testing.T) {
	_ = sample{}.private
	m := &model{names: map[reflect.Type]string{}}
	found := map[reflect.Type]bool{}
	collect(reflect.TypeFor[sample](), found)
	if err := m.name(found); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"  deep: string;\n", "  plain: string;\n", "  maybe?: number;\n", "  when: string;\n", "  ended?: string;\n",
		"  list: string[] | null;\n", "  some?: Risk[];\n", "  map: Record<string, string> | null;\n", "  pointer: inner | null;\n",
		"  optional?: inner;\n", "  raw: unknown;\n", "  bytes: string | null;\n", "  rule: Rule;\n",
	}
	fields := fieldsOf(reflect.TypeFor[sample]())
	if len(fields) != len(want) {
		t.Fatalf("%d fields, want %d: %v", len(fields), len(want), fields)
	}
	for i, f := range fields {
		if got, err := m.member(f); err != nil || got != want[i] {
			t.Errorf("%s: got %q, %v, want %q", f.name, got, err, want[i])
		}
	}
	if _, err := m.script(reflect.TypeFor[chan int]()); err == nil {
		t.Error("a channel was told in TypeScript")
	}
}

// TestSchemaFitsWhatIsSent validates real values as they are encoded against their definitions.
func TestSchemaFitsWhatIsSent(t *testing.T) {
	m := described(t)
	text, err := schema(m)
	if err != nil {
		t.Fatal(err)
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	exit := 0
	tests := []struct {
		name  string
		value any
		fits  bool
	}{
		{"a question without a detail", wire.Question{ID: "q", CreatedAt: time.Now()}, true},
		{"a question with nil offers", wire.Question{}, true},
		{"a call that ended", wire.Call{Exit: &exit}, true},
		{"a status", wire.Status{Problems: []wire.Problem{{Code: "x"}}}, true},
		{"an empty card", desk.Card{}, true},
		{"receipts", wire.Receipts{Receipts: []wire.Receipt{{}}}, true},
		{"rules", wire.PermissionRules{Rules: []policy.SourcedRule{{Rule: mustRule(t, "Bash(ls:*)")}}}, true},
		{"a version that is a text", map[string]any{"id": "q", "version": "1", "offer": 1}, false},
		{"an argument nobody knows", map[string]any{"id": "q", "version": 1, "offer": 1, "x": 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := m.names[reflect.TypeOf(tt.value)]
			if name == "" {
				name = "QuestionReply"
			}
			whole := whole
			whole.Ref = "#/$defs/" + name
			resolved, err := whole.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(tt.value)
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if err := json.Unmarshal(text, &value); err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(value); (err == nil) != tt.fits {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
}

func mustRule(t *testing.T, text string) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
