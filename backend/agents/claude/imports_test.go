package claude

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/agents/imports"
	"countersign/backend/policy"
)

// TestImportRules: only what restricts is taken over when connecting. What each rule means is tested in package imports.
func TestImportRules(t *testing.T) {
	got, err := ImportRules([]byte(`{"permissions": {
		"allow": ["Bash(ls)"],
		"deny": ["Bash(git push:*)", "Read(./.env)", "Edit(/src/**)", "mcp__github__create_issue", "Agent(Explore)", "WebFetch(https://x)", 7],
		"ask": ["Bash", "NotebookEdit", "B*"],
		"defaultMode": "plan"
	}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Imported{
		Deny: []string{
			"bash(git push:*)", "read(.env)", "read(.env/**)", "edit(src/**)", "write(src/**)", "mcp(github/create_issue)",
			"spawn_agent(Explore)",
		},
		Ask: []string{"bash", "edit", "write"},
		NotCarried: []NotCarried{
			{List: policy.ListDeny, Line: 3, Rule: "WebFetch(https://x)", Why: []imports.Difference{{Code: "domain_only"}}},
			{List: policy.ListDeny, Line: 3, Rule: "7", Why: []imports.Difference{{Code: "not_string"}}},
			{List: policy.ListAsk, Line: 4, Rule: "B*", Why: []imports.Difference{{Code: "tool_pattern"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, text := range []string{"", "{}", "[]", `{"permissions": 1}`, `{"permissions": {"deny": 1}}`} {
		if got, err := ImportRules([]byte(text)); err != nil || len(got.Deny)+len(got.Ask)+len(got.NotCarried) != 0 {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if _, err := ImportRules([]byte("{\n[")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}
