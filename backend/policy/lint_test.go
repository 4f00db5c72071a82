package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/backend/pathid"
)

func lintRule(t interface{ Fatal(...any) }, list List, text string) SourcedRule {
	r, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return SourcedRule{Rule: r, List: list, Source: SourceGlobal, Boundary: BoundaryAny}
}

// lintSet reads lines such as "deny bash(rm:*)".
func lintSet(t *testing.T, lines ...string) RuleSet {
	t.Helper()
	var set RuleSet
	for _, line := range lines {
		list, text, _ := strings.Cut(line, " ")
		set.Rules = append(set.Rules, lintRule(t, List(list), text))
	}
	return set
}

// found prints findings as "code rule < other".
func found(list []Finding) []string {
	var out []string
	for _, f := range list {
		text := f.Key() + " " + f.Rule.Rule.String()
		if f.Other != nil {
			text += " < " + f.Other.Rule.String()
		}
		out = append(out, text)
	}
	return out
}

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules []string
		want  []string
	}{
		{"nothing", []string{"allow bash(git log:*)", "deny bash(git push:*)", "ask bash(npm publish:*)"}, nil},
		{"an allow below a deny", []string{"deny bash(git push:*)", "allow bash(git push origin main)"},
			[]string{"covered_by_deny bash(git push origin main) < bash(git push:*)"}},
		{"the order of options does not matter", []string{"deny bash(rm -r -f:*)", "allow bash(rm -rf build)"},
			[]string{"covered_by_deny bash(rm -rf build) < bash(rm -r -f:*)"}},
		{"a longer prefix below a deny", []string{"allow bash(git push origin:*)", "deny bash(git push:*)"},
			[]string{"covered_by_deny bash(git push origin:*) < bash(git push:*)"}},
		{"another prefix is not below", []string{"deny bash(git push origin:*)", "allow bash(git push:*)"}, nil},
		{"an exact deny stops no longer command", []string{"deny bash(git push)", "allow bash(git push:*)", "allow bash(git push *)"}, nil},
		{"a pattern below a deny", []string{"deny bash(npm run:*)", "allow bash(npm run test*)"},
			[]string{"covered_by_deny bash(npm run test*) < bash(npm run:*)"}},
		{"a deny that is a pattern", []string{"deny bash(npm run test*)", "allow bash(npm run test:unit)"},
			[]string{"covered_by_deny bash(npm run test:unit) < bash(npm run test*)"}},
		{"what a wrapper is told to run", []string{"deny bash(rm:*)", "allow bash(sudo rm build)", "allow bash(timeout 5 rm:*)"},
			[]string{"covered_by_deny bash(sudo rm build) < bash(rm:*)", "covered_by_deny bash(timeout 5 rm:*) < bash(rm:*)"}},
		{"an allow below an ask", []string{"ask bash(git push:*)", "allow bash(git push)"},
			[]string{"unreachable bash(git push) < bash(git push:*)"}},
		{"an ask below a deny", []string{"deny bash(git push:*)", "ask bash(git push --force:*)"},
			[]string{"unreachable bash(git push --force:*) < bash(git push:*)"}},
		{"the whole tool", []string{"deny bash", "allow bash(ls)", "ask bash(make:*)"},
			[]string{"covered_by_deny bash(ls) < bash", "unreachable bash(make:*) < bash"}},
		{"paths", []string{"deny read(secrets/**)", "allow read(secrets/a.txt)", "allow read(src/secrets/b)", "allow read(src/a)"},
			[]string{"covered_by_deny read(secrets/a.txt) < read(secrets/**)", "covered_by_deny read(src/secrets/b) < read(secrets/**)"}},
		{"any depth", []string{"deny read(.env)", "allow read(/srv/app/.env)", "allow read(.env.example)"},
			[]string{"covered_by_deny read(/srv/app/.env) < read(.env)"}},
		{"an edit is a write", []string{"deny write(gen/**)", "allow edit(gen/a.go)"}, []string{"covered_by_deny edit(gen/a.go) < write(gen/**)"}},
		{"a deny for reading stops a search", []string{"deny read(gen/**)", "allow grep(gen/**)"}, []string{"covered_by_deny grep(gen/**) < read(gen/**)"}},
		{"a deny for a search stops no reading", []string{"deny grep(gen/**)", "allow read(gen/**)"}, nil},
		{"upwards is unclear", []string{"deny read(gen/**)", "allow read(gen/../x)"}, nil},
		{"domains", []string{"deny web_fetch(domain:example.org)", "allow web_fetch(domain:docs.example.org)", "allow web_fetch(domain:other.example)"},
			[]string{"covered_by_deny web_fetch(domain:docs.example.org) < web_fetch(domain:example.org)"}},
		{"subdomains only", []string{"deny web_fetch(domain:*.example.org)", "allow web_fetch(domain:example.org)"}, nil},
		{"MCP", []string{"deny mcp(github/*)", "allow mcp(github/create_issue)", "deny mcp(*/delete_*)", "allow mcp(x/delete_all)"},
			[]string{"covered_by_deny mcp(github/create_issue) < mcp(github/*)", "covered_by_deny mcp(x/delete_all) < mcp(*/delete_*)"}},
		{"a wider allow", []string{"allow bash(git:*)", "allow bash(git log:*)"}, []string{"covered bash(git log:*) < bash(git:*)"}},
		{"an option that must be spelled out", []string{"allow bash(git:*)", "allow bash(git -c a=b log)", "allow bash(git config:*)"}, nil},
		{"an exact rule also knows a function", []string{"allow bash(deploy:*)", "allow bash(deploy staging)", "allow bash(cat:*)", "allow bash(cat a)"},
			[]string{"covered bash(cat a) < bash(cat:*)"}},
		{"a rule that is set aside covers nothing", []string{"allow bash(python:*)", "allow bash(python x.py:*)"}, []string{"dangerous_allow.hands_over bash(python:*)"}},
		{"paths of one list", []string{"allow write(src/**)", "allow edit(src/a.go)"}, []string{"covered edit(src/a.go) < write(src/**)"}},
		{"a path deny says more about arguments than a wider one", []string{"deny read(src/**)", "deny read(src/a.go)"}, nil},
		{"the same again", []string{"deny Bash(rm:*)", "deny bash(rm:*)"}, []string{"duplicate bash(rm:*) < bash(rm:*)"}},
		{"two spellings", []string{"allow bash(git log *)", "deny bash(rm *)", "deny bash(rm:*)"}, nil},
		{"dangerous", []string{"allow bash", "allow bash(sudo:*)", "allow bash(rm:*)", "allow bash(curl:*)", "allow bash(curl https://example.org:*)"},
			[]string{"dangerous_allow.whole_tool bash", "dangerous_allow.hands_over bash(sudo:*)", "dangerous_allow.removes bash(rm:*)", "dangerous_allow.sends bash(curl:*)",
				"covered bash(curl https://example.org:*) < bash(curl:*)"}},
		{"dangerous files", []string{"allow write(/**)", "allow write(/etc/**)", "allow edit(~/*)", "allow write(**)", "allow read", "allow read(~/.ssh/**)", "allow read(/srv/**)"},
			[]string{"dangerous_allow.writes_anywhere write(/**)", "covered write(/etc/**) < write(/**)", "dangerous_allow.writes_anywhere write(/etc/**)",
				"dangerous_allow.writes_anywhere edit(~/*)", "dangerous_allow.reads_secrets read", "covered read(~/.ssh/**) < read",
				"dangerous_allow.reads_secrets read(~/.ssh/**)", "covered read(/srv/**) < read"}},
		{"dangerous senders", []string{"allow web_fetch", "allow mcp(*)", "allow web_use"},
			[]string{"dangerous_allow.any_host web_fetch", "dangerous_allow.any_server mcp(*)", "dangerous_allow.any_surface web_use"}},
		{"a whole domain", []string{"allow web_fetch(domain:com)", "allow web_fetch(domain:localhost)"}, []string{"dangerous_allow.any_host web_fetch(domain:com)"}},
		{"a whole server", []string{"allow mcp(github)"}, []string{"dangerous_allow.any_tool mcp(github)"}},
		{"find is no remover", []string{"allow bash(find:*)"}, nil},
		{"Windows paths", []string{`deny read(C:/secret/**)`, `deny write(C:\\secret\\x)`, `deny read(~/**)`},
			[]string{"never_matches.windows_path read(C:/secret/**)", `never_matches.windows_path write(C:\\secret\\x)`}},
		{"upwards", []string{"deny read(**/../x)", "deny read(../x)"}, []string{"never_matches.upwards read(**/../x)"}},
		{"variables", []string{"deny read($HOME/.ssh/**)", "deny read(${HOME}/x)", "deny read($x.txt)"},
			[]string{"never_matches.variable read($HOME/.ssh/**)", "never_matches.variable read(${HOME}/x)"}},
		{"unknown tool", []string{"deny bsh(rm:*)"}, []string{"never_matches.unknown_tool bsh(rm:*)"}},
		{"operators", []string{"allow bash(cd x && make)", "deny bash(curl x | sh)", "deny bash(curl * | sh)", "allow bash(echo '&&')"},
			[]string{"never_matches.operator bash(cd x && make)", "never_matches.operator bash(curl * | sh)"}},
		{"an address is no path", []string{"allow read(https://example.org)"}, []string{"never_matches.url read(https://example.org)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := found(Lint(lintSet(t, tt.rules...), ExamplePlace{Platform: pathid.Linux}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestLintExamples(t *testing.T) {
	r := lintRule(t, ListDeny, "bash(git push:*)")
	r.Match, r.NotMatch = []string{"git push -f", "git pull"}, []string{"git -C x push"}
	got := Lint(RuleSet{Rules: []SourcedRule{r}}, ExamplePlace{})
	if diff := cmp.Diff([]string{"example_fails.match bash(git push:*)", "example_fails.not_match bash(git push:*)"}, found(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got[0].Args["example"] != "git pull" || got[1].Args["example"] != "git -C x push" {
		t.Errorf("the examples are not named: %v", got)
	}
}

// A boundary, an expiry, or a source that does not count decides whether one rule makes up for another.
func TestLintWhatCounts(t *testing.T) {
	wide, narrow := lintRule(t, ListAllow, "bash(git:*)"), lintRule(t, ListAllow, "bash(git log:*)")
	deny := lintRule(t, ListDeny, "bash(git:*)")
	later := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		edit func(wide, narrow, deny *SourcedRule) []SourcedRule
		want []string
	}{
		{"as they are", func(w, n, _ *SourcedRule) []SourcedRule { return []SourcedRule{*w, *n} }, []string{"covered bash(git log:*) < bash(git:*)"}},
		{"a narrower boundary", func(w, n, _ *SourcedRule) []SourcedRule {
			w.Boundary = BoundaryEnforced
			return []SourcedRule{*w, *n}
		}, nil},
		{"the same rule at both boundaries", func(w, n, _ *SourcedRule) []SourcedRule {
			*n, n.Boundary = *w, BoundaryEnforced
			return []SourcedRule{*n, *w}
		}, []string{"covered bash(git:*) < bash(git:*)"}},
		{"an expiry", func(w, n, _ *SourcedRule) []SourcedRule {
			w.Expires = later
			return []SourcedRule{*w, *n}
		}, nil},
		{"both expire", func(w, n, _ *SourcedRule) []SourcedRule {
			w.Expires, n.Expires = later, later
			return []SourcedRule{*w, *n}
		}, []string{"covered bash(git log:*) < bash(git:*)"}},
		{"a repository that is not trusted", func(w, n, _ *SourcedRule) []SourcedRule {
			w.Source = SourceRepository
			return []SourcedRule{*w, *n}
		}, nil},
		{"a deny that expires", func(_, n, d *SourcedRule) []SourcedRule {
			d.Expires = later
			return []SourcedRule{*d, *n}
		}, nil},
		{"a deny of a repository counts", func(_, n, d *SourcedRule) []SourcedRule {
			d.Source = SourceRepository
			return []SourcedRule{*d, *n}
		}, []string{"covered_by_deny bash(git log:*) < bash(git:*)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, n, d := wide, narrow, deny
			got := found(Lint(RuleSet{Rules: tt.edit(&w, &n, &d)}, ExamplePlace{}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestLintOnWindows(t *testing.T) {
	set := lintSet(t, `deny read(C:/secret/**)`, `allow read(c:\\secret\\a)`, "allow write(~/**)", "allow write(src/**)")
	got := found(Lint(set, ExamplePlace{Platform: pathid.Windows}))
	want := []string{`covered_by_deny read(c:\\secret\\a) < read(C:/secret/**)`, "dangerous_allow.writes_anywhere write(~/**)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

var lintWords = []string{
	"rm", "git", "git", "log", "push", "-f", "-rf", "--force", "-c", "a=b", "x", "y", "sudo", "env", "timeout", "5", "xargs", "find", "-exec",
	"cat", "echo", "sed", "-n", "-i", "s/a/b/", "s/a/b/w", "-e", "make", "CC=x", "python", "x.py", "-m", "npm", "run", "test", "test:unit", "tar", "cf", "C",
	"sh", "-c", "--output=x", "-C", "dir", "docker", "deploy", "staging", "config", "sort", "-o", "uniq", "if", "true", "cd", "./x", "/bin/rm",
}

var lintPaths = []string{
	"src/a.go", "src/**", "**", "*.go", "src/*.go", ".env", "/etc/passwd", "/etc/**", "/**", "~/**", "~/.ssh/**", "~", "./src", "../x", "src/../b",
	"src/{a,b}.go", "src/[ab].go", "src/\\*", "w/**", "/home/u/w/src/**", "//etc/passwd", "/", "a//b", "gen/", "src/gen/**", "gen/**", "src/gen/x",
}

func genLintRule() *rapid.Generator[SourcedRule] {
	return rapid.Custom(func(t *rapid.T) SourcedRule {
		var text string
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			text = rapid.SampledFrom([]string{"bash", "bash(*)", "read", "write", "edit", "grep", "web_fetch", "mcp", "web_use", "send", "todo"}).Draw(t, "whole")
		case 1, 2, 3:
			text = rapid.SampledFrom([]string{"read", "read", "write", "write", "edit", "grep", "list"}).Draw(t, "tool") +
				"(" + contentEscaper.Replace(rapid.SampledFrom(lintPaths).Draw(t, "path")) + ")"
		case 4:
			text = rapid.SampledFrom([]string{
				"web_fetch(domain:example.org)", "web_fetch(domain:*.example.org)", "web_fetch(domain:a.example.org)", "web_fetch(domain:*)",
				"mcp(github)", "mcp(github/create_issue)", "mcp(github/create_*)", "mcp(*/create_issue)", "mcp(git*/*)", "mcp(a)", "mcp(a/b)",
				"web_use(https://a#b)", "send(x*)", "send(xy)", "web_search(x)", "web_search(*)",
			}).Draw(t, "name")
		default:
			words := rapid.SliceOfN(rapid.SampledFrom(lintWords), 1, 4).Draw(t, "words")
			if rapid.Bool().Draw(t, "usual") {
				words = strings.Fields(rapid.SampledFrom([]string{
					"deploy staging", "git log", "git -c a=b log", "cat x", "make CC=x", "sed -n s/a/b/w x", "tar cf C x", "uniq x y", "sort -o x", "sudo rm x",
					"xargs rm", "find x -exec rm", "if true", "env A=b rm x", "python x.py", "docker run -v x", "npm config x",
				}).Draw(t, "usual words"))
			}
			end := rapid.SampledFrom([]string{"", "", ":*", ":*", ":*", " *", "*", " * x"}).Draw(t, "end")
			start := rapid.SampledFrom([]string{"", "", "", "", "A=b "}).Draw(t, "start")
			text = "bash(" + start + strings.Join(words, " ") + end + ")"
		}
		r, err := ParseRule(text)
		if err != nil {
			t.Skip(err)
		}
		return SourcedRule{
			Rule: r, List: rapid.SampledFrom([]List{ListDeny, ListAsk, ListAllow, ListAllow}).Draw(t, "list"), Source: SourceGlobal,
			Boundary: rapid.SampledFrom([]Boundary{"", BoundaryAny, BoundaryEnforced}).Draw(t, "boundary"),
		}
	})
}

// genLintCall makes a call that has something to do with the rule.
func genLintCall(r Rule) *rapid.Generator[*Facts] {
	return rapid.Custom(func(t *rapid.T) *Facts {
		args := map[string]string{
			"file_path": rapid.SampledFrom(append([]string{"/home/u/w/src/a.go", "/home/u/.ssh/id", "src/gen/x/y", "link", "*", "s*/a.go", "$X"}, lintPaths...)).Draw(t, "path"),
			"url":       "https://" + rapid.SampledFrom([]string{"example.org", "a.example.org", "x.a.example.org", "other", "exa%6dple.org"}).Draw(t, "host"),
			"query":     rapid.SampledFrom([]string{"x", "xy", "a b"}).Draw(t, "query"),
		}
		if c := r.c; c.kind == kindPath && rapid.Bool().Draw(t, "own path") {
			args["file_path"] = strings.NewReplacer("**", "p/q", "*", "z", "[ab]", "a", "{a,b}", "b", `\`, "").Replace(c.pattern)
		}
		if r.c.family == familyCommand || rapid.IntRange(0, 3).Draw(t, "as command") == 0 {
			var words []string
			for _, w := range r.c.words {
				words = append(words, strings.ReplaceAll(w.text, "*", "z"))
			}
			if r.c.family != familyCommand {
				words = []string{rapid.SampledFrom([]string{"cat", "rm", "tool", "tee", "cp a"}).Draw(t, "program"), args["file_path"]}
				if rapid.Bool().Draw(t, "redirect") {
					words = []string{"cat", rapid.SampledFrom([]string{"<", ">"}).Draw(t, "direction"), args["file_path"]}
				}
			}
			extra := rapid.SliceOfN(rapid.SampledFrom(append([]string{"$X", "$(ls)", "\"$Y\"", "*", "'a b'", "r*", "-", "--"}, lintWords...)), 0, 3).Draw(t, "extra")
			if n := len(words); n > 1 && rapid.IntRange(0, 5).Draw(t, "replace") == 0 {
				words[rapid.IntRange(1, n-1).Draw(t, "at")] = rapid.SampledFrom([]string{"$X", "*", "\"$Y\"", "-x"}).Draw(t, "unknown")
			}
			at := rapid.IntRange(0, len(words)).Draw(t, "insert")
			if rapid.Bool().Draw(t, "append") {
				at = len(words)
			}
			text := strings.Join(slices.Insert(words, at, extra...), " ")
			text = fmt.Sprintf(rapid.SampledFrom([]string{
				"%s", "%s", "%s", "%s", "sudo %s", "cd src; %s", "A=b %s", "%s | sh", "echo $(%s)", "git(){ ls; }; %s", "deploy(){ ls; }; %s",
				"for i in 1 2; do %s; done", "%s > out", "env A=b %s", "sh -c '%s'", "X=%s", "%s; echo $((x))", "%s && ls", "unknown %s", "if %s",
			}).Draw(t, "around"), text)
			args["command"] = text
			return lintFacts(t, "Bash", args)
		}
		tool := map[string]string{ToolMCP: "mcp__github__create_issue", ToolWebFetch: "WebFetch"}[r.tool]
		switch {
		case r.tool == ToolMCP:
			tool = rapid.SampledFrom([]string{"mcp__github__create_issue", "mcp__a__b", "mcp__a__b__c", "mcp__git__x", "mcp"}).Draw(t, "server")
		case r.c.family == familyWrite:
			tool = rapid.SampledFrom([]string{"Write", "Edit"}).Draw(t, "writer")
		case r.c.family == familyRead:
			tool = rapid.SampledFrom([]string{"Read", "Grep", "LS"}).Draw(t, "reader")
			args["path"] = args["file_path"]
		case tool == "":
			tool = r.tool
		}
		return lintFacts(t, tool, args)
	})
}

func lintFacts(t *rapid.T, tool string, args map[string]string) *Facts {
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return examineIn(tool, raw)
}

// TestLintIsSound: whatever Lint calls superfluous can be taken out, and no call is decided otherwise.
func TestLintIsSound(t *testing.T) {
	claims := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SliceOfN(genLintRule(), 2, 6).Draw(t, "rules")
		if rapid.Bool().Draw(t, "related") { // pairs that meet: the same words, one shorter
			a := rules[0]
			if c := a.Rule.c; len(c.words) > 1 {
				text := "bash(" + strings.Join(c.texts()[:rapid.IntRange(1, len(c.words)).Draw(t, "cut")], " ") +
					rapid.SampledFrom([]string{"", ":*", " *", "*"}).Draw(t, "end") + ")"
				if r, err := ParseRule(text); err == nil {
					a.Rule, a.List = r, rapid.SampledFrom([]List{a.List, a.List, ListDeny, ListAsk, ListAllow}).Draw(t, "list")
					rules = append(rules, a)
				}
			}
		}
		for _, f := range Lint(RuleSet{Rules: rules}, ExamplePlace{Platform: pathid.Linux, Root: "/home/u/w", Home: "/home/u"}) {
			switch f.Code {
			case LintUnreachable, LintCovered, LintCoveredByDeny, LintDuplicate:
			default:
				continue
			}
			claims[f.Code]++
			at := -1
			for i, r := range rules { // of two that are the same, the last
				if r.Rule.Equal(f.Rule.Rule) && r.List == f.Rule.List && r.Boundary == f.Rule.Boundary {
					at = i
				}
			}
			for range 6 {
				in := Input{
					Facts: genLintCall(f.Rule.Rule).Draw(t, "call"), Authority: AgentAuthority("claude", "s"),
					Session: Session{
						Mode:        rapid.SampledFrom([]Mode{ModeAsk, ModeAsk, ModeAcceptEdits, ModePlan, ModeBypass, ModeBypass}).Draw(t, "mode"),
						Interactive: true, Attended: true,
					},
					Boundary: rapid.SampledFrom([]Boundary{BoundaryAny, BoundaryEnforced}).Draw(t, "boundary"),
					Rules:    RuleSet{Rules: rules},
				}
				with := Decide(in)
				in.Rules.Rules = slices.Delete(slices.Clone(rules), at, at+1)
				if without := Decide(in); without.Outcome != with.Outcome {
					t.Fatalf("%s (%s): a call is decided otherwise without it: %s (%s) instead of %s (%s)\ncall: %s %s %v %v",
						found([]Finding{f})[0], f.Rule.List, without.Outcome, without.Reason, with.Outcome, with.Reason,
						in.Facts.agentTool, in.Facts.text, in.Facts.Reads(), in.Facts.Writes())
				}
			}
		}
	})
	t.Logf("claims: %v", claims)
}

// TestLintManyRules: rules are found by what they have in common, not by comparing all with all.
func TestLintManyRules(t *testing.T) {
	var set RuleSet
	for i := range 10_000 {
		list := []List{ListDeny, ListAsk, ListAllow}[i%3]
		text := []string{"bash(git log n%d:*)", "bash(git show n%d)", "read(src/n%d/**)", "web_fetch(domain:n%d.example.org)", "mcp(s%d/tool)", "bash(git n%d*)", "write(n%d/*.go)"}[i%7]
		set.Rules = append(set.Rules, lintRule(t, list, fmt.Sprintf(text, i)))
	}
	l := newLinter(set.Rules, ExamplePlace{Platform: pathid.Linux})
	most := 0
	for i := range set.Rules {
		for _, list := range stricter[set.Rules[i].List] {
			most = max(most, len(l.candidates(&set.Rules[i], list)))
		}
	}
	if most > 8*maxCompared {
		t.Errorf("a rule is compared with %d others", most)
	}
	set.Rules = append(set.Rules, lintRule(t, ListDeny, "bash(git:*)"))
	set.Rules = append(set.Rules, lintRule(t, ListAllow, "bash(git log x)"))
	got := Lint(set, ExamplePlace{})
	if last := got[len(got)-1]; last.Code != LintCoveredByDeny || last.Rule.Rule.String() != "bash(git log x)" {
		t.Errorf("the last rule is not found: %v", found(got[len(got)-1:]))
	}
}

// TestLintWords: every finding has its sentence in the catalogue of the screens.
func TestLintWords(t *testing.T) {
	raw, err := os.ReadFile("../../app/i18n/en.json")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	if err := json.Unmarshal(raw, &words); err != nil {
		t.Fatal(err)
	}
	want := []string{LintUnreachable, LintCoveredByDeny, LintCovered, LintDuplicate}
	for _, why := range []string{
		dangerWholeTool, dangerHandsOver, dangerRemoves, dangerSends, dangerWrites, dangerSecrets, dangerAnyHost, dangerAnyServer, dangerAnyTool, dangerAnyPage,
	} {
		want = append(want, Finding{Code: LintDangerousAllow, Args: map[string]string{"why": why}}.Key())
	}
	for _, why := range []string{neverUnknownTool, neverWindowsPath, neverUpwards, neverVariable, neverOperator, neverURL} {
		want = append(want, Finding{Code: LintNeverMatches, Args: map[string]string{"why": why}}.Key())
	}
	for _, expected := range []string{ExampleMatches, ExampleNotMatches} {
		want = append(want, Finding{Code: LintExampleFails, Args: map[string]string{"expected": expected}}.Key())
	}
	for _, key := range want {
		if words["lint."+key] == "" {
			t.Errorf("lint.%s has no words", key)
		}
	}
	for key := range words {
		if name, ok := strings.CutPrefix(key, "lint."); ok && !slices.Contains(want, name) {
			t.Errorf("%s is no finding", key)
		}
	}
}
