package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/backend/pathid"
)

// PowerShell, cmd and the paths of Windows, judged on every platform.
func TestWindowsCases(t *testing.T) { judge(t, "testdata/windows.jsonl", nil) }

// windowsFacts examines a text as PowerShell or cmd on Windows.
func windowsFacts(tb testing.TB, shell, text string) *Facts {
	tb.Helper()
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		tb.Fatal(err)
	}
	m := NewMemoryFS(pathid.Windows)
	m.Dir(`C:\w\sub`)
	m.Dir(`C:\Users\u`)
	return Examine(Call{
		Tool: "PowerShell", Shell: shell, Args: args, Cwd: `C:\w`, Roots: []string{`C:\w`}, Home: `C:\Users\u`, Platform: pathid.Windows,
	}, m)
}

func decideWindows(tb testing.TB, shell, text string, mode Mode, rules ...SourcedRule) Verdict {
	tb.Helper()
	return Decide(Input{
		Facts: windowsFacts(tb, shell, text), Authority: AgentAuthority("a", "b"), Session: Session{Mode: mode, Interactive: true},
		Rules: RuleSet{Rules: rules}, Boundary: BoundaryAny,
	})
}

// touches reports whether the text reads (or writes, or removes) the path.
func touches(f *Facts, path string, write, remove bool) bool {
	for i := range f.accesses {
		a := &f.accesses[i]
		if a.write == write && (!remove || a.remove) && slices.Contains(a.keys, matchKey(pathid.Windows, path)) {
			return true
		}
	}
	return false
}

// Every parameter of the table that names a file is bound, by its name, by a colon and, where it takes words without
// one, by its place.
func TestCmdletTable(t *testing.T) {
	const path = `C:\secret\a`
	for _, row := range cmdletTable {
		for name := range strings.FieldsSeq(row.names) {
			c := cmdlets[strings.ToLower(name)]
			for _, p := range c.params {
				texts := []string{
					fmt.Sprintf(`%s -%s %s`, name, p.name, path), fmt.Sprintf(`%s -%s:%s`, name, p.name, path),
					fmt.Sprintf(`%s -%s '%s' -Verbose`, strings.ToUpper(name), strings.ToLower(p.name), path),
					fmt.Sprintf(`$p = @{ %s = '%s' }; %s @p`, p.name, path, name),
				}
				for i, operand := range c.operands {
					if operand.name == p.name {
						texts = append(texts, name+strings.Repeat(" x", i)+" "+path)
					}
				}
				for _, text := range texts {
					f := windowsFacts(t, "powershell", text)
					read, write := touches(f, path, false, false), touches(f, path, true, false)
					switch p.role {
					case 'r':
						if !read {
							t.Errorf("%s: not read", text)
						}
					case 'w', 'n', 'd':
						if !write {
							t.Errorf("%s: not written", text)
						}
					case 'm', 'b':
						if !read || !write {
							t.Errorf("%s: read %v, written %v", text, read, write)
						}
					case 'v', 'c':
						if write {
							t.Errorf("%s: written, though it is a value", text)
						}
					}
					if p.role == 'd' && !touches(f, path, true, true) {
						t.Errorf("%s: not removed", text)
					}
				}
			}
		}
	}
}

// Every alias is its cmdlet, for a rule that names either.
func TestCmdletAliases(t *testing.T) {
	for alias, canonical := range cmdletAliases {
		if strings.ContainsAny(alias, "%?") {
			continue // no rule can name them as a program
		}
		for _, c := range [...]struct{ rule, text string }{{alias, canonical}, {canonical, alias}, {canonical, strings.ToUpper(alias)}} {
			deny := SourcedRule{Rule: mustRule(t, "powershell("+c.rule+":*)"), List: ListDeny}
			if v := decideWindows(t, "powershell", c.text+" x", ModeBypass, deny); v.Outcome != Deny {
				t.Errorf("%s passed a deny of %s: %s", c.text, c.rule, v.Outcome)
			}
		}
	}
	for alias, canonical := range cmdAliases {
		deny := SourcedRule{Rule: mustRule(t, "powershell("+canonical+":*)"), List: ListDeny}
		if v := decideWindows(t, "cmd", alias+" x", ModeBypass, deny); v.Outcome != Deny {
			t.Errorf("%s passed a deny of %s: %s", alias, canonical, v.Outcome)
		}
	}
}

