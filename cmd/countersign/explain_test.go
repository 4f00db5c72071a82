package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func runExplain(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	if os.Getenv("COUNTERSIGN_HOME") == "" {
		t.Setenv("COUNTERSIGN_HOME", "/nonexistent") // never the configuration of whoever runs the tests
	}
	var out, errs bytes.Buffer
	code = run(append([]string{"explain"}, args...), &streams{In: os.Stdin, Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

func TestExplain(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		name   string
		args   []string
		code   int
		stdout []string
		stderr string
	}{
		{"words", []string{"--", "git", "status"}, 0, []string{"ALLOW: it only reads", "covered  git status"}, ""},
		{"one text", []string{"--", "ls; rm -rf build"}, 0, []string{"ASK: 1 of the 2 commands", "new      rm -rf build", "bash(rm -rf build)"}, ""},
		{"words are not a text", []string{"--", "echo", "x; rm y"}, 0, []string{"ALLOW: ", "echo 'x; rm y'"}, ""},
		{"options of the command", []string{"--mode", "plan", "--", "rm", "--deny", "x"}, 0, []string{"DENY: plan mode"}, ""},
		{"deny", []string{"--deny", "Bash(rm:*)", "--", "sudo rm x"}, 0, []string{"DENY: the deny rule bash(rm:*) (the command line) matches it."}, ""},
		{"rule-deny is the same", []string{"--rule-deny", "Bash(rm:*)", "--", "sudo rm x"}, 0, []string{"DENY: the deny rule"}, ""},
		{"a comma in a rule", []string{"--allow", "Bash(make {a,b})", "--", "make a"}, 0, []string{"ALLOW: the allow rule bash(make {a,b}) (the command line) covers it."}, ""},
		{"every step has a line", []string{"--trace", "--", "make"}, 0, []string{" 1  fixed constraints", "13  approval"}, ""},
		{"auto mode", []string{"--mode", "auto", "--", "make"}, 0, []string{"ASK: auto mode", "a classifier would be asked"}, ""},
		{"another tool", []string{"--tool", "Write", "--mode", "acceptEdits", "--", "notes.txt"}, 0, []string{"ALLOW: it edits files of the project", "It would write:"}, ""},
		{"arguments as JSON", []string{"--tool", "WebFetch", "--args", `{"url":"https://a.example.org"}`, "--deny", "WebFetch(domain:example.org)"}, 0, []string{"DENY: the deny rule web_fetch(domain:example.org)"}, ""},
		{"URL", []string{"--tool", "WebFetch", "--allow", "WebFetch(domain:example.org)", "--", "https://example.org/x"}, 0, []string{"ALLOW: the allow rule"}, ""},
		{"Windows on any machine", []string{"--platform", "windows", "--mode", "bypass", "--", "rm -rf C:/Windows"}, 0, []string{"DENY: it would destroy without bounds"}, ""},
		{"hidden characters are spelled out", []string{"--", "echo \u202ex"}, 0, []string{`\u202e`, "opaque"}, ""},
		{"no command", nil, 2, nil, "nothing to explain"},
		{"both", []string{"--args", "{}", "--", "ls"}, 2, nil, "not both"},
		{"bad JSON", []string{"--args", "{"}, 2, nil, "not valid JSON"},
		{"bad mode", []string{"--mode", "yolo", "--", "ls"}, 2, nil, "yolo"},
		{"bad rule", []string{"--deny", "Bash(", "--", "ls"}, 2, nil, "unbalanced parentheses"},
		{"bad platform", []string{"--platform", "amiga", "--", "ls"}, 2, nil, "amiga"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := runExplain(t, tt.args...)
			if code != tt.code {
				t.Errorf("exit status %d, want %d\n%s%s", code, tt.code, stdout, stderr)
			}
			for _, want := range tt.stdout {
				if !strings.Contains(stdout, want) {
					t.Errorf("output lacks %q:\n%s", want, stdout)
				}
			}
			if !strings.Contains(stderr, tt.stderr) {
				t.Errorf("error output lacks %q:\n%s", tt.stderr, stderr)
			}
		})
	}
}

func TestExplainJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := runExplain(t, "--json", "--mode", "bypass", "--", "echo x > .env")
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	var got explanation
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Outcome != "ask" || got.Reason != "dangerous_path" || len(got.Trace) != 13 || len(got.Writes) != 1 || got.Risk.Level != "high" {
		t.Errorf("unexpected answer: %s", stdout)
	}
}

// explain once judged without the person's own rules and mode, and so said "ask" about what the desk would deny.
func TestExplainReadsTheConfiguration(t *testing.T) {
	home, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	file := filepath.Join(home, "config", "config.toml")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[decision]\nmode = \"plan\"\n[rules]\ndeny = [\"bash(make:*)\", \"bash(\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("COUNTERSIGN_HOME", home)
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"its rules", []string{"--mode", "ask", "--", "make x"}, []string{"DENY: the deny rule bash(make:*) (config.toml)", "Mode ask.", file + ": 1 rule", "UNREADABLE"}},
		{"its mode", []string{"--", "touch x"}, []string{"DENY: plan mode", "Mode plan."}},
		{"left out", []string{"--no-config", "--", "make x"}, []string{"ASK", "config.toml: left out"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := runExplain(t, tt.args...)
			if code != 0 {
				t.Fatalf("exit status %d: %s", code, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("output lacks %q:\n%s", want, stdout)
				}
			}
		})
	}
}

func TestExplainBatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"id":"one","tool":"Bash","args":{"command":"ls"},"expected":"allow"}` + "\n")
	code, stdout, stderr := runExplain(t, "--batch", file)
	if code != 0 || !strings.Contains(stdout, `"id":"one","outcome":"allow"`) || stderr != "" {
		t.Errorf("exit status %d\n%s%s", code, stdout, stderr)
	}
	write(`{"id":"two","tool":"Bash","args":{"command":"ls"},"expected":"deny"}` + "\n")
	code, _, stderr = runExplain(t, "--batch", file)
	if code != 1 || !strings.Contains(stderr, "two: expected deny, got allow") {
		t.Errorf("a mismatch must end with 1 and be told: %d, %q", code, stderr)
	}
	if code, _, stderr = runExplain(t, "--batch", file+".missing"); code != 1 || stderr == "" {
		t.Errorf("a missing file must end with 1 and be told: %d, %q", code, stderr)
	}
}
