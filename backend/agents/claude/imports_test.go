package claude

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImportRules(t *testing.T) {
	got, err := ImportRules([]byte(`{"permissions": {
		"allow": ["Bash(ls)"],
		"deny": ["Bash(git push:*)", "Bash(echo \\(x\\))", "Bash(rm (a))", "Read(//etc/**)", "Read(~/.ssh/**)", "Read(./.env)", "Edit(/src/**)",
		         "WebFetch(domain:example.org)", "WebFetch(https://x)", "mcp__github", "mcp__github__create_issue", "mcp__github__*", "mcp__*",
		         "mcp__gi*", "Agent(Explore)", "Skill", "Bash(", "", 7],
		"ask": ["Bash", "Bash(*)", "Write", "NotebookEdit", "WebSearch", "Task", "B*"]
	}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Imported{
		Deny: []string{
			"bash(git push:*)", `bash(echo \(x\))`, `bash(rm \(a\))`, "read(/etc/**)", "read(~/.ssh/**)", "read(.env)",
			"edit(src/**)", "write(src/**)", "web_fetch(domain:example.org)", "mcp(github)", "mcp(github/create_issue)",
			"mcp(github/*)", "mcp",
		},
		Ask: []string{"bash", "bash", "edit", "write", "edit", "write", "web_search", "spawn_agent"},
		NotCarried: []string{
			"deny WebFetch(https://x): only domain: has a counterpart",
			"deny mcp__gi*: a pattern for the server's name has no counterpart",
			"deny Agent(Explore): its content has no counterpart",
			"deny Skill: no tool of that name is known here",
			"deny Bash(: the closing parenthesis is missing",
			"deny : it is no rule",
			"deny: the entry in line 5 is no string",
			"ask B*: a pattern for the tool's name has no counterpart",
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
}
