package policy

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/backend/pathid"
)

// The differential test compares what the analysis of a line found with what bash does when it runs that line in a box.
// Nothing here says how a shell works: the answer is bash's own.

// boxCall is the call that a line is, with the files of the box.
func boxCall(line string) (Call, pathid.FS) {
	args, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		panic(err)
	}
	m := NewMemoryFS(pathid.Linux)
	m.Dir(boxWork)
	m.Dir("/tmp")
	m.Dir("/root")
	for _, name := range []string{"a.txt", "b.txt", "rm", "zz", "sub/c.txt"} {
		m.File(boxWork+"/"+name, "text\n")
	}
	m.File(boxWork+"/script", "scripted\n")
	m.Link(boxWork+"/link", "sub/c.txt")
	m.File("/usr/bin/recorder", "")
	m.Link(boxWork+"/run", "/usr/bin/recorder")
	for _, name := range boxPrograms {
		m.Link("/usr/bin/"+name, "recorder")
	}
	m.Link("/bin", "usr/bin")
	return Call{Tool: "Bash", Args: args, Cwd: boxWork, Roots: []string{boxWork}, Home: boxHome, Platform: pathid.Linux}, m
}

// plainProgram is a name for which a rule can be written without quotes.
var plainProgram = regexp.MustCompile(`^[a-z]+$`)

// plainPath is a path for which a rule can be written without quotes.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9/._-]+$`)

// otherRules allow everything but one program.
var otherRules = func() func(tb testing.TB, name string) RuleSet {
	made := map[string]RuleSet{}
	return func(tb testing.TB, name string) RuleSet {
		if set, ok := made[name]; ok {
			return set
		}
		var set RuleSet
		allow := func(text string) {
			set.Rules = append(set.Rules, SourcedRule{Rule: mustRule(tb, text), List: ListAllow, Boundary: BoundaryAny, Source: SourceGlobal})
		}
		for _, other := range append([]string{"f", "g", "h", "q", "x"}, boxPrograms...) {
			if other != name && !interpreterName(other) {
				allow("bash(" + other + ":*)")
			}
		}
		for _, builtin := range []string{"cd", "read", "printf", "export", "declare", "test", "exec", "command", "set", "eval", "trap", "type", "unset"} {
			allow("bash(" + builtin + ":*)")
		}
		allow("write(/**)")
		allow("read(/**)")
		made[name] = set.Index()
		return made[name]
	}
}

// neverSafe are the programs that no line may run without a rule for them.
var neverSafe = set("rm mv curl make zz evil touch")

// differential compares lines with what ran.
type differential struct {
	tb     testing.TB
	others func(testing.TB, string) RuleSet
	lines  int
	seen   int // lines that ran something and were understood
}

func newDifferential(tb testing.TB) *differential { return &differential{tb: tb, others: otherRules()} }

// compare says what the analysis of a line missed of what bash did.
func (d *differential) compare(line string, did boxRun) []string {
	call, view := boxCall(line)
	f := Examine(call, view)
	in := Input{Facts: f, Authority: AgentAuthority("a", "b"), Session: Session{Interactive: true}, Boundary: BoundaryAny}
	decide := func(mode Mode, rules RuleSet) Verdict {
		in.Session.Mode, in.Rules = mode, rules
		return Decide(in)
	}
	deny := func(text string) RuleSet {
		return RuleSet{Rules: []SourcedRule{{Rule: mustRule(d.tb, text), List: ListDeny, Source: SourceGlobal}}}
	}
	d.lines++
	if len(did.ran)+len(did.changed) > 0 && f.Opaque() == "" {
		d.seen++
	}
	var wrong []string
	seen := map[string]bool{}
	for _, p := range did.ran {
		if seen[p.name] || p.name == "scripted" && f.runsFile() || p.name == "sh" && f.runsThroughShell() {
			continue
		}
		seen[p.name] = true
		name := baseName(pathid.Linux, p.name)
		found := f.Opaque() != "" || f.carries != ""
		for _, c := range f.commands {
			found = found || c.base == name
		}
		if !found {
			wrong = append(wrong, "ran "+strings.Join(p.args, " ")+", which was not found")
		}
		if !plainProgram.MatchString(name) {
			continue
		}
		if v := decide(ModeBypass, deny("bash("+name+":*)")); v.Outcome == Allow {
			wrong = append(wrong, "ran "+strings.Join(p.args, " ")+", which a rule denies: "+string(v.Reason))
		}
		if neverSafe[name] {
			if v := decide(ModeAsk, d.others(d.tb, name)); v.Outcome == Allow {
				wrong = append(wrong, "ran "+strings.Join(p.args, " ")+", which no rule allows: "+string(v.Reason))
			}
		}
	}
	for _, path := range did.changed {
		known := f.Opaque() != "" || slices.Contains(f.Writes(), path)
		for i := range f.accesses {
			a := &f.accesses[i]
			known = known || a.write && (a.dynamic || a.recursive || a.globbed && a.command >= 0 || a.denyOnly)
		}
		for _, c := range f.commands {
			known = known || len(c.options) > 0
		}
		for i := range f.possible { // a program's own option, which asks
			known = known || f.possible[i].resolved == path
		}
		if !known {
			wrong = append(wrong, "wrote "+path+", which was not found")
		}
		if !plainPath.MatchString(path) {
			continue
		}
		if v := decide(ModeBypass, deny("write("+path+")")); v.Outcome == Allow {
			wrong = append(wrong, "wrote "+path+", which a rule denies: "+string(v.Reason))
		}
		v := decide(ModeAsk, RuleSet{})
		if v.Outcome == Allow {
			wrong = append(wrong, "wrote "+path+" without a question: "+string(v.Reason))
		}
	}
	return wrong
}

