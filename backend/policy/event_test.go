package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEvents(t *testing.T) {
	facts := func(tool, args string) *Facts {
		return Examine(Call{
			Tool: tool, Args: json.RawMessage(args), Cwd: "/home/u/p", Roots: []string{"/home/u/p"}, Home: "/home/u", Platform: "linux",
			Own: Own{Paths: []string{"/home/u/.local/state/countersign"}},
		}, NewMemoryFS("linux"))
	}
	agent := AgentAuthority("claude", "s")
	sub := SubagentAuthority(agent, "child")
	rm := facts("bash", `{"command":"rm -rf secret-name"}`)
	own := facts("write", `{"file_path":"/home/u/.local/state/countersign/x","content":"secret-name"}`)
	outside := facts("write", `{"file_path":"/etc/secret-name","content":""}`)
	for _, tt := range []struct {
		name string
		in   Input
		want string
	}{
		{"a child's risky call in bypass", Input{Facts: rm, Authority: sub, Session: Session{ID: "s", Mode: ModeBypass}}, EventRiskyToolDelegated},
		{"the agent's own", Input{Facts: rm, Authority: agent, Session: Session{ID: "s", Mode: ModeBypass}}, ""},
		{"a child's asked call", Input{Facts: rm, Authority: sub, Session: Session{ID: "s", Mode: ModeAsk, Interactive: true}}, ""},
		{"a child's harmless call", Input{Facts: facts("bash", `{"command":"ls"}`), Authority: sub, Session: Session{ID: "s", Mode: ModeBypass}}, ""},
		{"a write to what is ours", Input{Facts: own, Authority: agent, Session: Session{ID: "s", Mode: ModeBypass}}, EventPathViolation},
		{"a child's write outside", Input{Facts: outside, Authority: sub, Session: Session{ID: "s", Mode: ModeBypass}}, EventPathViolation},
		{"the agent's write outside", Input{Facts: outside, Authority: agent, Session: Session{ID: "s", Mode: ModeAsk, Interactive: true}}, ""},
		{"nothing", Input{}, ""},
	} {
		got := Events(tt.in, Decide(tt.in))
		name := ""
		if len(got) == 1 {
			name = got[0].Name
		}
		if name != tt.want {
			t.Errorf("%s: %+v, want %q (%+v)", tt.name, got, tt.want, Decide(tt.in).Reason)
		}
		if data, err := json.Marshal(got); err != nil || strings.Contains(string(data), "secret-name") {
			t.Errorf("%s: an argument stands in %s", tt.name, data)
		}
	}
}
