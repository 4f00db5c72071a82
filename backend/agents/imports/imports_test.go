package imports

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/backend/policy"
)

var update = flag.Bool("update", false, "write testdata/*.report")

// files are rules as the agents really keep them; NAME.report is what they say here.
var files = map[string]string{
	"claude.settings.json": agentClaude, "codex.default.rules": agentCodex, "codex.config.toml": agentCodex,
	"gemini.auto-saved.toml": agentGemini, "gemini.settings.json": agentGemini, "opencode.jsonc": agentOpenCode,
}

func TestFiles(t *testing.T) {
	for name, agent := range files {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			report, err := Read(agent, name, data)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, e := range report.Entries {
				rules, codes := said([]Entry{e})
				fmt.Fprintf(&b, "%d %s %s => %s | exact %v %s\n", e.Line, e.List, e.Text, rules, e.Exact, codes)
			}
			golden := filepath.Join("testdata", name+".report")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want)
			}
		})
	}
}

// TestEveryCodeHasASentence: a code without one is shown to people as it is.
func TestEveryCodeHasASentence(t *testing.T) {
	place := regexp.MustCompile(`\{([a-z_]+)\}`)
	for _, language := range []string{"en", "zh-CN"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "app", "i18n", language+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := json.Unmarshal(data, &texts); err != nil {
			t.Fatal(err)
		}
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			text, ok := texts["import.differs."+code]
			if !ok {
				t.Errorf("%s has no import.differs.%s", language, code)
				continue
			}
			for _, m := range place.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(codes[code], m[1]) {
					t.Errorf("%s: import.differs.%s has the place %s, which the code does not give", language, code, m[1])
				}
			}
		}
		for key := range texts {
			if code, ok := strings.CutPrefix(key, "import.differs."); ok && !slices.Contains(slices.Collect(maps.Keys(codes)), code) {
				t.Errorf("%s: %s is no code", language, key)
			}
		}
	}
	// And every code in the source stands in the table, with all of its arguments.
	used := regexp.MustCompile(`\b(?:refuse|ineffective|differs|note|append)\((?:codes, )?"([a-z_]+)"((?:, [^)\n]*\)?)?)\)`)
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range used.FindAllStringSubmatch(string(data), -1) {
			if _, ok := codes[m[1]]; !ok && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s: %s is not in the table", name, m[1])
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, agent, file, data string
		line                    int
		is                      error
	}{
		{"an agent that is not known", "aider", "x.json", "{}", 0, ErrUnknownAgent},
		{"a file that is not known", agentClaude, "rules.toml", "", 0, ErrUnknownFile},
		{"a file without an extension", agentCodex, "rules", "", 0, ErrUnknownFile},
		{"too large", agentClaude, "settings.json", strings.Repeat(" ", MaxFile+1), 0, ErrTooLarge},
		{"too many", agentClaude, "settings.json", `{"permissions": {"deny": [` + strings.Repeat(`"Bash",`, MaxEntries) + `"Bash"]}}`, 0, ErrTooMany},
		{"half of a JSON text", agentClaude, "settings.json", "{\n\"permissions\": [", 2, nil},
		{"a key twice", agentOpenCode, "opencode.json", "{\"permission\": {\n\"bash\": \"ask\",\n\"bash\": \"allow\"}}", 3, nil},
		{"half of a TOML text", agentGemini, "a.toml", "[[rule]]\ntoolName = \"x", 2, nil},
		{"rule is no table", agentGemini, "a.toml", "x = 1\nrule = 3", 2, nil},
		{"an open bracket", agentCodex, "a.rules", "prefix_rule(\npattern=[\"a\"", 2, nil},
		{"an open string", agentCodex, "a.rules", "# x\nprefix_rule(pattern=[\"a])", 2, nil},
		{"a bracket that closes nothing", agentCodex, "a.rules", "]", 1, nil},
		{"brackets nested too deeply", agentCodex, "a.rules", strings.Repeat("[", 40), 1, nil},
		{"an escape that is not read", agentCodex, "a.rules", `x = "\x41"`, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(tt.agent, tt.file, []byte(tt.data))
			if tt.is != nil {
				if !errors.Is(err, tt.is) {
					t.Fatalf("got %v", err)
				}
				return
			}
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Line != tt.line || syntax.Problem == "" || syntax.File != tt.file {
				t.Fatalf("got %v (%+v)", err, syntax)
			}
		})
	}
}

