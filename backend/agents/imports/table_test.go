package imports

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// row is one rule of an agent's, our rules for it, and the codes of how they differ.
type row struct{ list, text, rules, codes string }

// file writes one rule as the agent's own file.
func (r row) file(t *testing.T, agent string) (name, data string) {
	t.Helper()
	quoted, err := json.Marshal(r.text)
	if err != nil {
		t.Fatal(err)
	}
	switch agent {
	case agentClaude:
		return "settings.json", fmt.Sprintf(`{"permissions": {%q: [%s]}}`, r.list, quoted)
	case agentCodex:
		return "default.rules", r.text
	case agentGemini:
		if strings.HasPrefix(r.text, "settings ") {
			return "settings.json", strings.TrimPrefix(r.text, "settings ")
		}
		decision := map[string]string{"deny": "deny", "ask": "ask_user", "allow": "allow"}[r.list]
		return "my.toml", "[[rule]]\n" + r.text + "\ndecision = \"" + decision + "\"\npriority = 100\n"
	}
	if strings.HasPrefix(r.text, "{") {
		return "opencode.jsonc", r.text
	}
	permission, pattern, found := strings.Cut(r.text, " ")
	if !found {
		return "opencode.json", fmt.Sprintf(`{"permission": {%q: %q}}`, permission, r.list)
	}
	return "opencode.json", fmt.Sprintf(`{"permission": {%q: {%q: %q}}}`, permission, pattern, r.list)
}

// said sums up what became of a file's entries.
func said(entries []Entry) (rules, codes string) {
	var r, c []string
	for _, e := range entries {
		r = append(r, e.Rules...)
		for _, d := range e.Differs {
			c = append(c, d.Code)
		}
	}
	return strings.Join(r, "; "), strings.Join(c, " ")
}

func testRows(t *testing.T, agent string, rows []row) {
	t.Helper()
	if len(rows) < 25 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, r := range rows {
		t.Run(r.list+" "+r.text, func(t *testing.T) {
			name, data := r.file(t, agent)
			report, err := Read(agent, name, []byte(data))
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			rules, codes := said(report.Entries)
			if rules != r.rules || codes != r.codes {
				t.Errorf("got %q %q, want %q %q", rules, codes, r.rules, r.codes)
			}
			for _, e := range report.Entries {
				if (!e.Exact || len(e.Rules) == 0) && len(e.Differs) == 0 {
					t.Errorf("%+v says nothing of how it differs", e)
				}
			}
		})
	}
}
