package policy

import (
	"encoding/json"
	"testing"
)

// An answer to "sort < ~/.ssh/id_rsa" once offered the rule bash(sort), which then covered any file given to sort.
func TestAnExactRuleCoversNoFileThatIsRedirected(t *testing.T) {
	decide := func(command, allow string) (Verdict, []Rule) {
		t.Helper()
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		in := Input{
			Facts:     Examine(Call{Tool: "bash", Args: args, Cwd: "/home/u/p", Roots: []string{"/home/u/p"}, Home: "/home/u", Platform: "linux"}, NewMemoryFS("linux")),
			Authority: AgentAuthority("claude", "s"), Session: Session{ID: "s", Mode: ModeAsk, Interactive: true, Attended: true}, Boundary: BoundaryEnforced,
		}
		if allow != "" {
			rule, err := ParseRule(allow)
			if err != nil {
				t.Fatal(err)
			}
			in.Rules.Rules = []SourcedRule{{Rule: rule, List: ListAllow, Boundary: BoundaryEnforced}}
		}
		v := Decide(in)
		return v, SuggestRules(in.Facts, v, in)
	}
	for _, tt := range []struct {
		command, allow string
		want           Outcome
	}{
		{"mysort < /home/u/.ssh/id_rsa", "bash(mysort)", Ask},
		{"mysort < /home/u/.ssh/id_rsa", "bash(mysort:*)", Allow}, // it could open the file by itself
		{"mysort < a.txt", "bash(mysort)", Allow},
		{"mysort", "bash(mysort)", Allow},
	} {
		if v, _ := decide(tt.command, tt.allow); v.Outcome != tt.want {
			t.Errorf("%s under %s: %s, want %s", tt.command, tt.allow, v.Outcome, tt.want)
		}
	}
	if _, rules := decide("mysort < /home/u/.ssh/id_rsa", ""); rules != nil {
		t.Errorf("%v is offered", rules)
	}
}
