package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// checkStretches holds for every list of parts: stretches lie in the text, ascend and do not overlap.
func checkStretches(t *testing.T, text string, parts []Part) {
	t.Helper()
	end := 0
	for _, p := range parts {
		if p.Start == 0 && p.End == 0 {
			continue
		}
		if p.Start < end || p.End <= p.Start || p.End > len(text) {
			t.Fatalf("%q: %q stands at %d:%d, after one that ended at %d", text, p.Text, p.Start, p.End, end)
		}
		end = p.End
		if utf8.ValidString(text) && !utf8.ValidString(text[p.Start:p.End]) {
			t.Fatalf("%q: %d:%d cuts a character", text, p.Start, p.End)
		}
	}
}

func TestPartStretch(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // the stretches, "" for none
	}{
		{"one command", "  ls -la  ", []string{"ls -la"}},
		{"after a cd", "cd src && go build ./... ; ls", []string{"cd src", "go build ./...", "ls"}},
		{"a pipeline", "cat a.txt | grep 'x y' |& wc -l &", []string{"cat a.txt", "grep 'x y'", "wc -l"}},
		{"more than one byte", "echo 'grüße 世界' && rm ünï", []string{"echo 'grüße 世界'", "rm ünï"}},
		{"a subshell, a block, negated, timed", "(rm a; { rm b; }) || ! rm c; time rm d", []string{"rm a", "rm b", "rm c", "rm d"}},
		{"with its redirections", "2>&1 >out.txt echo a <in.txt b; ls", []string{"2>&1 >out.txt echo a <in.txt b", "ls"}},
		{"without the here-document", "cat <<E | rm -f x\nfoo\nE\nls", []string{"cat <<E", "rm -f x", "ls"}},
		{"with assignments", "A=1 make all; B=2", []string{"A=1 make all", "B=2"}},
		{"joined lines", "make \\\n  all && ls", []string{"make \\\n  all", "ls"}},
		{"compound", "if test -f a; then rm a; else for i in a b; do rm $i; done; fi", []string{"test -f a", "rm a", "", "rm $i"}},
		{"a function", "f() { rm x; }; f", []string{"rm x", "f"}},
		{"declared and tested", "export A=1; [[ -f a ]] && rm a", []string{"export A=1", "[[ -f a ]]", "rm a"}},
		{"a text inside the text", `bash -c "rm x" && ls`, []string{`bash -c "rm x"`, "ls"}},
		{"the outer is new", "rm $(cat list)", []string{"rm $(cat list)", ""}},
		{"the inner is new", "echo $(curl x) && ls", []string{"", "curl x", "ls"}},
		{"inside a here-document", "cat <<E\n$(curl x)\nE\nls", []string{"cat <<E", "curl x", "ls"}},
		{"no shell text", "echo 'a", []string{"echo 'a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := examineText(t, tt.text).Parts()
			checkStretches(t, tt.text, parts)
			var got []string
			for _, p := range parts {
				got = append(got, tt.text[p.Start:p.End])
			}
			if strings.Join(got, "\x00") != strings.Join(tt.want, "\x00") {
				t.Errorf("%q, want %q (%+v)", got, tt.want, parts)
			}
		})
	}
}

// TestPartStretchInCases: whatever stands in the collection of cases, a part's stretch is that part: read again on its own
// it is the same command.
func TestPartStretchInCases(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(bytes.NewReader(text))
	scan.Buffer(nil, 1<<20)
	seen := 0
	for scan.Scan() {
		var c BatchCase
		if err := json.Unmarshal(scan.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		f := examineIn(c.Tool, c.Args)
		parts := f.Parts()
		checkStretches(t, f.Command(), parts)
		for _, p := range parts {
			if p.End == 0 || p.Text == f.Command() && p.State == PartOpaque {
				continue
			}
			seen++
			source := f.Command()[p.Start:p.End]
			file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(source), "")
			if err != nil && !strings.Contains(err.Error(), "here-document") {
				t.Errorf("%s: %q of %q is no command: %v", c.ID, source, f.Command(), err)
				continue
			}
			if err == nil && len(file.Stmts) != 1 {
				t.Errorf("%s: %q of %q is %d commands", c.ID, source, f.Command(), len(file.Stmts))
			}
			if len(p.Words) == 0 || strings.Contains(source, "<<") || strings.Contains(source, "$") {
				continue // it means something else without what stands around it
			}
			if alone := examineText(t, source).Parts(); !containsPart(alone, p) {
				t.Errorf("%s: %q of %q gives %+v, want %+v", c.ID, source, f.Command(), alone, p)
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d parts have a stretch", seen)
	}
}

func containsPart(list []Part, p Part) bool {
	for _, other := range list {
		if len(other.Words) > 0 && other.Words[0] == p.Words[0] {
			return true
		}
	}
	return false
}

func TestPartWhy(t *testing.T) {
	rule := func(text string) SourcedRule {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		return SourcedRule{Rule: r, List: ListAllow, Source: SourceGlobal, Boundary: BoundaryAny}
	}
	tests := []struct {
		name, text string
		mode       Mode
		rules      []string
		state, why string
	}{
		{"safe read", "ls", ModeAsk, nil, PartCovered, WhySafeRead},
		{"rule", "touch --  x", ModeAsk, []string{"Bash(touch:*)"}, PartCovered, "bash(touch:*)"},
		{"rule for the command, none for its file", "touch x > out", ModeAsk, []string{"Bash(touch:*)"}, PartNew, ""},
		{"rules for both", "touch x > out", ModeAsk, []string{"Bash(touch:*)", "Write(out)"}, PartCovered, "bash(touch:*)"},
		{"accepted edit", "echo a > b.txt", ModeAcceptEdits, nil, PartCovered, WhyAcceptEdits},
		{"nothing", "rm x", ModeAsk, nil, PartNew, ""},
		{"opaque", "$X", ModeAsk, nil, PartOpaque, "command name is not literal"},
		{"no shell text", "echo 'a", ModeAsk, nil, PartOpaque, "cannot be parsed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := examineText(t, tt.text)
			in := Input{Facts: f, Session: Session{Mode: tt.mode}, Boundary: BoundaryAny}
			for _, text := range tt.rules {
				in.Rules.Rules = append(in.Rules.Rules, rule(text))
			}
			parts := TagParts(f, in)
			if len(parts) != 1 || parts[0].State != tt.state || parts[0].Why != tt.why {
				t.Errorf("%+v, want %s %q", parts, tt.state, tt.why)
			}
		})
	}
}