// Nothing that runs something else is covered by a rule for its name.
func TestForeignRunners(t *testing.T) {
	for _, c := range [...]struct {
		shell   string
		runners map[string]bool
	}{{"powershell", powerShellRunners}, {"powershell", powerShellKeywords}, {"cmd", cmdRunners}} {
		for name := range c.runners {
			allow := SourcedRule{Rule: mustRule(t, "powershell("+name+":*)"), List: ListAllow, Boundary: BoundaryAny}
			if v := decideWindows(t, c.shell, name+" x", ModeAsk, allow); v.Outcome == Allow {
				t.Errorf("%s: %s is allowed by a rule for its name", c.shell, name)
			}
		}
	}
}

// Every row of the table of programs binds its operands.
func TestNativeTable(t *testing.T) {
	const path = `C:\secret\a`
	for _, row := range nativeTable {
		for name := range strings.FieldsSeq(row.names) {
			if cmdRunners[name] && name != "start" && name != "subst" || name == "rem" || cmdlets[name] != nil {
				continue
			}
			check := func(text string, role byte) {
				f := windowsFacts(t, "cmd", text)
				read, write := touches(f, path, false, false), touches(f, path, true, false)
				if strings.IndexByte("rbm", role) >= 0 && !read || strings.IndexByte("wbmd", role) >= 0 && !write {
					t.Errorf("%s: read %v, written %v", text, read, write)
				}
			}
			for i := range row.operands {
				check(name+strings.Repeat(" x", i)+" "+path, row.operands[i])
				check(name+strings.Repeat(" x", i)+` "`+path+`"`, row.operands[i])
			}
			for option := range strings.FieldsSeq(row.options) {
				i := strings.LastIndexByte(option, ':')
				check(name+" "+option[:i]+":"+path, option[i+1])
				check(name+" "+strings.ToUpper(option[:i])+" "+path, option[i+1])
			}
			for below := range strings.FieldsSeq(row.below) {
				if row.operands[0] != 'd' || below == "*" {
					continue
				}
				if target := windowsFacts(t, "cmd", name+" "+below+` C:\Windows`).destroys(); target == "" {
					t.Errorf("%s %s removes a system directory", name, below)
				}
			}
		}
	}
}

// Every variable that stands for a known place is that place.
func TestHomeVariables(t *testing.T) {
	for name, want := range homeVariables {
		want = strings.Replace(want, "~", `C:\Users\u`, 1) + `\x`
		texts := []string{"sc ${" + name + `}\x y`, `"y" > "${` + name + `}\x"`}
		if !strings.ContainsAny(name, "()") {
			texts = append(texts, "sc $"+name+`\x y`)
		}
		for _, text := range texts {
			if f := windowsFacts(t, "powershell", text); !touches(f, want, true, false) {
				t.Errorf("%s does not write %s", text, want)
			}
		}
		if env, ok := strings.CutPrefix(name, "env:"); ok {
			text := "echo y > %" + env + `%\x`
			if f := windowsFacts(t, "cmd", text); !touches(f, want, true, false) {
				t.Errorf("%s does not write %s", text, want)
			}
		}
	}
}

// What holds no files is no path, and no rule covers a change of it.
func TestProviders(t *testing.T) {
	for name := range providers {
		f := windowsFacts(t, "powershell", "Get-Content "+name+":x")
		if len(f.accesses) > 0 {
			t.Errorf("%s: is taken for a path", name)
		}
		if f := windowsFacts(t, "powershell", "Set-Content "+name+":x y"); f.Opaque() == "" {
			t.Errorf("%s: a change of it is not opaque", name)
		}
	}
}

