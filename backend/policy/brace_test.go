package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sequences of letters were kept as one word that was thought to be tame, so git diff{t..t}{o..o}{o..o}{l..l} was a safe
// read, and several braces gave their words in another order than the shell's. The words here are what bash 5.2 prints.
func TestBraces(t *testing.T) {
	for text, want := range map[string][]string{
		"diff{t..t}{o..o}{o..o}{l..l}": {"difftool"},
		"{a,b}{1,2}":                   {"a1", "a2", "b1", "b2"},
		"{c..a}":                       {"c", "b", "a"},
		"{1..6..2}":                    {"1", "3", "5"},
		"{6..1..2}":                    {"6", "4", "2"},
		"{1..2..0}":                    {"1", "2"},
		"x{-1..1}":                     {"x-1", "x0", "x1"},
		"{a..1}":                       {"{a..1}"},
		"{a}":                          {"{a}"},
		"{a..c,d}":                     {"a..c", "d"},
		`{"a",b}`:                      {"a", "b"},
		`"{a,b}"`:                      {"{a,b}"},
		"HEAD@{1}..HEAD@{2}":           {"HEAD@{1}..HEAD@{2}"},
	} {
		f := examineText(t, "echo "+text)
		if why := f.Opaque(); why != "" {
			t.Errorf("%s is opaque: %s", text, why)
			continue
		}
		if diff := cmp.Diff(want, f.commands[0].texts()[1:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	// What is not expanded exactly is not known, and what bash may read in another way is opaque.
	for _, text := range []string{"{01..3}", "{Z..a}", "{1..100000}", "{..{1..3}..}", "{$,x}HOME", "{~,x}root"} {
		f := examineText(t, "echo "+text)
		if why := f.unsafeText(); why == "" {
			t.Errorf("%s is thought to be understood: %q", text, f.commands[0].texts())
		}
	}
}
