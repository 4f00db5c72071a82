package imports

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/backend/pathid"
	"countersign/backend/policy"
)

// The models are what the agents document of their own matchers, over the text of one command at a time. The properties
// compare them with what policy.Decide makes of the imported rules.

// model says what an agent does with one command, or one path: deny, ask, allow or "".
type model func(text string) policy.List

// wildcard turns a pattern in which * is any text into what matches it.
func wildcard(pattern string, optionalEnd bool) *regexp.Regexp {
	expr := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	expr = strings.ReplaceAll(expr, `\?`, ".")
	if cut, ok := strings.CutSuffix(expr, " .*"); ok && optionalEnd {
		expr = cut + "( .*)?"
	}
	return regexp.MustCompile("^" + expr + "$")
}

// strictest is a model in which deny comes before ask before allow.
func strictest(patterns map[policy.List][]*regexp.Regexp) model {
	return func(text string) policy.List {
		for _, list := range []policy.List{policy.ListDeny, policy.ListAsk, policy.ListAllow} {
			for _, p := range patterns[list] {
				if p.MatchString(text) {
					return list
				}
			}
		}
		return ""
	}
}

var (
	somePrograms = []string{"git", "npm", "make", "rm", "gitk", "cargo", "go", "touch"}
	someArgs     = []string{"push", "main", "--force", "test", "test:unit", "x", "src/a.go", "-f", "run", "origin", "push2", "-n"}
	someLists    = []policy.List{policy.ListDeny, policy.ListAsk, policy.ListAllow}
)

func genCommand() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(append([]string{rapid.SampledFrom(somePrograms).Draw(t, "program")},
			rapid.SliceOfN(rapid.SampledFrom(someArgs), 0, 4).Draw(t, "args")...), " ")
	})
}

// genPattern makes a command with stars in it.
func genPattern() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := genCommand().Draw(t, "text")
		for range rapid.IntRange(0, 2).Draw(t, "stars") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			end := min(len(text), at+rapid.IntRange(0, 6).Draw(t, "length"))
			text = text[:at] + "*" + text[end:]
		}
		if text = strings.Join(strings.Fields(text), " "); rapid.Bool().Draw(t, "tail") {
			text += " *"
		}
		for strings.Contains(text, "**") {
			text = strings.ReplaceAll(text, "**", "*")
		}
		return text
	})
}

// rulesOf are all rules of a report, as the owner would take them over.
func rulesOf(t *rapid.T, r Report) policy.RuleSet {
	var out policy.RuleSet
	for _, e := range r.Entries {
		for _, text := range e.Rules {
			parsed, err := policy.ParseRule(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if parsed.String() != text {
				t.Fatalf("%s is not canonical", text)
			}
			out.Rules = append(out.Rules, policy.SourcedRule{Rule: parsed, List: e.List, Source: policy.SourceGlobal, Boundary: e.Boundary})
		}
	}
	return out
}

func decide(tool string, args map[string]string, rules policy.RuleSet) policy.Outcome {
	m := policy.NewMemoryFS(pathid.Linux)
	m.Dir("/home/u/w")
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	facts := policy.Examine(policy.Call{
		Tool: tool, Args: raw, Cwd: "/home/u/w", Roots: []string{"/home/u/w"}, Home: "/home/u", Platform: pathid.Linux,
	}, m)
	return policy.Decide(policy.Input{
		Facts: facts, Authority: policy.AgentAuthority("claude", "s"), Rules: rules, Boundary: policy.BoundaryAny,
		Session: policy.Session{Mode: policy.ModeAsk, Interactive: true, Attended: true},
	}).Outcome
}

// compare checks both promises for a text of one or two commands.
func compare(t *rapid.T, data string, r Report, m model) {
	rules := rulesOf(t, r)
	commands := rapid.SliceOfN(genCommand(), 1, 2).Draw(t, "commands")
	denied, allowed := false, true
	for _, c := range commands {
		list := m(c)
		denied = denied || list == policy.ListDeny
		if list != policy.ListAllow && decide("Bash", map[string]string{"command": c}, policy.RuleSet{}) != policy.Allow {
			allowed = false
		}
	}
	text := strings.Join(commands, rapid.SampledFrom([]string{" && ", "; ", " | "}).Draw(t, "between"))
	outcome := decide("Bash", map[string]string{"command": text}, rules)
	if denied && outcome != policy.Deny {
		t.Fatalf("%s\nthe agent denies %q, here the verdict is %s\n%+v", data, text, outcome, r.Entries)
	}
	if !allowed && outcome == policy.Allow {
		t.Fatalf("%s\nthe agent does not allow %q, here it is allowed\n%+v", data, text, r.Entries)
	}
}

func read(t *rapid.T, agent, name, data string) Report {
	r, err := Read(agent, name, []byte(data))
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return r
}

func quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestClaudeKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := map[string][]string{}
		patterns := map[policy.List][]*regexp.Regexp{}
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			list := rapid.SampledFrom(someLists).Draw(t, "list")
			pattern := genPattern().Draw(t, "pattern")
			patterns[list] = append(patterns[list], wildcard(pattern, strings.Count(pattern, "*") == 1))
			if cut, ok := strings.CutSuffix(pattern, " *"); ok && rapid.Bool().Draw(t, "colon") {
				pattern = cut + ":*"
			}
			lists[string(list)] = append(lists[string(list)], "Bash("+pattern+")")
		}
		data := quoted(map[string]any{"permissions": lists})
		compare(t, data, read(t, agentClaude, "settings.json", data), strictest(patterns))
	})
}

func TestCodexKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		patterns := map[policy.List][]*regexp.Regexp{}
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			list := rapid.SampledFrom(someLists).Draw(t, "list")
			words := strings.Fields(genCommand().Draw(t, "pattern"))
			elements, expr := make([]any, len(words)), make([]string, len(words))
			for i, w := range words {
				elements[i], expr[i] = w, regexp.QuoteMeta(w)
				if other := rapid.SampledFrom(append(someArgs, "")).Draw(t, "or"); i > 0 && other != "" {
					elements[i], expr[i] = []string{w, other}, "(?:"+expr[i]+"|"+regexp.QuoteMeta(other)+")"
				}
			}
			patterns[list] = append(patterns[list], regexp.MustCompile("^"+strings.Join(expr, " ")+"( .*)?$"))
			decision := map[policy.List]string{policy.ListDeny: "forbidden", policy.ListAsk: "prompt", policy.ListAllow: "allow"}[list]
			fmt.Fprintf(&b, "prefix_rule(pattern=%s, decision=%q)\n", quoted(elements), decision)
		}
		compare(t, b.String(), read(t, agentCodex, "default.rules", b.String()), strictest(patterns))
	})
}

// ranked is a model in which one match decides: the last one that better prefers.
type rankedRule struct {
	pattern *regexp.Regexp
	list    policy.List
	rank    int
}

func ranked(rules []rankedRule) model {
	return func(text string) policy.List {
		best := rankedRule{rank: -1}
		for _, r := range rules {
			if r.rank > best.rank && r.pattern.MatchString(text) {
				best = r
			}
		}
		return best.list
	}
}

// A deny that loses to an allow there is a deny here, so a model of the agent is only asked whether it allows; and
// what it denies is denied here too.
func TestGeminiKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		var rules []rankedRule
		for i := range rapid.IntRange(1, 5).Draw(t, "rules") {
			list := rapid.SampledFrom(someLists).Draw(t, "list")
			priority := rapid.IntRange(0, 5).Draw(t, "priority")
			decision := map[policy.List]string{policy.ListDeny: "deny", policy.ListAsk: "ask_user", policy.ListAllow: "allow"}[list]
			fmt.Fprintf(&b, "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = %q\npriority = %d\n", decision, priority)
			pattern := regexp.MustCompile("")
			prefix := genCommand().Draw(t, "prefix")
			kind := rapid.SampledFrom([]string{"", "prefix", "prefix", "regex", "hard regex"}).Draw(t, "kind")
			switch kind {
			case "":
				if list == policy.ListAllow {
					fmt.Fprintf(&b, "commandPrefix = %q\n", prefix)
					pattern = regexp.MustCompile("^" + regexp.QuoteMeta(prefix) + "( |$)")
				}
			case "prefix":
				fmt.Fprintf(&b, "commandPrefix = %q\n", prefix)
				pattern = regexp.MustCompile("^" + regexp.QuoteMeta(prefix) + "( |$)")
			default:
				expr := strings.ReplaceAll(regexp.QuoteMeta(prefix), " ", rapid.SampledFrom([]string{" ", " .*", `\s`}).Draw(t, "gap"))
				if kind == "hard regex" {
					expr += "(a|x)?"
				}
				fmt.Fprintf(&b, "commandRegex = '%s'\n", expr)
				pattern = regexp.MustCompile("^" + expr)
			}
			rules = append(rules, rankedRule{pattern, list, priority*100 - i + 10})
		}
		r := read(t, agentGemini, "my.toml", b.String())
		m := ranked(rules)
		compare(t, b.String(), r, func(text string) policy.List {
			if list := m(text); list != policy.ListDeny || carried(r) {
				return list
			}
			return policy.ListAsk // a regular expression is not carried: it need not deny, but must not allow
		})
	})
}