// A builtin of cmd ends where a sign begins.
func TestCmdInternal(t *testing.T) {
	for name := range cmdInternal {
		deny := SourcedRule{Rule: mustRule(t, "powershell("+name+":*)"), List: ListDeny}
		for _, text := range []string{name + "/x y", name + ". y", strings.ToUpper(name) + "/x", "@" + name + " y"} {
			if v := decideWindows(t, "cmd", text, ModeBypass, deny); v.Outcome != Deny {
				t.Errorf("%s passed a deny of %s: %s", text, name, v.Outcome)
			}
		}
	}
}

// The raw devices of Windows used to be compared with a path that was never filled in.
func TestRawDevices(t *testing.T) {
	for _, c := range []struct {
		path string
		raw  bool
	}{
		{`\\.\PhysicalDrive0`, true}, {`//./physicaldrive1`, true}, {`\\?\PhysicalDrive0`, true}, {`\\.\C:`, true}, {`\\.\Harddisk0Partition1`, true},
		{`\\?\Volume{4c1b02c1}`, true}, {`\\?\Volume{4c1b02c1}\x`, false}, {`\\.\C:\x`, false}, {`C:\x`, false}, {`\\.\pipe\x`, false},
		{`\\?\GLOBALROOT\Device\Harddisk0\Partition0`, true}, {`PhysicalDrive0`, false},
	} {
		if got := isBlockDevice(pathid.Windows, c.path); got != c.raw {
			t.Errorf("isBlockDevice(%q) = %v", c.path, got)
		}
	}
}

func TestDecodeCommand(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ok         bool
	}{
		{"cgBtACAAeAA=", "rm x", true}, {"cgBtACAAeAA", "rm x", true}, {"", "", false}, {"!", "", false}, {"cg", "", false},
		{strings.Repeat("A", maxEncoded+1), "", false},
	} {
		if got, ok := decodeCommand(c.text); got != c.want || ok != c.ok {
			t.Errorf("decodeCommand(%.20q) = %q, %v", c.text, got, ok)
		}
	}
}

// genCased spells a name in any letter case.
func genCased(name string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		out := []byte(name)
		for i := range out {
			if rapid.Bool().Draw(t, "upper") {
				out[i] = strings.ToUpper(string(out[i]))[0]
			}
		}
		return string(out)
	})
}

// someStands are places at which a command may stand; % is the command.
var someStands = []string{
	"%", "ls; %", "ls && %", "ls | %", "ls\n%", "if (1) { % }", "if (0) {} else { % }", "$x = %", "echo $(%)", "echo \"a $(%) b\"", "& { % }",
	"(%)", "@(%)", "foreach ($i in 1..3) { % }", "while (1) { % }", "try { % } catch {}", "function f { % }; f", "ls | % { % }", "return %",
	"@{ a = % }", "% 2>&1", "% > x", "icm { % }", "switch (1) { 1 { % } }", "echo a, (%)", "ls -Path:(%)", "begin { % }", "do { % } until (1)",
}

