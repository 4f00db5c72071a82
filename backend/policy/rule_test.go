package policy

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func mustRule(t testing.TB, text string) Rule {
	t.Helper()
	r, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRule(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"bash", "bash"},
		{" Bash ", "bash"},
		{"run_shell_command(git log:*)", "bash(git log:*)"},
		{"exec_command(ls)", "bash(ls)"},
		{"write_file(a)", "write(a)"},
		{"Read(./**)", "read(./**)"},
		{"Bash(npm run test*)", "bash(npm run test*)"},
		{"Bash(echo \\(a\\))", `bash(echo \(a\))`},
		{"Bash(echo (a))", `bash(echo \(a\))`},
		{`Bash(echo \*)`, `bash(echo \\*)`},
		{`Bash(echo \\*)`, `bash(echo \\*)`},
		{"Bash( git status )", "bash(git status)"},
		{"mcp__github__create_issue", "mcp(github/create_issue)"},
		{"mcp__github__*", "mcp(github/*)"},
		{"mcp__github", "mcp(github)"},
		{"MCP(github/create_*)", "mcp(github/create_*)"},
		{"WebFetch(domain:*.Example.com)", "web_fetch(domain:*.Example.com)"},
		{"WebFetch(domain:[::1])", "web_fetch(domain:[::1])"},
		{"web_use(https://a.b#tab 1)", ""},
		{"web_use(https://a.b#tab)", "web_use(https://a.b#tab)"},
		{"Task(Explore)", "spawn_agent(Explore)"},
		{"some_tool", "some_tool"},
		{"some-tool(x)", "some-tool(x)"},
		{"Bash(if x; then y; fi)", "bash(if x; then y; fi)"},
		{"Bash(a\nb)", "bash(a\nb)"},
		{"Bash([ -f x ])", "bash([ -f x ])"},
		{"Bash(find . -exec rm {} +)", "bash(find . -exec rm {} +)"},
	} {
		r, err := ParseRule(tt.in)
		switch {
		case tt.want == "":
			if err == nil {
				t.Errorf("ParseRule(%q) = %s, want an error", tt.in, r)
			}
		case err != nil:
			t.Errorf("ParseRule(%q): %v", tt.in, err)
		case r.String() != tt.want:
			t.Errorf("ParseRule(%q) = %s, want %s", tt.in, r, tt.want)
		}
	}
}

func TestParseRuleErrors(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"", ErrRuleEmpty},
		{"  ", ErrRuleEmpty},
		{strings.Repeat("a", MaxRule+1), ErrRuleTooLong},
		{"bash(" + strings.Repeat("(", MaxRule/2-20) + strings.Repeat(")", MaxRule/2-20) + ")", ErrRuleTooLong},
		{"bash(a\x00b)", ErrRuleText},
		{"bash(a\u202eb)", ErrRuleText},
		{"bash(a\u200bb)", ErrRuleText},
		{"bash(a\rb)", ErrRuleText},
		{"bash(\xff)", ErrRuleText},
		{"(x)", ErrRuleTool},
		{"1x", ErrRuleTool},
		{"a b(x)", ErrRuleTool},
		{"*", ErrRuleTool},
		{"bash(", ErrRuleParens},
		{"bash(a", ErrRuleParens},
		{"bash(a))", ErrRuleParens},
		{"bash(a) b", ErrRuleParens},
		{`bash(a\)`, ErrRuleParens},
		{"bash()", ErrRuleContent},
		{"bash( )", ErrRuleContent},
		{"bash('a)", ErrRuleQuote},
		{`bash("a)`, ErrRuleQuote},
		{`bash(a \\)`, ErrRuleQuote},
		{"bash(:*)", ErrRulePrefix},
		{"bash(* x:*)", ErrRulePattern},
		{"bash(* x)", ErrRulePattern},
		{"read(" + strings.Repeat("*/", 40) + ")", ErrRulePattern},
		{"read({a)", ErrRulePattern},
		{"web_fetch(example.org)", ErrRuleDomain},
		{"web_fetch(domain:)", ErrRuleDomain},
		{"web_fetch(domain:a..b)", ErrRuleDomain},
		{"web_fetch(domain:a*.b)", ErrRuleDomain},
		{"web_fetch(domain:" + strings.Repeat("a", 64) + ")", ErrRuleDomain},
		{"mcp(/x)", ErrRuleMCP},
		{"mcp(a/)", ErrRuleMCP},
		{"mcp(a b)", ErrRuleMCP},
		{"mcp__a__b(x)", ErrRuleMCP},
		{"web_use(https://a)", ErrRuleSurface},
	} {
		if r, err := ParseRule(tt.in); !errors.Is(err, tt.want) {
			t.Errorf("ParseRule(%.40q) = %s, %v, want %v", tt.in, r, err, tt.want)
		}
	}
}