// runsFile reports whether a command is one that runs the text of a file, which nobody reads here.
func (f *Facts) runsFile() bool {
	for _, c := range f.commands {
		if shells[c.base] && len(c.words) > 1 {
			return true
		}
	}
	return false
}

// runsThroughShell reports whether a program is among the commands that gives the text it runs to sh by itself.
func (f *Facts) runsThroughShell() bool {
	for _, c := range f.commands {
		switch c.base {
		case "flock", "script", "sed":
			return true
		}
	}
	return false
}

func (d *differential) run(t interface {
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, b *box, line string) {
	did, err := b.run(line)
	if err != nil {
		t.Fatalf("the box: %v, after %q", err, line)
	}
	for _, why := range d.compare(line, did) {
		t.Errorf("%q\n%s\n%s", line, line, why)
	}
}

// differentialTime bounds how long TestDifferential starts new rounds of lines: a slow machine runs fewer. FuzzDifferential
// goes on for as long as it is told (make soak).
const (
	differentialTime  = 10 * time.Second
	differentialLines = 2000
)

func TestDifferential(t *testing.T) {
	b := newBox(t)
	d := newDifferential(t)
	for start := time.Now(); !t.Failed() && d.lines < differentialLines && time.Since(start) < differentialTime; {
		rapid.Check(t, func(t *rapid.T) { d.run(t, b, genLine().Draw(t, "line")) })
	}
	t.Logf("%d lines, %d of them ran something and were understood", d.lines, d.seen)
}

// FuzzDifferential draws its lines from the same grammar, led by what they reach in the analysis.
func FuzzDifferential(f *testing.F) {
	b := newBox(f)
	d := newDifferential(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { d.run(t, b, genLine().Draw(t, "line")) }))
}

func TestDifferentialList(t *testing.T) {
	text, err := os.ReadFile("testdata/differential.txt")
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t)
	d := newDifferential(t)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || strings.HasPrefix(line, "## ") {
			continue
		}
		d.run(t, b, strings.NewReplacer("␤", "\n", "␍", "\r").Replace(line))
	}
	t.Logf("%d lines, %d of them ran something and were understood", d.lines, d.seen)
	if d.lines < 200 || d.seen < d.lines/8 {
		t.Errorf("of %d lines only %d ran something and were understood: this compares too little", d.lines, d.seen)
	}
}