// A deny on a name matches, whatever letter case, alias, quotes and escapes the name is written in and wherever it
// stands.
func TestPowerShellSpellings(t *testing.T) {
	names := slices.Sorted(maps.Keys(aliasesOf))
	rapid.Check(t, func(t *rapid.T) {
		canonical := rapid.SampledFrom(names).Draw(t, "cmdlet")
		name := rapid.SampledFrom(append([]string{canonical}, aliasesOf[canonical]...)).Draw(t, "name")
		rule := rapid.SampledFrom(append([]string{canonical}, aliasesOf[canonical]...)).Filter(func(s string) bool { return !strings.ContainsAny(s, "%?") }).Draw(t, "rule")
		deny, err := ParseRule("powershell(" + rule + ":*)")
		if err != nil {
			t.Fatal(err)
		}
		spelled := genCased(name).Draw(t, "cased")
		plain := regexp.MustCompile(`^[A-Za-z-]+$`).MatchString(spelled)
		switch how := rapid.IntRange(0, 5).Draw(t, "how"); {
		case how == 1 && plain && !powerShellKeywords[strings.ToLower(spelled)]:
			i := rapid.IntRange(0, len(spelled)-1).Draw(t, "tick")
			spelled = spelled[:i] + "`" + spelled[i:]
		case how == 2:
			spelled = "& '" + spelled + "'"
		case how == 3:
			spelled = `& "` + spelled + `"`
		case how == 4 && plain:
			i := rapid.IntRange(0, len(spelled)-1).Draw(t, "cut")
			spelled = "& ('" + spelled[:i] + "'+'" + spelled[i:] + "')"
		case how == 5 && name == canonical:
			spelled = "Some.Module\\" + spelled
		}
		text := strings.ReplaceAll(rapid.SampledFrom(someStands).Draw(t, "stand"), "%", spelled+" x")
		facts := windowsFactsOf("powershell", text)
		v := Decide(Input{
			Facts: facts, Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true},
			Rules: RuleSet{Rules: []SourcedRule{{Rule: deny, List: ListDeny}}}, Boundary: BoundaryAny,
		})
		if v.Outcome != Deny {
			t.Fatalf("%q passed a deny of %s: %s", text, rule, v.Outcome)
		}
	})
}

// someCmdStands are places at which a command of cmd may stand; ~ is the command.
var someCmdStands = []string{
	"~", "dir & ~", "dir && ~", "dir || ~", "dir | ~", "dir\n~", "(~)", "(dir & ~)", "if exist x ~", "if not exist x ~", "if a==b ~", "if exist x (~) else dir",
	"for %i in (a) do ~", "for %i in (a) do (dir & ~)", "@~", "call ~", "cmd /c ~", "cmd /c \"~\"", "start \"\" ~", "~ > x", "dir>nul&~", "> x ~",
}

func TestCmdSpellings(t *testing.T) {
	names := []string{"del", "erase", "rd", "rmdir", "copy", "move", "git", "format", "reg"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		deny, err := ParseRule("powershell(" + name + ":*)")
		if err != nil {
			t.Fatal(err)
		}
		spelled := genCased(name).Draw(t, "cased")
		i := rapid.IntRange(0, len(spelled)-1).Draw(t, "at")
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 1:
			spelled = spelled[:i] + "^" + spelled[i:]
		case 2:
			spelled = spelled[:i] + `""` + spelled[i:]
		}
		text := strings.ReplaceAll(rapid.SampledFrom(someCmdStands).Draw(t, "stand"), "~", spelled+" x")
		v := Decide(Input{
			Facts: windowsFactsOf("cmd", text), Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true},
			Rules: RuleSet{Rules: []SourcedRule{{Rule: deny, List: ListDeny}}}, Boundary: BoundaryAny,
		})
		if v.Outcome != Deny {
			t.Fatalf("%q passed a deny of %s: %s", text, name, v.Outcome)
		}
	})
}

// plainLists are the only texts that an allow rule for git may cover, said in another way than the readers do.
var plainLists = map[string]*regexp.Regexp{
	"powershell": plainList("[ \t\n;|]|&&", `(?:-[A-Za-z]+:)?(?:[\w./:\\=+-]|[^\x00-\x7f\x{2013}-\x{2015}\x{2018}-\x{201e}]|'[^'\n]*'|"[^"$`+"`"+`\n]*")+`, `[0-9*]?>{1,2}(?:&[0-9]|[ \t]*\$null)`),
	"cmd":        plainList(`[ \t\n|&]`, `(?:[\w./:\\+#~{}\[\]'-]|[^\x00-\x7f]|"[^"%!^\n]*")+`, `[0-9]?>{1,2}(?:&[0-9]|[ \t]*(?i:nul))`),
}