// carried reports whether every deny of the file was.
func carried(r Report) bool {
	for _, e := range r.Entries {
		if e.List == policy.ListDeny && len(e.Rules) == 0 {
			return false
		}
	}
	return true
}

func TestOpenCodeKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		var rules []rankedRule
		seen := map[string]bool{}
		for i := range rapid.IntRange(1, 5).Draw(t, "rules") {
			list := rapid.SampledFrom(someLists).Draw(t, "list")
			pattern := genPattern().Draw(t, "pattern")
			if rapid.IntRange(0, 4).Draw(t, "all") == 0 && list != policy.ListAllow {
				pattern = "*"
			}
			if seen[pattern] {
				continue
			}
			seen[pattern] = true
			members = append(members, quoted(pattern)+": "+quoted(list))
			rules = append(rules, rankedRule{wildcard(pattern, true), list, i})
		}
		data := `{"permission": {"bash": {` + strings.Join(members, ", ") + `,}}}`
		compare(t, data, read(t, agentOpenCode, "opencode.jsonc", data), ranked(rules))
	})
}

// TestPathsKeepTheirPromises: OpenCode's path patterns, in which * stands for slashes too, and Claude Code's.
func TestPathsKeepTheirPromises(t *testing.T) {
	names := []string{"a", "b", "ab", "a.md", "src", "xb"}
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "path"), "/")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(names, "*", "**", "a*", "*b", "a*b", "*.md")), 1, 3).Draw(t, "pattern"), "/")
		list := rapid.SampledFrom(someLists).Draw(t, "list")
		agent := rapid.SampledFrom([]string{agentClaude, agentOpenCode}).Draw(t, "agent")
		var r Report
		var expr string
		if agent == agentOpenCode {
			r = read(t, agent, "opencode.json", fmt.Sprintf(`{"permission": {"edit": {%q: %q}}}`, text, list))
			expr = wildcard(text, true).String()
		} else {
			r = read(t, agent, "settings.json", fmt.Sprintf(`{"permissions": {%q: ["Edit(%s)"]}}`, list, text))
			expr = regexp.QuoteMeta(text)
			expr = strings.ReplaceAll(expr, `\*\*/`, "\x00")
			expr = strings.ReplaceAll(expr, `/\*\*`, "/\x01")
			expr = strings.ReplaceAll(expr, `\*\*`, "\x01")
			expr = strings.NewReplacer(`\*`, "[^/]*", "\x00", "(?:.*/)?", "\x01", ".*").Replace(expr)
			if expr = "^" + expr + "(/.*)?$"; !strings.Contains(text, "/") {
				expr = "^(.*/)?" + expr[1:] // a name alone is meant in every directory
			}
		}
		// A directory itself counts as inside: dir/** covers dir here.
		inside := func(path string) bool {
			ok, err := regexp.MatchString(expr, path)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		outcome := decide("Edit", map[string]string{"file_path": "/home/u/w/" + path, "old_string": "x", "new_string": "y"}, rulesOf(t, r))
		switch {
		case list == policy.ListDeny && inside(path) && outcome != policy.Deny:
			t.Fatalf("%s: %q denies %q there, here the verdict is %s: %+v", agent, text, path, outcome, r.Entries)
		case !(list == policy.ListAllow && (inside(path) || inside(path+"/x"))) && outcome == policy.Allow:
			t.Fatalf("%s: %q does not allow %q there: %+v", agent, text, path, r.Entries)
		}
	})
}