// TestRanUnseen holds the lines with which the differential test first showed that bash runs or writes what the analysis
// did not see. Each must be denied, or ask, in bypass mode where a rule denies what happens.
func TestRanUnseen(t *testing.T) {
	for _, tt := range []struct{ name, line, rule string }{
		{"time takes an end of options", "time -- zz", "bash(zz:*)"},
		{"before a pipeline", "time -p -- zz | cat", "bash(zz:*)"},
		{"and then an assignment", "time -- x=1 zz", "bash(zz:*)"},
		{"of any kind", "time -- P+=git x=rm env -i zz", "bash(zz:*)"},
		{"and then a change of directory", "time -- cd sub; >out", "write(" + boxWork + "/sub/out)"},
		{"eval takes an end of options", "eval -- zz", "bash(zz:*)"},
		{"env takes any word with an equals sign", "env =x zz", "bash(zz:*)"},
		{"also one that is no name", "env a.b=c 'a b=c' zz", "bash(zz:*)"},
		{"env takes a dash", "env - zz", "bash(zz:*)"},
		{"sudo too, with options behind it", "sudo x=1 -u root zz", "bash(zz:*)"},
		{"a function comes through the environment", "env 'BASH_FUNC_ls%%=() { zz; }' bash -c ls", "bash(zz:*)"},
		{"jobs -x runs a program", "jobs -x zz x", "bash(zz:*)"},
		{"IFS splits elsewhere", "IFS=,; x=zz,y; $x", "bash(zz:*)"},
		{"an array in quotes is read again", "declare -A x='([a]=$(zz))'", "bash(zz:*)"},
		{"where the name is an array already", "x=(1); declare x='($(zz))'", "bash(zz:*)"},
		{"and where its text is not known", `x=(1); export x="$N"`, "bash(evil:*)"},
		{"numbers are evaluated when they are set", "RANDOM=N", "bash(evil:*)"},
		{"by a loop as well", "for OPTIND in N; do :; done", "bash(evil:*)"},
		{"a script on a descriptor", "bash /dev/stdin <<< zz", "bash(zz:*)"},
		{"of an interpreter", "python3 /dev/stdin <<< zz", "bash(zz:*)"},
		{"a pattern that matches nothing is a name", "zz >o*t", `write(` + boxWork + `/o\*t)`},
		{"xargs alone runs echo", "xargs <script", "bash(echo:*)"},
		{"a copy into a directory", "cp a.txt sub", "write(" + boxWork + "/sub/a.txt)"},
		{"named by an option", "cp -t sub a.txt", "write(" + boxWork + "/sub/a.txt)"},
		{"that is shortened", "cp --targ=sub a.txt", "write(" + boxWork + "/sub/a.txt)"},
		{"of several", "mv a.txt b.txt sub/", "write(" + boxWork + "/sub/b.txt)"},
		{"of a pattern", "cp *.txt sub", "write(" + boxWork + "/sub/b.txt)"},
		{"a copy of a directory", "cp -r sub s2", "write(" + boxWork + "/s2/c.txt)"},
		{"sed keeps a copy", "sed -i.bak s/t/T/ a.txt", "write(" + boxWork + "/a.txt.bak)"},
		{"script writes without being told", "script -c zz", "write(" + boxWork + "/typescript)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call, view := boxCall(tt.line)
			v := Decide(Input{
				Facts: Examine(call, view), Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true},
				Rules: RuleSet{Rules: []SourcedRule{{Rule: mustRule(t, tt.rule), List: ListDeny, Source: SourceGlobal}}}, Boundary: BoundaryAny,
			})
			if v.Outcome == Allow {
				t.Errorf("%q is allowed (%s) against %s", tt.line, v.Reason, tt.rule)
			}
		})
	}
}

// A dangerous file is written by a copy into its directory as well: no name of it stands at the end of the line.
func TestCopyOfADangerousFile(t *testing.T) {
	for _, line := range []string{"cp sub/.bashrc ../", "cp -t .. sub/.bashrc", "mv sub/.bashrc ~"} {
		call, view := boxCall(line)
		v := Decide(Input{Facts: Examine(call, view), Authority: AgentAuthority("a", "b"), Session: Session{Mode: ModeBypass, Interactive: true}, Boundary: BoundaryAny})
		if v.Outcome == Allow {
			t.Errorf("%q is allowed: %s", line, v.Reason)
		}
	}
}

// Nesting of every kind is decided without a deep recursion: here the stack is far smaller than what the parser would need
// for a text of this length.
func TestDeepNesting(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(8 << 20))
	for _, unit := range []struct{ open, close string }{
		{"(", ")"}, {"$(", ")"}, {"{ ", "; }"}, {"$((", "))"}, {"((", "))"}, {"${x:-", "}"}, {"[[ ( ", " ) ]]"}, {"\"$(", ")\""}, {"<(", ")"}, {"a[", "]"}, {"{a,", "}"},
		{"if a; then ", "; fi"}, {"while a; do ", "; done"}, {"case a in a) ", " ;; esac"}, {"f() { ", "; }"}, {"! ", ""}, {"time ", ""}, {"a | ", ""}, {"a && ", ""}, {"a || ", ""},
		{"eval ", ""}, {"sudo ", ""}, {"sh -c '", "'"}, {"find . -exec ", ""}, {"coproc ", ""}, {"((-", "))"}, {"`", "`"}, {"$[", "]"}, {"case a in (a) ", ""}, {"function f ", ""}, {"a=(", ")"}, {"until a; do ", ""}, {"select a in a; do ", ""},
	} {
		for _, depth := range []int{150, 300, MaxCommand / (len(unit.open) + len(unit.close) + 1)} {
			text := strings.Repeat(unit.open, depth) + "rm x" + strings.Repeat(unit.close, depth)
			if v := decideText(t, text, ModeBypass, SourcedRule{Rule: mustRule(t, "bash(rm:*)"), List: ListDeny}); v.Outcome == Allow && unit.open != "a[" && unit.open != "{a," && unit.open != "a=(" && unit.open != "[[ ( " {
				t.Errorf("%d of %q: %s", depth, unit.open, v.Reason)
			}
		}
	}
}