// plainList is a list of git with words, between separators; a redirection to nothing, or of one descriptor to
// another, may stand before and behind each.
func plainList(separator, word, redirect string) *regexp.Regexp {
	redirects := `(?:[ \t]*` + redirect + `)*`
	return regexp.MustCompile(`^(?:` + separator + `|` + redirects + `[ \t]*git(?:[ \t]+` + word + `|[ \t]*` + redirect + `)*)+$`)
}

var somePieces = []string{
	"git", "git", "git status", "git", " ", " ", " ", ";", "|", "||", "&&", "&", "\n", "'a b'", `"a b"`, "''", `"`, "'", "$x", "$(git)", "(", ")", "{", "}", "@x", "`", "^",
	"%x%", "!x!", ">", ">>", "2>&1", "x", "-x", "-x:y", ",", "*", "~", "#", "<#", "#>", "--%", "iex", "rm", "cd ..", "=", "\\", "a\\b", "$null", " nul", "\"$x\"", ".", "[x]", "@'", "\n'@",
}

// Nothing but plain words is covered by a rule.
func TestForeignAllowsPlainWordsOnly(t *testing.T) {
	allow, err := ParseRule("powershell(git:*)")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		shell := rapid.SampledFrom([]string{"powershell", "cmd"}).Draw(t, "shell")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(somePieces), 1, 9).Draw(t, "pieces"), "")
		v := Decide(Input{
			Facts: windowsFactsOf(shell, text), Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeAsk, Interactive: true},
			Rules: RuleSet{Rules: []SourcedRule{{Rule: allow, List: ListAllow, Boundary: BoundaryAny}}}, Boundary: BoundaryAny,
		})
		if v.Outcome == Allow && !plainLists[shell].MatchString(text) {
			t.Fatalf("%s: %q was allowed", shell, text)
		}
	})
}

// windowsFactsOf is windowsFacts where there is no testing.TB.
func windowsFactsOf(shell, text string) *Facts {
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		panic(err)
	}
	return Examine(Call{
		Tool: "PowerShell", Shell: shell, Args: args, Cwd: `C:\w`, Roots: []string{`C:\w`}, Home: `C:\Users\u`, Platform: pathid.Windows,
	}, NewMemoryFS(pathid.Windows))
}

// foreignSoups are texts of nothing but one unit, at the limit of what is read.
var foreignSoups = []string{
	"(", "{", "$(", "@{", "\"$(", "a;", "a|", "a&", "'", "\"", "`", "$a ", "a,", "rm ", "rm C:\\*;", "if(1){", "$a=a;", "iex 'a';", "powershell ", "cmd /c ", "start ",
	"%a%", "^", "!a!", "(a ", "for %i in (a) do ", "if a==b ", "[a]::b('c')", "a > b;", "@a ", "<#", "#", "-a:b ", "a[", "foreach ", "$a.b(", "cd a;", "\\\\?\\C:\\", "@'\n", "1>",
	"set a=b&", "call ", "gci|", "rm $_;", "%{", "'a'+", "GIT~1\\",
}

// A text at the limit is decided in milliseconds; the bound here only catches what grows faster than its length. A
// denied command at its end is still denied, or the text is opaque and asks.
func TestForeignSoup(t *testing.T) {
	deny := SourcedRule{Rule: mustRule(t, "powershell(rm:*)"), List: ListDeny}
	for _, shell := range []string{"powershell", "cmd"} {
		for _, unit := range foreignSoups {
			text := strings.Repeat(unit, MaxCommand/len(unit)-2) + "\nrm x"
			start := time.Now()
			v := decideWindows(t, shell, text, ModeBypass, deny)
			if took := time.Since(start); took > runaway {
				t.Errorf("%s: %q took %s", shell, unit, took)
			}
			if v.Outcome == Allow {
				t.Errorf("%s: %q hid a denied command", shell, unit)
			}
		}
	}
}

