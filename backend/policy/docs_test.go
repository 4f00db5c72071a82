package policy

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"countersign/backend/pathid"
)

// docFence finds the examples of the page.
var docFence = regexp.MustCompile("(?ms)^```(rule|calls)\n(.*?)^```$")

// TestPolicyPage runs the examples of docs/policy.md: a page that says something else than the program does is worse than
// none.
func TestPolicyPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, block := range docFence.FindAllStringSubmatch(string(page), -1) {
		lines := strings.Split(strings.TrimSpace(block[2]), "\n")
		counts[block[1]] += len(lines)
		if block[1] == "rule" {
			docRule(t, lines)
		} else {
			docCalls(t, lines)
		}
	}
	if counts["rule"] < 40 || counts["calls"] < 25 {
		t.Errorf("few examples were found: %v", counts)
	}
}

// docRule checks "LIST RULE" and lines of "yes TEXT" and "no TEXT".
func docRule(t *testing.T, lines []string) {
	t.Helper()
	r := docSourced(t, lines[0])
	for _, line := range lines[1:] {
		word, text, _ := strings.Cut(line, " ")
		if word != "yes" && word != "no" {
			t.Errorf("%q begins with neither yes nor no", line)
		}
		if got := RuleDecides(r, strings.TrimSpace(text), ExamplePlace{Platform: pathid.Linux}); got != (word == "yes") {
			t.Errorf("%s: %q: the rule decides: %v", lines[0], line, got)
		}
	}
}

// docCalls checks lines of "CALL => OUTCOME REASON", behind lines that name a mode and rules.
func docCalls(t *testing.T, lines []string) {
	t.Helper()
	in := Input{
		Authority: AgentAuthority("doc", "doc"), Boundary: BoundaryAny,
		Session: Session{ID: "doc", Mode: ModeAsk, Interactive: true, Attended: true},
	}
	for _, line := range lines {
		call, want, isCall := strings.Cut(line, "=>")
		if !isCall {
			if mode, ok := strings.CutPrefix(line, "mode "); ok {
				m, err := ParseMode(mode)
				if err != nil {
					t.Fatal(err)
				}
				in.Session.Mode = m
				continue
			}
			in.Rules.Rules = append(in.Rules.Rules, docSourced(t, line))
			continue
		}
		args, err := json.Marshal(map[string]string{"command": strings.TrimSpace(call)})
		if err != nil {
			t.Fatal(err)
		}
		in.Facts = docFacts(args)
		if v := Decide(in); string(v.Outcome)+" "+string(v.Reason) != strings.TrimSpace(want) {
			t.Errorf("%q: decided %s %s", line, v.Outcome, v.Reason)
		}
	}
}

func docFacts(args json.RawMessage) *Facts {
	m := NewMemoryFS(pathid.Linux)
	m.Dir("/home/u/project/.git/hooks")
	m.File("/home/u/project/src/a.go", "package a\n")
	m.File("/home/u/project/.env", "KEY=x\n")
	return Examine(Call{
		Tool: "Bash", Args: args, Cwd: "/home/u/project", Roots: []string{"/home/u/project"}, Home: "/home/u", Platform: pathid.Linux,
	}, m)
}

func docSourced(t *testing.T, line string) SourcedRule {
	t.Helper()
	list, text, _ := strings.Cut(line, " ")
	r, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	if list != string(ListDeny) && list != string(ListAsk) && list != string(ListAllow) {
		t.Fatalf("%q names no list", line)
	}
	return SourcedRule{Rule: r, List: List(list), Source: SourceGlobal, Boundary: BoundaryAny}
}
