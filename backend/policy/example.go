package policy

import (
	"encoding/json"
	"strings"

	"countersign/backend/pathid"
)

// Expectations of an example.
const (
	ExampleMatches    = "match"
	ExampleNotMatches = "not_match"
)

// ExamplePlace is where the examples of a rule are judged. They are texts, so no filesystem is looked at.
type ExamplePlace struct {
	Platform pathid.Platform
	Root     string // of the session, and its working directory; "" is a made-up one
	Home     string
}

// BadExample is an example that does not do what it is an example of.
type BadExample struct {
	Text     string
	Expected string // ExampleMatches or ExampleNotMatches
}

// CheckExamples judges a rule's examples by the rule alone, with the engine that decides calls: a matching one must be
// decided by it, another one must not. An example is what the rule's tool is about: a command, a path, an address, or the
// name of an MCP tool as server/tool.
func CheckExamples(r SourcedRule, at ExamplePlace) []BadExample {
	var bad []BadExample
	for _, text := range r.Match {
		if !RuleDecides(r, text, at) {
			bad = append(bad, BadExample{Text: text, Expected: ExampleMatches})
		}
	}
	for _, text := range r.NotMatch {
		if RuleDecides(r, text, at) {
			bad = append(bad, BadExample{Text: text, Expected: ExampleNotMatches})
		}
	}
	return bad
}

// RuleDecides reports whether the rule, alone, decides a call with the given text.
func RuleDecides(r SourcedRule, text string, at ExamplePlace) bool {
	if at.Platform == "" {
		at.Platform = pathid.Host()
	}
	if at.Root == "" {
		at.Root, at.Home = "/home/u/project", "/home/u"
		if at.Platform.IsWindows() {
			at.Root, at.Home = `C:\Users\u\project`, `C:\Users\u`
		}
	}
	tool, args := exampleCall(r.Rule, text)
	facts := Examine(Call{Tool: tool, Args: args, Cwd: at.Root, Roots: []string{at.Root}, Home: at.Home, Platform: at.Platform}, NewMemoryFS(at.Platform))
	r.Trusted = true
	v := Decide(Input{
		Facts: facts, Authority: AgentAuthority("example", "example"), Rules: RuleSet{Rules: []SourcedRule{r}},
		Session: Session{ID: "example", Mode: ModeAsk, Interactive: true, Attended: true}, Boundary: BoundaryEnforced,
	})
	switch r.List {
	case ListDeny:
		return v.Reason == ReasonRuleDeny
	case ListAsk:
		return v.Reason == ReasonRuleAsk
	case ListAllow:
		return v.Reason == ReasonRuleAllow
	}
	return false
}

// exampleCall is the call that a text stands for.
func exampleCall(r Rule, text string) (tool string, args json.RawMessage) {
	tool = r.Tool()
	key := "query"
	switch tools[tool].family {
	case familyCommand:
		key = "command"
	case familyRead, familyWrite:
		key = "file_path"
	case familyDomain:
		key = "url"
		if !strings.Contains(text, "://") {
			text = "https://" + text
		}
	case familyMCP:
		server, name, _ := strings.Cut(text, "/")
		return mcpPrefix + server + "__" + name, json.RawMessage("{}")
	case familySurface, familyOther:
		if keys := subjectKeys[tool]; len(keys) > 0 {
			key = keys[0]
		}
	}
	args, err := json.Marshal(map[string]string{key: text})
	if err != nil {
		args = json.RawMessage("{}")
	}
	return tool, args
}
