package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/backend/pathid"
)

// The generators draw from small alphabets, so that rules and calls meet often.

var someWords = []string{
	"rm", "ls", "git", "status", "log", "push", "-rf", "-f", "--force", "x", "a.txt", ".env", "src/main.go", "/etc", "~",
	"$X", "$(ls)", "`rm x`", "'rm -rf x'", "\"a b\"", "*", "sudo", "env", "A=b", "sh", "-c", "'rm x'", "xargs", "cat", "echo",
	"make", "npm", "test", "cd", "..", "curl", "http://x", "-o", "find", ".", "-exec", "{}", "+", "--output=x", "$HOME/x",
}

var someOperators = []string{" ", " ", " ", " ", " && ", "; ", " | ", " || ", "\n", " & ", " > ", " < ", " 2>&1 ", " >> "}

func genCommand() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for i := range rapid.IntRange(1, 8).Draw(t, "words") {
			if i > 0 {
				b.WriteString(rapid.SampledFrom(someOperators).Draw(t, "op"))
			}
			b.WriteString(rapid.SampledFrom(someWords).Draw(t, "word"))
		}
		return b.String()
	})
}

var someRules = []string{
	"bash", "bash(rm:*)", "bash(git status)", "bash(git:*)", "bash(git push:*)", "bash(rm -rf x)", "bash(ls *)", "bash(*)",
	"bash(cat:*)", "bash(make)", "bash(sudo:*)", "bash(echo:*)", "bash(curl:*)", "bash(npm test:*)", "bash(A=b make)",
	"read", "read(.env)", "read(src/**)", "read(~/**)", "read(/etc/**)", "write", "write(**)", "write(src/*.go)", "edit(x)",
	"web_fetch", "web_fetch(domain:example.org)", "mcp(github)", "mcp(github/create_*)", "send", "todo",
}

func genRule() *rapid.Generator[Rule] {
	return rapid.Custom(func(t *rapid.T) Rule {
		r, err := ParseRule(rapid.SampledFrom(someRules).Draw(t, "rule"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
}

func genSourced(lists ...List) *rapid.Generator[SourcedRule] {
	return rapid.Custom(func(t *rapid.T) SourcedRule {
		return SourcedRule{
			Rule:     genRule().Draw(t, "rule"),
			List:     rapid.SampledFrom(lists).Draw(t, "list"),
			Source:   rapid.SampledFrom([]Source{SourceManaged, SourceGlobal, SourceProject, SourceSession, SourceRepository}).Draw(t, "source"),
			Boundary: rapid.SampledFrom([]Boundary{"", BoundaryAny, BoundaryEnforced}).Draw(t, "boundary"),
			Trusted:  rapid.Bool().Draw(t, "trusted"),
		}
	})
}

func genFacts() *rapid.Generator[*Facts] {
	return rapid.Custom(func(t *rapid.T) *Facts {
		tool := rapid.SampledFrom([]string{
			"Bash", "Bash", "Bash", "Read", "Write", "Edit", "apply_patch", "Grep", "WebFetch", "mcp__github__create_issue",
			"send", "TodoWrite", "AskUserQuestion", "ExitPlanMode", "memory_update", "PowerShell", "web_use",
		}).Draw(t, "tool")
		path := rapid.SampledFrom([]string{"a.txt", "src/main.go", ".env", "/etc/passwd", "../x", "", "link", "~/x"}).Draw(t, "path")
		args, err := json.Marshal(map[string]string{
			"command": genCommand().Draw(t, "command"), "file_path": path, "url": "https://example.org/x",
			"input": "*** Begin Patch\n*** Update File: " + path + "\n*** End Patch",
		})
		if err != nil {
			t.Fatal(err)
		}
		return examineIn(tool, args)
	})
}

func examineIn(tool string, args json.RawMessage) *Facts {
	m := NewMemoryFS(pathid.Linux)
	m.Dir("/home/u/w")
	m.File("/home/u/w/a.txt", "x")
	m.File("/home/u/w/src/main.go", "x")
	m.File("/home/u/w/.env", "x")
	m.Link("/home/u/w/link", "/etc/passwd")
	return Examine(Call{
		Tool: tool, Args: args, Cwd: "/home/u/w", Roots: []string{"/home/u/w"}, Home: "/home/u", Platform: pathid.Linux,
		Own: Own{Paths: []string{"/home/u/.local/state/countersign"}},
	}, m)
}

func genAuthority() *rapid.Generator[Authority] {
	return rapid.Custom(func(t *rapid.T) Authority {
		agent := AgentAuthority("claude", "s")
		return rapid.SampledFrom([]Authority{
			agent, agent, agent, OwnerAuthority("f"), SubagentAuthority(agent, "c"), ScheduledAuthority("t"), {},
			{ID: "mcp/x", Kind: PrincipalMCP, Capabilities: agent.Capabilities},
		}).Draw(t, "authority")
	})
}

func genInput() *rapid.Generator[Input] {
	return rapid.Custom(func(t *rapid.T) Input {
		in := Input{
			Facts:     genFacts().Draw(t, "facts"),
			Authority: genAuthority().Draw(t, "who"),
			Session: Session{
				Mode:        rapid.SampledFrom([]Mode{ModeAsk, ModeAcceptEdits, ModePlan, ModeAuto, ModeBypass, "", "nonsense"}).Draw(t, "mode"),
				Plan:        rapid.IntRange(0, 9).Draw(t, "plan") == 0,
				Interactive: rapid.Bool().Draw(t, "interactive"),
				Attended:    rapid.Bool().Draw(t, "attended"),
			},
			Rules:      RuleSet{Rules: rapid.SliceOfN(genSourced(ListDeny, ListAsk, ListAllow), 0, 6).Draw(t, "rules")},
			Boundary:   rapid.SampledFrom([]Boundary{"", BoundaryAny, BoundaryEnforced}).Draw(t, "boundary"),
			BoxedReads: rapid.Bool().Draw(t, "boxed"),
		}
		if rapid.Bool().Draw(t, "classified") {
			in.Classification = &Classification{Safe: rapid.Bool().Draw(t, "safe")}
		}
		return in
	})
}

// strictness orders outcomes: what is higher lets less happen.
func strictness(v Verdict) int {
	switch v.Outcome {
	case Allow:
		return 0
	case Classify:
		return 1
	case Ask:
		return 2
	}
	return 3
}

func TestDenyRuleDeniesEverywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		d := &decision{in: in, f: in.Facts}
		// One rule in ten matches: several are drawn, or rapid would give up on a bad day.
		var rule SourcedRule
		matches := false
		for range 16 {
			rule = genSourced(ListDeny).Draw(t, "deny")
			d.in.Rules = RuleSet{Rules: []SourcedRule{rule}}
			if matches = d.restrained(ListDeny).hit != nil; matches {
				break
			}
		}
		if !matches {
			t.Skip("no rule matches")
		}
		in.Rules.Rules = append(in.Rules.Rules, rule)
		if v := Decide(in); v.Outcome != Deny {
			t.Fatalf("%s matches and the verdict is %s (%s)", rule.Rule, v.Outcome, v.Reason)
		}
	})
}

func TestBypassNeverSkipsTheFirstFiveSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		in.Session.Mode = ModeAsk
		careful := Decide(in)
		in.Session.Mode = ModeBypass
		bold := Decide(in)
		if careful.Step <= 5 && (bold.Outcome != careful.Outcome || bold.Step != careful.Step || bold.Reason != careful.Reason) {
			t.Fatalf("bypass turned step %d %s into step %d %s", careful.Step, careful.Outcome, bold.Step, bold.Outcome)
		}
	})
}

func TestMoreRestraintNeverAllowsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		before := Decide(in)
		more := in
		more.Rules.Rules = append(slices.Clone(in.Rules.Rules), genSourced(ListDeny, ListAsk).Draw(t, "added"))
		if after := Decide(more); strictness(after) < strictness(before) {
			t.Fatalf("adding a rule turned %s (%s) into %s (%s)", before.Outcome, before.Reason, after.Outcome, after.Reason)
		}
		var allows []int
		for i, r := range in.Rules.Rules {
			if r.List == ListAllow {
				allows = append(allows, i)
			}
		}
		if len(allows) == 0 {
			return
		}
		i := rapid.SampledFrom(allows).Draw(t, "removed")
		fewer := in
		fewer.Rules.Rules = slices.Delete(slices.Clone(in.Rules.Rules), i, i+1)
		if after := Decide(fewer); strictness(before) >= 2 && strictness(after) < 2 {
			t.Fatalf("removing an allow rule turned %s into %s", before.Outcome, after.Outcome)
		}
	})
}

func TestNarrowerAuthorityNeverAllowsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		before := Decide(in)
		narrow := in
		narrow.Authority.Capabilities = nil
		for _, c := range in.Authority.Capabilities {
			if rapid.Bool().Draw(t, "keep") {
				narrow.Authority.Capabilities = append(narrow.Authority.Capabilities, c)
			}
		}
		if after := Decide(narrow); strictness(after) < strictness(before) {
			t.Fatalf("a narrower authority turned %s (%s) into %s (%s)", before.Outcome, before.Reason, after.Outcome, after.Reason)
		}
	})
}

func TestVerdictDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		want := Decide(in)
		again := Decide(in)
		if diff := cmp.Diff(want, again); diff != "" {
			t.Fatalf("the same input gave two verdicts:\n%s", diff)
		}
		shuffled := in
		shuffled.Rules.Rules = rapid.Permutation(in.Rules.Rules).Draw(t, "order")
		if diff := cmp.Diff(want, Decide(shuffled)); diff != "" {
			t.Fatalf("another order of rules gave another verdict:\n%s", diff)
		}
		indexed := in
		indexed.Rules = in.Rules.Index()
		if diff := cmp.Diff(want, Decide(indexed)); diff != "" {
			t.Fatalf("the index gave another verdict:\n%s", diff)
		}
	})
}

func TestDecideNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genInput().Draw(t, "in")
		switch rapid.IntRange(0, 3).Draw(t, "damage") {
		case 0:
			in.Facts = nil
		case 1:
			in.Facts = &Facts{}
		case 2:
			in.Rules.Rules = append(in.Rules.Rules, SourcedRule{List: ListDeny})
		}
		v := Decide(in)
		if v.Outcome == Allow && in.Facts == nil {
			t.Fatal("a call without facts was allowed")
		}
		if v.Outcome == "" || v.Step == 0 {
			t.Fatalf("no step decided: %+v", v)
		}
		TagParts(in.Facts, in)
		SuggestRules(in.Facts, v, in)
	})
}

// A text that is allowed by rules stays what it was when something harmless is put around it, and a denied text stays
// denied behind anything: the analysis must not lose a command to its surroundings.
func TestSurroundingsHideNothing(t *testing.T) {
	surroundings := []string{
		"%s", "ls && %s", "%s; ls", "( %s )", "{ %s; }", "if true; then %s; fi", "while %s; do :; done", "! %s", "%s &", "%s | cat",
		"echo $(%s)", "x=$(%s)", "f() { %s; }; f", "for i in 1; do %s; done", "case x in x) %s;; esac", "cat <(%s)", "time %s",
		"true || %s", "cd sub; %s", "%s > /dev/null", "echo \"`%s`\"",
	}
	rule, err := ParseRule("bash(rm:*)")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := "rm -rf x"
		for range rapid.IntRange(1, 4).Draw(t, "depth") {
			text = fmt.Sprintf(rapid.SampledFrom(surroundings).Draw(t, "around"), text)
		}
		args, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Fatal(err)
		}
		v := Decide(Input{
			Facts: examineIn("Bash", args), Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true},
			Rules: RuleSet{Rules: []SourcedRule{{Rule: rule, List: ListDeny}}},
		})
		parses := !slices.Contains(Examine(Call{Tool: "bash", Args: args, Platform: pathid.Linux}, nil).opaque, "cannot be parsed")
		if v.Outcome != Deny && (parses || v.Outcome != Ask) {
			t.Fatalf("%q: %s (%s)", text, v.Outcome, v.Reason)
		}
	})
}

func TestRulesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom([]string{"bash", "Bash", "read", "Edit", "web_fetch", "mcp", "web_use", "send", "Task"}).Draw(t, "tool")
		content := rapid.StringOf(rapid.RuneFrom([]rune(`ab ()\*?[]{},:'"/.~#-=é`))).Draw(t, "content")
		if tool == "web_fetch" {
			content = "domain:" + content
		}
		r, err := ParseRule(tool + "(" + contentEscaper.Replace(content) + ")")
		if err != nil {
			t.Skip(err.Error())
		}
		got, has := r.Content()
		if !has || got != strings.Trim(content, " \t\n") {
			t.Fatalf("content %q was read as %q", content, got)
		}
		again, err := ParseRule(r.String())
		if err != nil || !again.Equal(r) || again.String() != r.String() {
			t.Fatalf("%q printed as %q, read again as %q (%v)", content, r, again, err)
		}
		if diff := cmp.Diff(r.c, again.c, cmp.AllowUnexported(compiledRule{}, ruleWord{}, shape{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A rule made from the words of a command matches that command and no other: patterns in a word never widen it.
func TestExactRuleNeverWidens(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune(`ab*?[]{},'"\ ():=-`)), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		words := append([]string{"prog"}, rapid.SliceOfN(word, 1, 4).Draw(t, "words")...)
		other := append([]string{"prog"}, rapid.SliceOfN(word, 1, 4).Draw(t, "other")...)
		args, err := json.Marshal(map[string]any{"command": words})
		if err != nil {
			t.Fatal(err)
		}
		in := Input{Facts: examineIn("Bash", args), Authority: AgentAuthority("a", "b"), Session: Session{Interactive: true}, Boundary: BoundaryAny}
		rules := SuggestRules(in.Facts, Decide(in), in)
		if len(rules) != 1 {
			t.Skip("no rule is offered")
		}
		in.Rules.Rules = []SourcedRule{{Rule: rules[0], List: ListAllow, Boundary: BoundaryAny}}
		if v := Decide(in); v.Outcome != Allow {
			t.Fatalf("%s does not allow what it was made from, %q", rules[0], words)
		}
		if slices.Equal(words, other) {
			return
		}
		otherArgs, err := json.Marshal(map[string]any{"command": other})
		if err != nil {
			t.Fatal(err)
		}
		in.Facts = examineIn("Bash", otherArgs)
		if v := Decide(in); v.Outcome == Allow {
			t.Fatalf("%s was made from %q and allows %q", rules[0], words, other)
		}
	})
}
