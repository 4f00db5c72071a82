package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign/backend/pathid"
)

// decideText judges a bash text in an empty root under the rules.
func decideText(t testing.TB, text string, mode Mode, rules ...SourcedRule) Verdict {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		t.Fatal(err)
	}
	m := NewMemoryFS(pathid.Linux)
	m.Dir("/home/u/w")
	f := Examine(Call{Tool: "bash", Args: args, Cwd: "/home/u/w", Roots: []string{"/home/u/w"}, Home: "/home/u", Platform: pathid.Linux}, m)
	return Decide(Input{
		Facts: f, Authority: AgentAuthority("a", "b"), Session: Session{Mode: mode, Interactive: true, Attended: true},
		Rules: RuleSet{Rules: rules}, Boundary: BoundaryAny,
	})
}

func allowRule(t testing.TB, text string) SourcedRule {
	t.Helper()
	return SourcedRule{Rule: mustRule(t, text), List: ListAllow, Boundary: BoundaryAny}
}

// Every row of the table of executing options: a rule for the whole program does not cover it, a rule that spells it does.
func TestExecutingOptions(t *testing.T) {
	for _, row := range executingOptions {
		for program := range strings.FieldsSeq(row.program) {
			for option := range strings.FieldsSeq(row.option) {
				words := []string{program}
				switch row.sub {
				case "":
					words = append(words, option)
					if option[0] == '-' && hasSubcommands(program) {
						words = append(words, "value", "sub")
					}
				case "*":
					words = append(words, "anything", option)
				default:
					words = append(words, row.sub, option)
				}
				text := strings.Join(words, " ")
				if isWrapperName(program) && program != "find" {
					continue // seen through: its inner command is what needs a rule
				}
				t.Run(text, func(t *testing.T) {
					whole := decideText(t, text, ModeAsk, allowRule(t, "bash("+program+":*)"))
					if whole.Outcome == Allow && whole.Reason == ReasonRuleAllow {
						t.Errorf("a rule for %s covers %q", program, text)
					}
					if dash := strings.HasPrefix(option, "--"); dash {
						attached := decideText(t, text+"=value", ModeAsk, allowRule(t, "bash("+program+":*)"))
						if attached.Outcome == Allow {
							t.Errorf("a rule for %s covers %s=value", program, text)
						}
					}
					exact := decideText(t, text, ModeAsk, allowRule(t, "bash("+text+")"))
					if exact.Outcome != Allow && exact.Reason != ReasonDangerousPath {
						t.Errorf("a rule that spells %q does not cover it: %s (%s)", text, exact.Outcome, exact.Reason)
					}
				})
			}
		}
	}
}

// Abbreviations, clusters and attached values of options are the option.
func TestOptionSpellings(t *testing.T) {
	for _, tt := range []struct{ rule, text string }{
		{"sort", "sort --compress-prog=x a"}, {"sort", "sort --comp x a"}, {"sort", "sort --o=x a"}, {"sort", "sort -ro x a"},
		{"sort", "sort -ox a"}, {"rg", "rg --pr x"}, {"tar", "tar --to-com=x xf y"}, {"tar", "tar -xIid f y"},
		{"git", "git diff --outpu=x"}, {"git", "git -ca=b log"}, {"go", "go test --exec=x"}, {"go", "go build -toolexec=x"},
		{"man", "man -Pid ls"}, {"ssh", "ssh -oProxyCommand=x h"}, {"find", "find . -exec id +"}, {"curl", "curl -sSLo x u"},
	} {
		if v := decideText(t, tt.text, ModeAsk, allowRule(t, "bash("+tt.rule+":*)")); v.Outcome == Allow {
			t.Errorf("a rule for %s covers %q", tt.rule, tt.text)
		}
	}
	for _, tt := range []struct{ rule, text string }{
		{"git log", "git log -p"}, {"git log", "git log -c"}, {"git", "git commit -m x -- --output"}, {"sort", "sort -u a"},
		{"sort", "sort -- -o"}, {"go", "go test -run X ./..."}, {"curl", "curl -s u"}, {"git commit", "git commit -C HEAD"},
	} {
		if v := decideText(t, tt.text, ModeAsk, allowRule(t, "bash("+tt.rule+":*)")); v.Outcome != Allow {
			t.Errorf("a rule for %s does not cover %q: %s", tt.rule, tt.text, v.Trace[7].Detail)
		}
	}
}