func BenchmarkForeignSoup(b *testing.B) {
	for _, shell := range []string{"powershell", "cmd"} {
		for _, unit := range foreignSoups {
			b.Run(shell+"/"+strings.TrimSpace(unit), func(b *testing.B) {
				text := strings.Repeat(unit, MaxCommand/len(unit))
				in := Input{Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true}, Rules: benchRules(b, 10)}
				b.ReportAllocs()
				for b.Loop() {
					in.Facts = windowsFactsOf(shell, text)
					Decide(in)
				}
			})
		}
	}
}

// fuzzForeign checks what must hold for any text of a shell.
func fuzzForeign(f *testing.F, shell string, seeds []string) {
	for _, text := range seeds {
		f.Add(text)
	}
	deny := SourcedRule{Rule: mustRule(f, "powershell(rm:*)"), List: ListDeny}
	allow := SourcedRule{Rule: mustRule(f, "powershell(git:*)"), List: ListAllow, Boundary: BoundaryAny}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		facts := windowsFacts(t, shell, text)
		in := Input{
			Facts: facts, Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeAsk, Interactive: true},
			Rules: RuleSet{Rules: []SourcedRule{deny, allow}}, Boundary: BoundaryAny,
		}
		careful := Decide(in)
		checkStretches(t, facts.Command(), TagParts(facts, in))
		SuggestRules(facts, careful, in)
		facts.Risk()
		in.Session.Mode = ModeBypass
		bold := Decide(in)
		if took := time.Since(start); took > fuzzLimit {
			t.Fatalf("%d bytes took %s", len(text), took)
		}
		if careful.Outcome == Allow && !plainLists[shell].MatchString(facts.Command()) {
			t.Fatalf("%q was allowed", text)
		}
		if facts.Opaque() != "" && bold.Outcome == Allow {
			t.Fatalf("opaque text (%s) passed a deny rule", facts.Opaque())
		}
		list := windowsFacts(t, shell, text+"\nrm x")
		in.Facts = list
		if v := Decide(in); v.Outcome == Allow {
			t.Fatalf("%q hid a denied command", text)
		}
	})
}

var powerShellSeeds = []string{
	"git status", "Remove-Item -Recurse C:\\x; ls", "gci C:\\Windows | % { rm -r $_.FullName }", "& ('r'+'m') x", "$p=@{Path='a'}; rm @p", "echo \"a $(rm x) b\"", "@'\na\n'@ > b",
	"powershell -enc cgBtACAAeAA=", "[IO.File]::WriteAllText('.git\\config', \"$x\")", "git --% a | b", "if (1) { a } else { b }", "gc -Path:a,b", "'x' 2>&1 > $null", "a `\n b", "<# a #> b # c",
	"${a b} = 1; $env:X\\y", "function f($a) { return rm $a }; f", "\u2018a\u2019 \u2013b", "foreach ($f in ls a) { sc $f b }", "cmd /c \"echo x > y\"",
}

var cmdSeeds = []string{
	"git status", "del /s C:\\x & dir", "rd/s/q %USERPROFILE%", "for /f %i in ('dir') do @del %i", "if exist a (b) else c", "set a=del\n%a% x", "d^el \"x y\"", "echo x>.git\\config",
	"cmd /s /c \"del x\"", "!a! & %a:~0,1%", "start \"\" /wait powershell -c rm x", "a 2>&1 <b >>c", "(a & (b))", "for %%i in (a b) do copy %%~fi c", "copy a+b c", "cd\\ & type x",
}

func FuzzPowerShell(f *testing.F) { fuzzForeign(f, "powershell", powerShellSeeds) }

func FuzzCmd(f *testing.F) { fuzzForeign(f, "cmd", cmdSeeds) }
