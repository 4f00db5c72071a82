package policy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestRiskWordsStandInTheText: a card marks risk words in the command, so each must be found there, but for the one that
// says why the text is opaque and for what the shell would have put together.
func TestRiskWordsStandInTheText(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	found, missing := 0, 0
	for line := range strings.Lines(string(text)) {
		var c BatchCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		f := examineIn(c.Tool, c.Args)
		for _, w := range f.Risk().Words {
			switch {
			case f.Command() == "" || w == f.Opaque():
			case strings.Contains(f.Command(), w):
				found++
			default:
				missing++
				t.Logf("%s: %q is not in %q", c.ID, w, f.Command())
			}
		}
	}
	if missing > found/10 {
		t.Errorf("%d words of risk are not in their texts, %d are", missing, found)
	}
}

func TestAnUnboundedCommandIsRisky(t *testing.T) {
	f := Examine(Call{Tool: "bash", Args: []byte(`{"command":"ls"}`), Cwd: "/p", Roots: []string{"/p"}, Platform: "linux"}, NewMemoryFS("linux"))
	if got := f.RiskUnder(BoundaryEnforced).Level; got != RiskLow {
		t.Errorf("inside the boundary: %s", got)
	}
	if got := f.RiskUnder(BoundaryAny).Level; got != RiskHigh {
		t.Errorf("outside: %s", got)
	}
	f = Examine(Call{Tool: "write", Args: []byte(`{"file_path":"a","content":""}`), Cwd: "/p", Roots: []string{"/p"}, Platform: "linux"}, NewMemoryFS("linux"))
	if got := f.RiskUnder(BoundaryAny).Level; got != RiskMedium {
		t.Errorf("a file in the workspace: %s", got)
	}
}