// TestTooLong: a pattern that is not looked at must not make the rest of its list look complete.
func TestTooLong(t *testing.T) {
	long := "Bash(x " + strings.Repeat("y", MaxPattern) + ")"
	r, err := Read(agentClaude, "settings.json", []byte(`{"permissions": {"deny": ["`+long+`"], "allow": ["Bash(ls)"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	rules, codes := said(r.Entries)
	if rules != "" || codes != "too_long uncarried_before" || len(r.Entries[0].Text) > 100 {
		t.Errorf("%q %q %d", rules, codes, len(r.Entries[0].Text))
	}
}

// TestWhatIsLeftOutTakesAllowsWithIt: without the restriction they narrowed there, they would allow more here.
func TestWhatIsLeftOutTakesAllowsWithIt(t *testing.T) {
	const text = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git\"\ndecision = \"allow\"\npriority = 100\n" +
		"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"git (push|pull)\"\ndecision = \"deny\"\npriority = %d\n"
	for priority, want := range map[int]string{200: "", 50: "bash(git:*)"} {
		r, err := Read(agentGemini, "a.toml", fmt.Appendf(nil, text, priority))
		if err != nil {
			t.Fatal(err)
		}
		if rules, codes := said(r.Entries); rules != want {
			t.Errorf("with priority %d: %q %q", priority, rules, codes)
		}
	}
}

func TestAllowsWereUnbounded(t *testing.T) {
	r, err := Read(agentClaude, "settings.json", []byte(`{"permissions": {"deny": ["Bash(x)"], "allow": ["Bash(ls)"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.Entries[0].Boundary != "" || r.Entries[1].Boundary != policy.BoundaryAny || !r.Entries[1].Exact {
		t.Errorf("%+v", r.Entries)
	}
}

func TestPlaces(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	rules := filepath.Join(home, ".codex", "rules")
	if err := os.MkdirAll(rules, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"team.rules", "a.rules", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(rules, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{
		agentClaude: "P/.claude/settings.local.json P/.claude/settings.json H/.claude/settings.json",
		agentCodex: "P/.codex/rules/default.rules P/.codex/config.toml H/.codex/rules/a.rules H/.codex/rules/default.rules " +
			"H/.codex/rules/team.rules H/.codex/config.toml",
		agentGemini: "P/.gemini/policies/auto-saved.toml P/.gemini/settings.json H/.gemini/policies/auto-saved.toml H/.gemini/settings.json",
		agentOpenCode: "P/.opencode/opencode.jsonc P/.opencode/opencode.json P/opencode.jsonc P/opencode.json " +
			"H/.config/opencode/opencode.jsonc H/.config/opencode/opencode.json H/.config/opencode/config.json",
	}
	for _, agent := range Agents() {
		places, err := Places(agent, home, project)
		if err != nil {
			t.Fatal(err)
		}
		got := filepath.ToSlash(strings.Join(places, " "))
		got = strings.NewReplacer(filepath.ToSlash(home), "H", filepath.ToSlash(project), "P").Replace(got)
		if got != want[agent] {
			t.Errorf("%s: %s", agent, got)
		}
		for _, place := range places {
			if _, err := Read(agent, place, nil); err != nil {
				t.Errorf("%s: an empty file: %v", place, err)
			}
		}
	}
	if _, err := Places("aider", home, project); !errors.Is(err, ErrUnknownAgent) {
		t.Errorf("got %v", err)
	}
}

// FuzzRead: whatever a file holds, every entry says what became of it, and every rule is one of ours.
func FuzzRead(f *testing.F) {
	for name, agent := range files {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(agent, filepath.Ext(name), data)
	}
	for _, seed := range []string{"x = [\n", "f(a=\"\\", "f(a='''\n''')", "#", "f(a=[[]],)", "for x in y:\n  z\n\n  z\nf()"} {
		f.Add(agentCodex, ".rules", []byte(seed))
	}
	f.Add(agentClaude, ".json", []byte(`{"permissions":{"deny":["Bash(* * *)","Bash(\\)","Read(\\)","Read({)","mcp____","Bash('*'x*y*z*)"]}}`))
	f.Add(agentOpenCode, ".json", []byte(`{"permission":{"edit":{"*a*b*c*d*":"deny","":"allow"},"bash":{"?":"allow","":"deny"}},"agent":[]}`))
	f.Fuzz(func(t *testing.T, agent, ext string, data []byte) {
		r, err := Read(agent, "f"+ext, data)
		if err != nil {
			return
		}
		for _, e := range r.Entries {
			if (!e.Exact || len(e.Rules) == 0) && len(e.Differs) == 0 || e.Exact && len(e.Rules) == 0 {
				t.Errorf("%+v says nothing of how it differs", e)
			}
			for _, text := range e.Rules {
				if rule, err := policy.ParseRule(text); err != nil || rule.String() != text {
					t.Errorf("%q is no rule as we write it: %v", text, err)
				}
			}
			for _, d := range e.Differs {
				if names, ok := codes[d.Code]; !ok || len(names) != len(d.Args) {
					t.Errorf("%+v: its arguments are %v", d, names)
				}
			}
		}
	})
}