func TestRuleAsText(t *testing.T) {
	var got struct{ Rules []Rule }
	if err := json.Unmarshal([]byte(`{"Rules":["Bash(git log:*)","Read"]}`), &got); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"Rules":["bash(git log:*)","read"]}`; string(out) != want {
		t.Errorf("got %s, want %s", out, want)
	}
	if err := json.Unmarshal([]byte(`{"Rules":["Bash("]}`), &got); !errors.Is(err, ErrRuleParens) {
		t.Errorf("an unreadable rule gave %v", err)
	}
	var r Rule
	if _, err := r.MarshalText(); !errors.Is(err, ErrRuleEmpty) {
		t.Errorf("the zero rule was written: %v", err)
	}
	if err := r.UnmarshalText([]byte("bash(\xff)")); !errors.Is(err, ErrRuleText) {
		t.Errorf("invalid UTF-8 gave %v", err)
	}
	if !r.IsZero() || r.String() != "" {
		t.Error("the zero rule is not zero")
	}
	if r := mustRule(t, "read(x)"); r.Tool() != ToolRead {
		t.Errorf("tool is %s", r.Tool())
	}
}

func TestHandsOver(t *testing.T) {
	for text, want := range map[string]bool{
		"bash": true, "bash(*)": true, "bash(python:*)": true, "bash(python3.12:*)": true, "bash(sudo:*)": true,
		"bash(env:*)": true, "bash(bash:*)": true, "bash(sh -c:*)": true, "bash(xargs:*)": true, "bash(timeout 5 sh:*)": true,
		"bash(node *)": true, "bash(bash)": true, "bash(p*)": true, "bash(eval:*)": true, "bash(sudo -u x:*)": true,
		"bash(git:*)": false, "bash(python manage.py:*)": false, "bash(timeout 5 npm test:*)": false,
		"bash(python x.py)": false, "bash(sudo apt update)": false, "read": false, "write(**)": false, "bash(CI=1 sh:*)": true,
		"bash(CI=1:*)": true,
	} {
		if got := mustRule(t, text).HandsOver(); got != want {
			t.Errorf("%s hands over: %v, want %v", text, got, want)
		}
	}
}

func TestModes(t *testing.T) {
	for _, text := range []string{"ask", "ASK", "acceptedits", "AcceptEdits", "plan", "auto", "bypass"} {
		m, err := ParseMode(text)
		if err != nil || !strings.EqualFold(m.String(), text) {
			t.Errorf("ParseMode(%q) = %q, %v", text, m, err)
		}
	}
	for _, text := range []string{"", "yolo", "bypass ", "accept_edits"} {
		if m, err := ParseMode(text); !errors.Is(err, ErrInvalidMode) {
			t.Errorf("ParseMode(%q) = %q, %v", text, m, err)
		}
	}
	if len(Modes()) != 5 || Mode("x").effective() != ModeAsk {
		t.Error("modes")
	}
}

func TestTools(t *testing.T) {
	for in, want := range map[string]string{
		"Bash": "bash", "run_shell_command": "bash", "exec_command": "bash", "WriteFile": "WriteFile", "write_file": "write",
		"create": "write", "MultiEdit": "edit", "replace": "edit", "mcp__a__b": "mcp", "mcp__": "mcp__", "Unknown": "Unknown",
		"TodoWrite": "todo", "PowerShell": "powershell", "ls": "list", " Bash ": "bash", "self_update_retry": "self_update_retry",
	} {
		if got := CanonicalTool(in); got != want {
			t.Errorf("CanonicalTool(%q) = %q, want %q", in, got, want)
		}
	}
	for alias, canonical := range aliases {
		if alias != strings.ToLower(alias) || !KnownTool(canonical) {
			t.Errorf("alias %q -> %q", alias, canonical)
		}
	}
	if !IsWriteTool(ToolEdit) || IsWriteTool(ToolRead) || !IsCommandTool(ToolBash) || IsCommandTool("x") {
		t.Error("tool families")
	}
}

func TestAuthorities(t *testing.T) {
	agent, owner := AgentAuthority("claude", "s1"), OwnerAuthority("f")
	if agent.ID != "agent/claude/s1" || agent.Has(CapApprovalAnswer) || agent.Has(CapRulesEdit) || !agent.Has(CapProcessExec) {
		t.Errorf("agent: %+v", agent)
	}
	if !owner.Has(CapApprovalAnswer) || !owner.Has(CapAdmin) || owner.Kind != PrincipalOwner {
		t.Errorf("owner: %+v", owner)
	}
	child := SubagentAuthority(Authority{ID: "x", Kind: PrincipalAgent, Capabilities: []Capability{CapFilesWrite, CapAdmin}}, "c")
	if !child.Has(CapFilesWrite) || child.Has(CapAdmin) || child.Has(CapProcessExec) {
		t.Errorf("a child holds more than its parent may give: %+v", child)
	}
	for _, a := range []Authority{AgentAuthority("", "s"), AgentAuthority("k", ""), OwnerAuthority(""), SubagentAuthority(Authority{}, "x"), ScheduledAuthority("")} {
		if a.ID != "" || a.Kind != "" || a.Has(CapFilesWrite) {
			t.Errorf("an authority without a name holds something: %+v", a)
		}
	}
}