// Every row of the list of harmless assignments.
func TestHarmlessAssignments(t *testing.T) {
	for _, row := range harmlessAssignments {
		program := "prog"
		if row.program != "" {
			program = strings.Fields(row.program)[0]
		}
		value := "1"
		if row.values != "" {
			value = strings.Fields(row.values)[0]
		}
		for name := range strings.FieldsSeq(row.names) {
			name = strings.Replace(name, "*", "ALL", 1)
			t.Run(name, func(t *testing.T) {
				rule := allowRule(t, "bash("+program+":*)")
				if v := decideText(t, fmt.Sprintf("%s=%s %s", name, value, program), ModeAsk, rule); v.Outcome != Allow {
					t.Errorf("%s=%s stops a rule: %s", name, value, v.Trace[7].Detail)
				}
				if v := decideText(t, fmt.Sprintf("env %s=%s %s", name, value, program), ModeAsk, rule); v.Outcome != Allow {
					t.Errorf("env %s=%s stops a rule: %s", name, value, v.Trace[7].Detail)
				}
				if v := decideText(t, fmt.Sprintf("%s=$X %s", name, program), ModeAsk, rule); v.Outcome == Allow {
					t.Errorf("%s with an unknown value is covered", name)
				}
				if row.values != "" {
					if v := decideText(t, fmt.Sprintf("%s='sh -c id' %s", name, program), ModeAsk, rule); v.Outcome == Allow {
						t.Errorf("%s with any value is covered", name)
					}
				}
				if row.program != "" {
					if v := decideText(t, fmt.Sprintf("%s=%s other", name, value), ModeAsk, allowRule(t, "bash(other:*)")); v.Outcome == Allow {
						t.Errorf("%s is covered for every program", name)
					}
				}
			})
		}
	}
	for _, text := range []string{
		"PATH=. prog", "LD_PRELOAD=x prog", "LD_LIBRARY_PATH=x prog", "DYLD_INSERT_LIBRARIES=x prog", "IFS=x prog", "HOME=x prog",
		"GIT_SSH_COMMAND=x prog", "GIT_EXTERNAL_DIFF=x prog", "NODE_OPTIONS=x prog", "PYTHONPATH=x prog", "PERL5OPT=x prog",
		"RUBYOPT=x prog", "BASH_ENV=x prog", "ENV=x prog", "EDITOR=x prog", "http_proxy=x prog", "GIT_DIR=x prog", "x=1 prog",
		"GOFLAGS=x prog", "RUSTC_WRAPPER=x prog", "CARGO_HOME=x prog", "npm_config_script_shell=x prog", "LESSOPEN=x prog",
		"http_proxy=x; prog", "PATH=.; prog", "path=.; prog", "export PATH=.; prog", "export x=1; prog", "CI+=1 prog", "CI=1 X=2 prog",
	} {
		if v := decideText(t, text, ModeAsk, allowRule(t, "bash(prog:*)")); v.Outcome == Allow && text != "export x=1; prog" {
			t.Errorf("%q is covered by a rule for prog", text)
		}
	}
	if v := decideText(t, "FOO=1 prog x", ModeAsk, allowRule(t, "bash(FOO=1 prog x)")); v.Outcome != Allow {
		t.Errorf("a rule that spells the assignment does not cover it: %s", v.Trace[7].Detail)
	}
	if v := decideText(t, "FOO=2 prog x", ModeAsk, allowRule(t, "bash(FOO=1 prog x)")); v.Outcome == Allow {
		t.Error("a rule that spells an assignment covers another value")
	}
	if v := decideText(t, "FOO=1 rm x", ModeBypass, SourcedRule{Rule: mustRule(t, "bash(FOO=1 rm:*)"), List: ListDeny}); v.Outcome != Deny {
		t.Errorf("a deny rule with an assignment: %s", v.Outcome)
	}
}

func TestDangerousPaths(t *testing.T) {
	root := []string{"/w"}
	for _, name := range []string{
		".env", ".ENV", ".env.local", "a/.git", ".git/config", ".Git/x", "a/.vscode/x", ".github/workflows/x.yml", ".husky/x",
		".claude/x", ".codex", ".gemini/x", ".cursor/x", ".countersign/rules.toml", ".bashrc", ".npmrc", ".netrc", ".mcp.json",
		".git./x", ".git /x", ".git::$DATA", "git~1/x", "GIT~1", "bashrc~1", ".ssh/config", ".gnupg", ".\u017fsh/x", ".gi\u200ct/x",
	} {
		if dangerousIn(plainNames(pathid.Linux, root, "/w/"+name)) == "" {
			t.Errorf("%q is not dangerous", name)
		}
	}
	for _, name := range []string{"a", "src/main.go", ".env.example", ".github/ISSUE.md", "git/x", "environment", ".gitignore", "a~1x", "foo~1"} {
		if why := dangerousIn(plainNames(pathid.Linux, root, "/w/"+name)); why != "" {
			t.Errorf("%q is dangerous: %s", name, why)
		}
	}
	if why := dangerousIn(plainNames(pathid.Linux, []string{"/home/u/.claude/worktrees/x"}, "/home/u/.claude/worktrees/x/a.go")); why != "" {
		t.Errorf("the components of the root itself count: %s", why)
	}
	for _, name := range []string{"id_rsa", "x.pem", ".aws/credentials", "sub/.env", ".config/gh/hosts.yml", "a.key", "terraform.tfstate"} {
		if secretPath(pathid.Linux, root, "/w/"+name) == "" {
			t.Errorf("%q is not secret", name)
		}
	}
	if secretPath(pathid.Linux, nil, "/proc/1/environ") == "" || secretPath(pathid.Windows, nil, `C:\w\SECRET~1`) == "" {
		t.Error("process memory and short names")
	}
}

