package desk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/backend/policy"
)

// gate writes a gate program and returns its table for the configuration.
func gate(t *testing.T, name, script, more string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "gate")
	if err := os.WriteFile(program, []byte("#!/bin/bash\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("[[gate]]\nname = %q\ncommand = [%q]\n%s\n", name, program, more)
}

func TestGates(t *testing.T) {
	for _, tt := range []struct {
		name, script, more string
		rules              string
		state, reason      string
		detail             string
	}{
		{"denies", `echo '{"decision":"deny","reason":"not on Fridays"}'`, "", "", "finished", string(policy.ReasonGateDenied), "not on Fridays"},
		{"asks past an allow rule", `echo '{"decision":"ask"}'`, "", "allow = ['bash(touch:*)']\n", "waiting", string(policy.ReasonGateAsk), ""},
		{"passes", `echo '{"decision":"pass"}'`, "", "allow = ['bash(touch:*)']\n", "allowed", string(policy.ReasonRuleAllow), ""},
		{"is not about this tool", `echo '{"decision":"deny"}'`, "tools = ['write']", "allow = ['bash(touch:*)']\n", "allowed", string(policy.ReasonRuleAllow), ""},
		{"reads the call", `read -r line; case $line in *'"command":"touch a"'*'"mode":"ask"'*) echo '{"decision":"deny","reason":"seen"}';; esac`, "", "", "finished", string(policy.ReasonGateDenied), "seen"},
		{"says nothing", `true`, "", "allow = ['bash(touch:*)']\n", "waiting", string(policy.ReasonGateFailed), "not understood"},
		{"says allow", `echo '{"decision":"allow"}'`, "", "", "waiting", string(policy.ReasonGateFailed), "is no decision"},
		{"says more", `echo '{"decision":"pass"} {}'`, "", "", "waiting", string(policy.ReasonGateFailed), "goes on"},
		{"says an unknown thing", `echo '{"decision":"pass","allow":true}'`, "", "", "waiting", string(policy.ReasonGateFailed), "unknown field"},
		{"fails", `echo '{"decision":"pass"}'; exit 3`, "", "allow = ['bash(touch:*)']\n", "waiting", string(policy.ReasonGateFailed), "exit status 3"},
		{"hangs", `sleep 20`, "timeout_seconds = 1", "", "waiting", string(policy.ReasonGateFailed), "longer than 1s"},
		{"floods", `yes`, "", "", "waiting", string(policy.ReasonGateFailed), "more than"},
		{"writes into the project", `touch made; [ -e made ] && echo '{"decision":"pass"}'`, "", "allow = ['bash(touch:*)']\n", "waiting", string(policy.ReasonGateFailed), "exit status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.rules+gate(t, "house rules", tt.script, tt.more))
			f.boxed()
			status := f.bash("touch a")
			if status.State != tt.state || status.Reason != tt.reason {
				t.Fatalf("%+v", status)
			}
			shown := status.Message
			if tt.state == "waiting" {
				shown = string(f.only().Detail)
			}
			if !strings.Contains(shown, tt.detail) {
				t.Errorf("%q is not in %s", tt.detail, shown)
			}
			if _, err := os.Stat(filepath.Join(f.project, "made")); err == nil {
				t.Error("a gate wrote into the project")
			}
		})
	}
}

// The strictest of several gates holds, and one that is missing asks.
func TestSeveralGates(t *testing.T) {
	f := newFixture(t, gate(t, "a", `echo '{"decision":"pass"}'`, "")+gate(t, "b", `echo '{"decision":"deny","reason":"no"}'`, "")+"[[gate]]\nname='c'\ncommand=['/no/such/gate']\n")
	f.boxed()
	if status := f.bash("touch a"); status.Reason != string(policy.ReasonGateDenied) {
		t.Errorf("%+v", status)
	}
	f = newFixture(t, "allow = ['bash(touch:*)']\n[[gate]]\nname='c'\ncommand=['/no/such/gate']\n")
	if status := f.bash("touch a"); status.Reason != string(policy.ReasonGateFailed) {
		t.Errorf("%+v", status)
	}
}

// An agent that could write the gate would answer for it.
func TestNoAgentChangesAGate(t *testing.T) {
	table := gate(t, "house rules", `echo '{"decision":"pass"}'`, "")
	_, rest, _ := strings.Cut(table, "command = [\"")
	program, _, _ := strings.Cut(rest, "\"")
	f := newFixture(t, table)
	if status := f.propose("Write", map[string]any{"file_path": program, "content": "x"}); status.Reason != string(policy.ReasonFixedConstraint) {
		t.Errorf("%+v", status)
	}
}
