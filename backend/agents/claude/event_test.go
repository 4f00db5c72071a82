package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"countersign/backend/wire"
)

// with changes one field of an event.
func with(t *testing.T, name, key string, value any) []byte {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal(fixture(t, name), &e); err != nil {
		t.Fatal(err)
	}
	if value == nil {
		delete(e, key)
	} else {
		e[key] = value
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every bad event is denied in the words of its own event, with a sentence, without a core.
func TestBadEvents(t *testing.T) {
	pre := string(fixture(t, "PreToolUse.Bash"))
	const preDeny, blocked = `"hookEventName":"PreToolUse","permissionDecision":"deny"`, `"decision":"block"`
	for _, tc := range []struct {
		name, event, form, problem string
	}{
		{"empty", "", blocked, "it is empty"},
		{"no JSON", "hello", blocked, "no readable JSON"},
		{"cut off", pre[:len(pre)-10], preDeny, "no readable JSON"},
		{"cut off early", pre[:20], blocked, "no readable JSON"},
		{"two events", pre + pre, preDeny, "after the end"},
		{"a list", "[]", blocked, "no JSON object"},
		{"a string", `"PreToolUse"`, blocked, "no JSON object"},
		{"no event", string(with(t, "PreToolUse.Bash", "hook_event_name", nil)), blocked, "names no event"},
		{"unknown event", string(with(t, "PreToolUse.Bash", "hook_event_name", "PreEverything")), blocked, "unknown here"},
		{"event of another type", string(with(t, "PreToolUse.Bash", "hook_event_name", 7)), blocked, "is no string"},
		{"no tool", string(with(t, "PreToolUse.Bash", "tool_name", nil)), preDeny, "names no tool"},
		{"tool of another type", string(with(t, "PreToolUse.Bash", "tool_name", []string{"Bash"})), preDeny, "is no string"},
		{"long tool", string(with(t, "PreToolUse.Bash", "tool_name", strings.Repeat("x", 257))), preDeny, "longer than 256"},
		{"no session", string(with(t, "PreToolUse.Bash", "session_id", nil)), preDeny, "names no session"},
		{"no tool call", string(with(t, "PreToolUse.Bash", "tool_use_id", nil)), preDeny, "no tool_use_id"},
		{"no input", string(with(t, "PreToolUse.Bash", "tool_input", nil)), preDeny, "no object"},
		{"input of another type", string(with(t, "PreToolUse.Bash", "tool_input", "rm")), preDeny, "no object"},
		{"NUL byte", strings.Replace(pre, "mkdir", "mk\x00dir", 1), preDeny, "NUL byte"},
		{"escaped NUL in the command", strings.Replace(pre, "mkdir", `mk\u0000dir`, 1), preDeny, "NUL"},
		{"escaped NUL in a key", strings.Replace(pre, `"timeout"`, `"time\u0000out"`, 1), preDeny, "NUL"},
		{"escaped NUL in the directory", strings.Replace(pre, `"/home/user/project"`, `"/home/\u0000"`, 1), preDeny, "its cwd contains NUL"},
		{"not UTF-8", strings.Replace(pre, "mkdir", "mk\xffdir", 1), preDeny, "UTF-8"},
		{"half a surrogate pair", strings.Replace(pre, "mkdir", `\ud800`, 1), preDeny, "surrogate"},
		{"key twice", strings.Replace(pre, `"tool_name": "Bash"`, `"tool_name": "Bash", "tool_name": "Read"`, 1), preDeny, "stands twice"},
		{"another spelling of a key counts for nothing", strings.Replace(pre, `"tool_name"`, `"Tool_Name"`, 1), preDeny, "names no tool"},
		{"too deep", strings.Replace(pre, `"timeout": 5000`, `"timeout": `+strings.Repeat("[", 300)+strings.Repeat("]", 300), 1), preDeny, "nested deeper"},
		{"too large", strings.Replace(pre, "mkdir", strings.Repeat("x", maxEvent), 1), preDeny, "larger than 4 MiB"},
		{"bad permission request", string(with(t, "PermissionRequest.Write", "tool_input", 1)), `"hookEventName":"PermissionRequest","decision":{"behavior":"deny"`, "no object"},
		{"bad skill line", string(with(t, "PreSkillShellCommand", "tool_name", 1)), `"hookEventName":"PreSkillShellCommand","permissionDecision":"deny"`, "is no string"},
		{"bad report", string(with(t, "PostToolUse.Bash", "tool_input", 1)), `{"systemMessage":`, "no object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFake(t, nil)
			got := run(t, f, []byte(tc.event))
			if !strings.Contains(got, tc.form) || !strings.Contains(got, tc.problem) || strings.Contains(got, `"allow"`) {
				t.Errorf("got %.300s\nwant %s, %q", got, tc.form, tc.problem)
			}
			if f.dialed != 0 {
				t.Error("the core was dialed")
			}
		})
	}
}

// A megabyte of command is the core's to judge, not the parser's.
func TestLargeCommandReachesTheCore(t *testing.T) {
	event := strings.Replace(string(fixture(t, "PreToolUse.Bash")), "mkdir", strings.Repeat("x", 1<<20), 1)
	f := newFake(t, actions{wire.ActionAdmitCall: refuse("too_large")})
	denied(t, run(t, f, []byte(event)), "too large")
	if got := f.inputs(wire.ActionAdmitCall)[0].(wire.AdmitCall); len(got.Args) < 1<<20 {
		t.Errorf("%d bytes", len(got.Args))
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestUnreadableEvent(t *testing.T) {
	got := run(t, newFake(t, nil), nil, func(o *HookOptions) { o.Stdin = failingReader{} })
	if !strings.Contains(got, `"decision":"block"`) || !strings.Contains(got, "broken pipe") {
		t.Error(got)
	}
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		began := time.Now()
		got := run(t, newFake(t, nil), nil, func(o *HookOptions) { o.Stdin = r })
		if !strings.Contains(got, "did not come") || time.Since(began) != readLimit {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		_ = w.Close()
	})
}

func TestEventName(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"hook_event_name":"Inner"},"hook_event_name":"Stop"`:  "Stop",
		`{"a":["hook_event_name","x"],"hook_event_name":"Stop","b":`: "Stop",
		`{"x":"hook_event_name","y":"PreToolUse"}`:                   "",
		`{"hook_event_name":{"x":"Stop"},"z":"Stop"}`:                "",
		`{"hook_event_name":7,"z":"Stop"}`:                           "",
		`["hook_event_name","Stop"]`:                                 "",
		``:                                                           "",
	} {
		if got := eventName([]byte(text)); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// What the agent really sends is understood, all of it.
func TestCaptures(t *testing.T) {
	for _, dir := range []string{"testdata/event", captures(t)} {
		if dir == "" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, "holds no captures", err)
		}
		for _, file := range files {
			name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".json"), "hook.")
			if filepath.Base(dir) == "claude-code" && (!strings.HasPrefix(filepath.Base(file), "hook.") || name == "Notification") {
				continue
			}
			t.Run(name, func(t *testing.T) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				e, err := parseEvent(data)
				if err != nil {
					t.Fatal(err)
				}
				if eventName(data) != e.name || e.session == "" || e.cwd == "" {
					t.Errorf("%+v", e)
				}
				f := newFake(t, actions{
					wire.ActionAdmitCall:      always(released),
					wire.ActionPermissionCall: always(wire.PermissionResult{Outcome: wire.PermissionAllow, Call: callID}),
					wire.ActionAwaitCall:      always(released),
					wire.ActionReportCall:     always(wire.ReportResult{}),
					wire.ActionSessionEvent:   always(wire.SessionEventResult{}),
				})
				got := run(t, f, data)
				switch e.name {
				case eventPreToolUse, eventPermissionRequest:
					if !strings.Contains(got, `"allow"`) {
						t.Error(got)
					}
				case eventPreSkillShell:
					denied(t, got)
				default:
					want(t, got, "{}")
				}
			})
		}
	}
}

// captures finds the recorded payloads beside the repository.
func captures(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	found := filepath.Join(filepath.Dir(dir), "shared", "captures", "claude-code")
	if _, err := os.Stat(found); errors.Is(err, fs.ErrNotExist) {
		t.Log("skipped: the recorded captures are not beside this repository (../shared/captures/claude-code)")
		return ""
	}
	return found
}

// A repository's settings set the environment of hooks: this package must not read it, nor start anything.
func TestNoEnvironmentAndNoProcesses(t *testing.T) {
	for _, pattern := range []string{"*.go", "../*.go", "../settings/*.go", "../jsonedit/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				if i.Path.Value == `"os/exec"` || i.Path.Value == `"syscall"` {
					t.Errorf("%s imports %s", file, i.Path.Value)
				}
			}
			for _, word := range []string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "os.UserHomeDir", "os.StartProcess"} {
				if bytes.Contains(source, []byte(word)) {
					t.Errorf("%s uses %s", file, word)
				}
			}
		}
	}
}

// FuzzHook checks that no event is allowed by a core that cannot be reached, and that one answer is always printed.
func FuzzHook(f *testing.F) {
	files, err := filepath.Glob("testdata/event/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"hook_event_name":"PreToolUse"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		status := Hook(context.Background(), HookOptions{
			Stdin: bytes.NewReader(data), Stdout: &out, Binary: "/opt/countersign", Home: "/h",
			Connect: func(context.Context) (Desk, error) { return nil, wire.ErrNoCore },
			Log:     func(problem string) { t.Error(problem) },
		})
		if status != 0 || !json.Valid(out.Bytes()) {
			t.Fatalf("status %d, %q", status, out.Bytes())
		}
		var a answer
		if err := json.Unmarshal(out.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if a.Specific != nil && (a.Specific.Permission == "allow" || a.Specific.Decision != nil && a.Specific.Decision.Behavior == "allow") {
			t.Errorf("allowed: %q", out.Bytes())
		}
		e, err := parseEvent(data)
		if err != nil {
			return
		}
		if e.command != nil {
			input, err := e.withCommand("x 'y' <&> \"z\"")
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Command string `json:"command"`
			}
			if err := json.Unmarshal(input, &got); err != nil || !strings.Contains(string(input), "<&>") {
				t.Errorf("%q: %v", input, err)
			}
		}
	})
}