func TestShortNames(t *testing.T) {
	for _, tt := range []struct {
		long, short string
		want        bool
	}{
		{"secret folder", "secret~1", true}, {".git", "git~1", true}, {"program files", "progra~2", true},
		{"longname.json", "longna~1.jso", true}, {"secret folder", "public~1", false}, {"a.txt", "a~1", false},
		{"my documents", "my1a2b~1", true}, {"x", "x", false}, {"secret", "secret~", false}, {"a.b.c", "ab~1.c", true},
	} {
		if got := couldBeShort(tt.long, tt.short); got != tt.want {
			t.Errorf("couldBeShort(%q, %q) = %v", tt.long, tt.short, got)
		}
	}
}

func TestHosts(t *testing.T) {
	for in, want := range map[string]string{
		"https://Example.org/x": "example.org", "http://a.example.org.:80": "a.example.org", "example.org/x": "example.org",
		"https://[::1]:8080/": "::1", "https://u:p@example.org": "example.org", "file:///x": "", "https://ex ample.org": "",
		"https://example.org%2e": "", `https://a\b`: "", "https://ex\u0430mple.org": "", "https://": "", "::": "",
	} {
		got, ok := hostOf(in)
		if got != want || ok != (want != "") {
			t.Errorf("hostOf(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}

func TestAnsiQuotes(t *testing.T) {
	for in, want := range map[string]string{
		`\x72m`: "rm", `\162m`: "rm", `\u0072m`: "rm", `\U00000072m`: "rm", `a\nb`: "a\nb", `\t\a\b\e\f\v\r`: "\t\a\b\x1b\f\v\r",
		`\'\"\\\?`: `'"\?`, `\q`: `\q`, `\xzz`: `\xzz`, `plain`: "plain",
	} {
		if got, ok := unescapeAnsi(in); got != want || !ok {
			t.Errorf("unescapeAnsi(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{`a\0b`, `\x00`, `\ca`, `\U00110000`} {
		if got, ok := unescapeAnsi(in); ok {
			t.Errorf("unescapeAnsi(%q) = %q, want a refusal", in, got)
		}
	}
}

func TestTextLimits(t *testing.T) {
	for text, want := range map[string]bool{
		"ls": false, strings.Repeat("(", 201): true, strings.Repeat("( ", 200): false, strings.Repeat("a", MaxCommand): false,
		strings.Repeat("a", MaxCommand+1): true, strings.Repeat("if a; then ", 201): true, strings.Repeat("if a; then b; fi; ", 300): false,
		strings.Repeat("a|", 1200): true, strings.Repeat("a;", 1200): false, strings.Repeat("()", 5000): true,
		strings.Repeat("`a` ", 300): false, strings.Repeat("! ", 5000): true,
	} {
		if got := overLimit(text) != ""; got != want {
			t.Errorf("overLimit(%.20q…) = %q", text, overLimit(text))
		}
	}
	for text, want := range map[string]bool{
		"ls\t-l\nx": false, "café 日本 🎉": false, "a\x00": true, "a\rb": true, "\x1b[31m": true, "a\u200bb": true, "a\u202eb": true,
		"a\u00a0b": true, "\xff": true, "a\u0085b": true, "a\u2028b": true, "\ufeffa": true, "a\u00adb": true, "a\U000E0041": true, "a\x7f": true,
	} {
		if got := hiddenText(text) != ""; got != want {
			t.Errorf("hiddenText(%q) = %q", text, hiddenText(text))
		}
	}
}

func TestPatchTargets(t *testing.T) {
	for _, tt := range []struct {
		patch string
		want  string
	}{
		{"*** Begin Patch\n*** Add File: a b\n+x\n*** Update File: c\n--- x\n*** Move to: d\n*** Delete File: e\n*** End Patch", "a b|c|d|e"},
		{"--- a/x\n+++ b/x\n@@\n", "x"}, {"--- /dev/null\n+++ b/new\t2020\n", "new"}, {"rename from a\nrename to b\n", "a|b"},
		{"*** Begin Patch\n*** Update File:\n", ""}, {"nothing", ""},
	} {
		if got := strings.Join(patchTargets(tt.patch), "|"); got != tt.want {
			t.Errorf("patchTargets(%q) = %q, want %q", tt.patch, got, tt.want)
		}
	}
}
