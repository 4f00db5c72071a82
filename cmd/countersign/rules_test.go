package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"countersign/backend/policy"
)

// The owner tries a rule, keeps it, sees what it did, trusts a repository's file, and takes it all back: on a terminal.
func TestRulesFromTheTerminal(t *testing.T) {
	c := newTestCore(t, "")
	needSandbox(t, c)
	agent := newFakeAgent(t, c)
	event := agent.event("touch made")
	go func() { _, _ = agent.hook(event) }()
	c.answer(t, c.asked(t, "touch made"), "allow")

	owner := func(want string, args ...string) {
		t.Helper()
		shown, err := onTerminal(t, c.command(args...), testPassphrase)
		if err != nil || !strings.Contains(shown, want) {
			t.Errorf("%v: %v, want %q in\n%s", args, err, want, shown)
		}
	}
	owner("ask   -> allow  touch made", "rules", "add", "allow", "Bash(touch:*)", "--project", agent.project, "--match", "touch x", "--yes")
	owner("allow  bash(touch:*)", "rules", "list", "--project", agent.project)
	answer, err := agent.hook(agent.event("touch again"))
	if err != nil || answer.Specific.Permission != "allow" {
		t.Errorf("the rule does not count: %+v %v", answer, err)
	}
	owner("used 1 times", "rules", "list", "--project", agent.project)
	owner("1 examples, 0 fail", "rules", "test")
	owner(`#   "bash(touch:*)", # project`, "rules", "export")

	dir := filepath.Join(agent.project, ".countersign")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rules.toml"), []byte("deny = ['bash(curl:*)']\nallow = ['bash(mkdir:*)']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	owner("DOES NOT COUNT: bash(mkdir:*)", "rules", "list", "--project", agent.project)
	owner("allow = ['bash(mkdir:*)']", "rules", "trust", agent.project, "--yes")
	owner("rules.toml (trusted)", "project", agent.project)
	owner("Its deny and ask rules go on counting", "rules", "trust", agent.project, "--remove")
	owner("mode         plan", "project", agent.project, "--mode", "plan")
}

// What is no rule is told before anything is kept, and needs no core to be tried.
func TestRulesTry(t *testing.T) {
	bin := programDir(t)
	c := &testCore{bin: bin, home: t.TempDir()}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"rules", "test", "Bash(git log:*)", "git log -1"}, 0, "matches         git log -1"},
		{[]string{"rules", "test", "bash(git log:*)", "git log -1; rm x"}, 1, "does not match  git log -1; rm x"},
		{[]string{"rules", "test", "--list", "deny", "bash(rm:*)", "git log -1; /bin/rm x"}, 0, "matches         git log -1; /bin/rm x"},
		{[]string{"rules", "test", "mcp(github/create_*)", "github/create_issue"}, 0, "matches"},
		{[]string{"rules", "test", "web_fetch(domain:example.org)", "docs.example.org/x"}, 0, "matches"},
		{[]string{"rules", "test", "read(/etc/**)", "--list", "deny", "/etc/passwd"}, 0, "matches"},
		{[]string{"rules", "test", "bash("}, 2, "unbalanced parentheses"},
		{[]string{"rules", "add", "permit", "bash"}, 2, "deny"},
	} {
		out, err := c.command(tt.args...).CombinedOutput()
		code := 0
		if err != nil {
			code = err.(*exec.ExitError).ExitCode()
		}
		if code != tt.code || !strings.Contains(string(out), tt.want) {
			t.Errorf("%v: status %d, want %d with %q\n%s", tt.args, code, tt.code, tt.want, out)
		}
	}
}

// Another agent's rules are read with a report of what each means here, before anything is kept.
func TestRulesImportDryRun(t *testing.T) {
	c := &testCore{bin: programDir(t), home: t.TempDir()}
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte(`{"permissions":{"deny":["Bash(curl:*)"],"allow":["Bash(npm test:*)","Bash(* --help)"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := c.command("rules", "import", "claude", file, "--dry-run").CombinedOutput()
	for _, want := range []string{"deny Bash(curl:*)\n    -> bash(curl:*)", "allow Bash(npm test:*)\n    -> bash(npm test:*)", "-> not carried over", "1 allow rules are not kept"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, want %q in\n%s", err, want, out)
		}
	}
	for _, args := range [][]string{{"rules", "import", "other"}, {"rules", "import", "claude", filepath.Join(c.home, "none")}} {
		if out, err := c.command(args...).CombinedOutput(); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// Any process of the account may take over an agent's rules, one that left an agent too: the list says where they are from.
func TestRulesListSaysWhoAddedThem(t *testing.T) {
	r := policy.SourcedRule{List: policy.ListDeny, Source: policy.SourceGlobal, ID: "agent/claude/3f9a1c20"}
	for by, want := range map[string]string{"local/1000": "added by a program of account 1000", "browser": "added by browser", "owner/window": ""} {
		r.By = by
		line := ruleLine(r)
		if !strings.Contains(line, "taken over from claude") || !strings.Contains(line, want) || want == "" && strings.Contains(line, "added by") {
			t.Errorf("%s: %q", by, line)
		}
	}
}
