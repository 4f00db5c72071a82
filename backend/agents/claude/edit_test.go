package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/agents/settings"
)

var update = flag.Bool("update", false, "write the golden files")

var command = HookCommand{Binary: "/opt/my tools/countersign", Home: "/home/user/.local/state/countersign", Core: "SHA256:abc"}

func TestAddHooksGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/settings/*.in")
	if err != nil || len(inputs) == 0 {
		t.Fatal("no inputs", err)
	}
	for _, in := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(in), ".in"), func(t *testing.T) {
			before, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			cleaned, err := RemoveHooks(before, settings.Added{})
			if err != nil {
				t.Fatal(err)
			}
			edited, err := AddHooks(cleaned.Data, Wanted{Command: command, Mode: ModeStrict})
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(in, ".in") + ".out"
			if *update {
				if err := os.WriteFile(golden, edited.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(edited.Data)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if bytes.HasPrefix(before, []byte("\xef\xbb\xbf")) != bytes.HasPrefix(edited.Data, []byte("\xef\xbb\xbf")) {
				t.Error("the byte order mark did not stay")
			}
			if !edited.Comments {
				checkLoads(t, edited.Data)
			}
		})
	}
}

// checkLoads reads the result as Claude would: every gate holds our hook once, with a day's time.
func checkLoads(t *testing.T, data []byte) {
	t.Helper()
	var got struct {
		Hooks map[string][]group `json:"hooks"`
		Perm  struct {
			Ask []string `json:"ask"`
		} `json:"permissions"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &got); err != nil {
		t.Fatal(err)
	}
	for _, event := range hookEvents {
		count := 0
		for _, g := range got.Hooks[event.name] {
			for _, h := range g.Hooks {
				if h.Command == command.String() {
					count++
					if event.gate && (h.Timeout != 86400 || g.Matcher != "*") {
						t.Errorf("%s: %+v in a group for %q", event.name, h, g.Matcher)
					}
				}
			}
		}
		if count != 1 {
			t.Errorf("%s: our hook stands %d times", event.name, count)
		}
	}
	for _, tool := range askTools {
		count := 0
		for _, have := range got.Perm.Ask {
			if have == tool {
				count++
			}
		}
		if count != 1 {
			t.Errorf("permissions.ask holds %s %d times", tool, count)
		}
	}
}

func TestAddHooksRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, problem string }{
		{"trailing comma", "{\n  \"a\": 1,\n}", "line 2, column 9"},
		{"duplicate key", "{\"hooks\": {},\n\"hooks\": {}}", "line 2, column 1: the key \"hooks\" stands twice"},
		{"bad JSON", "{\n\"a\" 1}", "line 2, column 5"},
		{"list at the top", "\n[]", "line 2, column 1: settings must be an object"},
		{"hooks of another kind", `{"hooks": []}`, "column 11: hooks must be an object"},
		{"event of another kind", `{"hooks": {"PreToolUse": {}}}`, "PreToolUse must be an array"},
		{"permissions of another kind", `{"permissions": null}`, "permissions must be an object"},
		{"ask of another kind", `{"permissions": {"ask": "Bash"}}`, "ask must be an array"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := AddHooks([]byte(tc.text), Wanted{Command: command, Mode: ModeStrict})
			var syntax *jsonedit.SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("got %v, want %q", err, tc.problem)
			}
		})
	}
	for _, bad := range []HookCommand{
		{Binary: "countersign", Home: "/h", Core: "c"}, {Binary: "/b", Home: "h", Core: "c"}, {Binary: "/b", Home: "/h"},
		{Binary: "/b\nx", Home: "/h", Core: "c"},
	} {
		if _, err := AddHooks(nil, Wanted{Command: bad, Mode: ModeStrict}); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestQuietAddsNoAskRules(t *testing.T) {
	edited, err := AddHooks([]byte("{}"), Wanted{Command: command, Mode: ModeQuiet})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(edited.Data), "permissions") {
		t.Errorf("%s", edited.Data)
	}
}

// text draws settings as people lay them out.
func text(t *rapid.T) []byte {
	unit := rapid.SampledFrom([]string{"  ", "    ", "\t", ""}).Draw(t, "indent")
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	root := map[string]any{}
	if rapid.Bool().Draw(t, "model") {
		root["model"] = "opus 😀 é"
	}
	if rapid.Bool().Draw(t, "permissions") {
		p := map[string]any{}
		if rapid.Bool().Draw(t, "ask") {
			p["ask"] = rapid.SliceOf(rapid.SampledFrom([]string{"Bash", "Write", "Read(./x)", "mcp__*"})).Draw(t, "asks")
		}
		root["permissions"] = p
	}
	if rapid.Bool().Draw(t, "hooks") {
		h := map[string]any{}
		for _, event := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"PreToolUse", "Stop", "Notification"}), rapid.ID[string]).Draw(t, "events") {
			h[event] = []any{map[string]any{"matcher": "Bash", "hooks": []any{map[string]any{"type": "command", "command": "x"}}}}
			if rapid.Bool().Draw(t, "empty") {
				h[event] = []any{}
			}
		}
		root["hooks"] = h
	}
	var out []byte
	var err error
	if unit == "" {
		out, err = json.Marshal(root)
	} else {
		out, err = json.MarshalIndent(root, "", unit)
	}
	if err != nil {
		t.Fatal(err)
	}
	out = bytes.ReplaceAll(out, []byte("\n"), []byte(newline))
	if rapid.Bool().Draw(t, "bom") {
		out = append([]byte("\xef\xbb\xbf"), out...)
	}
	if rapid.Bool().Draw(t, "end") {
		out = append(out, newline...)
	}
	return out
}

// What was added can be taken out again: exactly by the changes written down, and the same settings without them.
func TestAddThenRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := text(t)
		mode := rapid.SampledFrom([]Mode{ModeStrict, ModeQuiet}).Draw(t, "mode")
		edited, err := AddHooks(before, Wanted{Command: command, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		entry := settings.Entry{Before: settings.Digest(before), After: settings.Digest(edited.Data), Changes: edited.Changes}
		back, err := entry.Undo(edited.Data)
		if err != nil || !bytes.Equal(back, before) {
			t.Fatalf("undone: %q, %v; want %q", back, err, before)
		}
		removed, err := RemoveHooks(edited.Data, edited.Added)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, before), decoded(t, removed.Data)); diff != "" {
			t.Fatalf("removed without the changes: -want +got:\n%s", diff)
		}
		twice, err := AddHooks(removed.Data, Wanted{Command: command, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, edited.Data), decoded(t, twice.Data)); diff != "" {
			t.Fatalf("added again: -want +got:\n%s", diff)
		}
	})
}

func decoded(t interface{ Fatal(...any) }, data []byte) any {
	var v any
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// FuzzSettings checks that no text is damaged: it is refused, or the result parses, holds our hooks, and goes back.
func FuzzSettings(f *testing.F) {
	inputs, _ := filepath.Glob("testdata/settings/*.in")
	for _, in := range inputs {
		data, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, seed := range []string{
		`{"hooks":{"PreToolUse":[null,1,{"hooks":[{}]}]},"permissions":{"ask":[1]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/x/countersign hook claude"}]}]}}`,
		"{ // a\n\"hooks\": { // b\n\"Stop\": [ // c\n] } }",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		cleaned, err := RemoveHooks(before, settings.Added{})
		if err != nil {
			return
		}
		if _, err := ImportRules(before); err != nil {
			t.Errorf("import: %v", err)
		}
		edited, err := AddHooks(cleaned.Data, Wanted{Command: command, Mode: ModeStrict})
		if err != nil {
			return
		}
		entry := settings.Entry{Before: settings.Digest(cleaned.Data), After: settings.Digest(edited.Data), Changes: edited.Changes}
		if back, err := entry.Undo(edited.Data); err != nil || !bytes.Equal(back, cleaned.Data) {
			t.Errorf("undone: %q, %v", back, err)
		}
		doc, err := jsonedit.Parse(edited.Data, jsonedit.Options{Comments: true})
		if err != nil {
			t.Fatal(err)
		}
		var r Report
		if !r.ownHooks(doc, command) || len(r.Findings) != 0 {
			t.Errorf("%q: %v", edited.Data, r.Findings)
		}
	})
}
