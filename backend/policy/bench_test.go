package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/backend/pathid"
)

const twelveParts = "cd src && git status && git diff --stat | head -20 && go vet ./... && go test ./... 2>&1 | tail -40; " +
	"grep -rn foo . | wc -l; ls -la && cat go.mod && git log --oneline -5 && echo done"

func benchCall(text string) (Call, pathid.FS) {
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		panic(err)
	}
	m := NewMemoryFS(pathid.Linux)
	m.Dir("/home/u/w/src")
	m.File("/home/u/w/src/go.mod", "module x")
	m.File("/home/u/w/.git/config", "[core]\n\tbare = false\n")
	return Call{Tool: "Bash", Args: args, Cwd: "/home/u/w", Roots: []string{"/home/u/w"}, Home: "/home/u", Platform: pathid.Linux}, m
}

// benchRules makes n rules that do not match, as they collect over years, and the few that do.
func benchRules(tb testing.TB, n int) RuleSet {
	tb.Helper()
	var s RuleSet
	for i := range n {
		list := []List{ListDeny, ListAsk, ListAllow}[i%3]
		s.Rules = append(s.Rules, SourcedRule{Rule: mustRule(tb, fmt.Sprintf("bash(tool%d sub%d:*)", i, i%7)), List: list, Boundary: BoundaryAny})
	}
	for _, text := range []string{"bash(go vet:*)", "bash(go test:*)"} {
		s.Rules = append(s.Rules, SourcedRule{Rule: mustRule(tb, text), List: ListAllow, Boundary: BoundaryAny})
	}
	return s
}

func BenchmarkExamineAndDecide(b *testing.B) {
	for _, text := range []struct{ name, text string }{{"git-status", "git status"}, {"twelve-parts", twelveParts}} {
		for _, n := range []int{10, 100, 1000, 10000} {
			for _, how := range []string{"indexed", "scan"} {
				b.Run(fmt.Sprintf("%s/%d/%s", text.name, n, how), func(b *testing.B) {
					call, view := benchCall(text.text)
					rules := benchRules(b, n)
					if how == "indexed" {
						rules = rules.Index()
					}
					in := Input{Authority: AgentAuthority("a", "b"), Session: Session{Interactive: true}, Rules: rules, Boundary: BoundaryAny}
					b.ReportAllocs()
					for b.Loop() {
						in.Facts = Examine(call, view)
						Decide(in)
					}
				})
			}
		}
	}
}

// soups are texts of nothing but one unit, at the limit of what is parsed.
var soups = []string{
	"(", "$(", "`", "a|", "a&&", "a;", "a\n", "! ", "if a;then ", "$((", "${a:-", "\"$(", "{a,b}", "a>b ", "a * ", "$a ", "eval ", "env ",
	"sudo ", "xargs ", "find . -exec ", "cd a&&", "cd a;", "rm -rf / ", "$'\\x41'", " a<b", "X=a;$X ", "[[ a && ", "f() a;", "a $(a) ",
	"nice ", "timeout 1 ", "sh -c ", "a=b ", "cp a b ", "2>&1 ", "cat <<E\n", "time -- ", "jobs -x ", "cp -t a ", "x=(a ", "[[ -v ",
}

// A text at the limit is decided in milliseconds; the bound here only catches what grows faster than its length. A denied
// command at its end is still denied, or the text is opaque and asks.
func TestSoup(t *testing.T) {
	deny := SourcedRule{Rule: mustRule(t, "bash(rm:*)"), List: ListDeny}
	for _, unit := range soups {
		text := strings.Repeat(unit, MaxCommand/len(unit)-2) + "\nrm x"
		start := time.Now()
		v := decideText(t, text, ModeBypass, deny)
		if took := time.Since(start); took > runaway {
			t.Errorf("%q took %s", unit, took)
		}
		if v.Outcome == Allow {
			t.Errorf("%q hid a denied command", unit)
		}
	}
}

func BenchmarkSoup(b *testing.B) {
	for _, unit := range soups {
		b.Run(strings.TrimSpace(unit), func(b *testing.B) {
			call, view := benchCall(strings.Repeat(unit, MaxCommand/len(unit)))
			in := Input{Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true}, Rules: benchRules(b, 10)}
			b.ReportAllocs()
			for b.Loop() {
				in.Facts = Examine(call, view)
				Decide(in)
			}
		})
	}
}
