package policy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/backend/pathid"
)

func FuzzParseRule(f *testing.F) {
	for _, text := range someRules {
		f.Add(text)
	}
	for _, text := range []string{`bash(echo \(a\) \\*)`, "mcp__a__b", "read({a,b}/**)", "bash('a b':*)", "bash([a-z]*)", "web_fetch(domain:*.a.b)", "bash(a (b (c)))"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			if !r.IsZero() {
				t.Fatal("an error came with a rule")
			}
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || !again.Equal(r) || again.String() != r.String() {
			t.Fatalf("%q printed as %q, read again as %q (%v)", text, r, again, err)
		}
	})
}

// fuzzLimit is far more than any text may take; it notices what grows faster than it should.
const fuzzLimit = 5 * time.Second

// runaway is longer than any text takes on a machine that is busy with other things.
const runaway = time.Minute

func FuzzExamine(f *testing.F) {
	for _, text := range []string{
		"ls -la", "rm$IFS-rf$IFS/", "X=rm; $X -rf x", "cat <<EOF\n$(rm x)\nEOF", "find . -exec sh -c 'rm {}' \\;",
		"env -S 'a b' c", "sudo -u root bash -lc \"rm x\"", "echo ${x:=$(id)}${x@P}", "f(){ f|f& };f", "{a,b}{c,d}",
		"$'\\x72m' x", "a[$(rm x)]=1", "[[ -v x ]]", "case $(a) in b) c;; esac", "for ((i=0;i<3;i++)); do :; done",
		"git -C x push", "cd a && cd .. ; ls ../*", "coproc a { b; }", "select x in a; do b; done", "echo *(e:'id':)",
		"exec {fd}>x", "trap 'rm x' EXIT", "tar xf x --checkpoint-action=exec=id", "xargs -I{} rm {}", "sed 's/a/b/w x' f",
	} {
		f.Add(text, uint8(0))
	}
	f.Add("Remove-Item -Recurse C:\\x; ls", uint8(1))
	f.Add("del /s C:\\x & dir", uint8(2))
	rules := RuleSet{Rules: []SourcedRule{
		{Rule: mustRule(f, "bash(rm:*)"), List: ListDeny}, {Rule: mustRule(f, "read(.env)"), List: ListDeny},
		{Rule: mustRule(f, "bash(git push:*)"), List: ListAsk}, {Rule: mustRule(f, "bash(git *)"), List: ListAllow, Boundary: BoundaryAny},
		{Rule: mustRule(f, "powershell(Remove-Item:*)"), List: ListDeny},
	}}
	f.Fuzz(func(t *testing.T, text string, shell uint8) {
		args, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Skip()
		}
		call := Call{Tool: "bash", Args: args, Cwd: "/home/u/w", Roots: []string{"/home/u/w"}, Home: "/home/u", Platform: pathid.Linux}
		m := NewMemoryFS(pathid.Linux)
		if shell%3 > 0 {
			call.Platform, call.Cwd, call.Roots, call.Home = pathid.Windows, `C:\w`, []string{`C:\w`}, `C:\Users\u`
			call.Tool, call.Shell = "PowerShell", []string{"", "powershell", "cmd"}[shell%3]
			m = NewMemoryFS(pathid.Windows)
		}
		start := time.Now()
		facts := Examine(call, m)
		in := Input{Facts: facts, Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true}, Rules: rules, Boundary: BoundaryAny}
		bold := Decide(in)
		in.Session.Mode = ModeAsk
		careful := Decide(in)
		facts.Risk()
		checkStretches(t, facts.Command(), TagParts(facts, in))
		SuggestRules(facts, careful, in)
		if took := time.Since(start); took > fuzzLimit {
			t.Fatalf("%d bytes took %s", len(text), took)
		}
		if facts.Opaque() != "" && bold.Outcome == Allow {
			t.Fatalf("opaque text (%s) passed deny rules in bypass mode", facts.Opaque())
		}
		if facts.Opaque() != "" && careful.Outcome == Allow {
			t.Fatalf("opaque text (%s) was allowed by %s", facts.Opaque(), careful.Reason)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, name := range []string{"a", "../x", ".git/x", "GIT~1/x", "a:b", "a.", "...", `\\?\C:\x`, "//srv/x", "/c/x", "C:x", "link/../x", "~/x", "\u200bx", "nul.txt"} {
		f.Add(name, uint8(0))
		f.Add(name, uint8(2))
	}
	f.Fuzz(func(t *testing.T, name string, platform uint8) {
		p := []pathid.Platform{pathid.Linux, pathid.MacOS, pathid.Windows}[platform%3]
		args, err := json.Marshal(map[string]string{"file_path": name})
		if err != nil {
			t.Skip()
		}
		root := batchRoots[p][0]
		m := NewMemoryFS(p)
		m.Dir(root)
		m.Link(pathid.Join(p, root, "link"), pathid.Dir(p, batchRoots[p][1]))
		facts := Examine(Call{Tool: "Write", Args: args, Cwd: root, Roots: []string{root}, Home: batchRoots[p][1], Platform: p}, m)
		v := Decide(Input{
			Facts: facts, Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeAcceptEdits, Interactive: true},
		})
		if v.Outcome != Allow {
			return
		}
		for _, path := range facts.Writes() {
			if !pathid.Contains(p, root, path) {
				t.Fatalf("%q leads to %q, outside the root, and was allowed", name, path)
			}
			if why := dangerousIn(plainNames(p, []string{root}, path)); why != "" {
				t.Fatalf("%q leads to %q (%s) and was allowed", name, path, why)
			}
		}
	})
}

func FuzzRunBatch(f *testing.F) {
	f.Add([]byte(`{"id":"a","tool":"Bash","args":{"command":"ls"},"mode":"ask","rules":{"deny":["Bash(rm:*)"]},"expected":"allow"}`))
	f.Add([]byte("{}\n\n{\"id\":1}\nnot json\n[1]"))
	f.Add([]byte(`{"tool":"Read","args":{"file_path":"link"},"files":{"x/":"","a":"b"},"links":{"link":"link"},"platform":"windows"}`))
	f.Add([]byte(`{"mode":"x"}` + "\n" + `{"platform":"x"}` + "\n" + `{"principal":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var out, errs bytes.Buffer
		if _, err := RunBatch(bytes.NewReader(text), &out, &errs, BatchOptions{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			var r BatchResult
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("the output is not JSON: %q", line)
			}
		}
	})
}
