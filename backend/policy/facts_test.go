package policy

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/pathid"
)

func examineText(t testing.TB, text string) *Facts {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		t.Fatal(err)
	}
	return examineIn("Bash", args)
}

func TestFacts(t *testing.T) {
	f := examineText(t, "cat a.txt > out.txt; rm src/main.go; cat link")
	if f.Tool() != "bash" || f.AgentTool() != "Bash" || f.Command() != "cat a.txt > out.txt; rm src/main.go; cat link" || f.Opaque() != "" {
		t.Errorf("tool %s/%s, command %q, opaque %q", f.Tool(), f.AgentTool(), f.Command(), f.Opaque())
	}
	if diff := cmp.Diff([]string{"/home/u/w/a.txt", "/etc/passwd"}, f.Reads()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/home/u/w/out.txt", "/home/u/w/src/main.go"}, f.Writes()); diff != "" {
		t.Error(diff)
	}
	if f := examineText(t, "$X"); f.Opaque() == "" {
		t.Error("an unknown command is not opaque")
	}
	if f := examineIn("WebFetch", json.RawMessage(`{"urls":["https://B.example","https://a.example"]}`)); !slices.Equal(f.Hosts(), []string{"b.example", "a.example"}) {
		t.Errorf("hosts %v", f.Hosts())
	}
}

func TestExamineWithoutAView(t *testing.T) {
	for _, tool := range []string{"Bash", "Read", "Write", "Grep", "PowerShell", "", "x"} {
		for _, args := range []string{"", "null", "[]", `"x"`, "{", `{"command":"git status; ls *; cat a","file_path":"a","path":"b"}`, `{"command":{"a":1},"path":{}}`} {
			f := Examine(Call{Tool: tool, Args: json.RawMessage(args)}, nil)
			v := Decide(Input{Facts: f, Authority: AgentAuthority("a", "b"), Session: Session{Interactive: true, Attended: true}})
			if v.Outcome == Allow {
				t.Errorf("%s %s in no directory was allowed: %s", tool, args, v.Reason)
			}
		}
	}
}

func TestParts(t *testing.T) {
	f := examineText(t, "git status && npm test > log.txt; FOO=1 make 'a b' | $X")
	in := Input{Facts: f, Rules: RuleSet{Rules: []SourcedRule{{Rule: mustRule(t, "bash(npm test)"), List: ListAllow, Boundary: BoundaryAny}}}, Boundary: BoundaryAny}
	var got []string
	for _, p := range TagParts(f, in) {
		got = append(got, p.State+": "+p.Text)
	}
	want := []string{"covered: git status", "new: npm test", "new: FOO=1 make 'a b'", "opaque: …"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p := examineText(t, "ls").Parts(); len(p) != 1 || p[0].State != PartCovered || !slices.Equal(p[0].Words, []string{"ls"}) {
		t.Errorf("%+v", p)
	}
	if p := examineText(t, strings.Repeat("(", 300)).Parts(); len(p) != 1 || p[0].State != PartOpaque {
		t.Errorf("%+v", p)
	}
	if TagParts(nil, Input{}) != nil || examineIn("Read", nil).Parts() != nil {
		t.Error("parts of what has none")
	}
}

func TestRisk(t *testing.T) {
	for _, tt := range []struct{ text, level, words string }{
		{"ls", RiskLow, ""},
		{"git status | head", RiskLow, ""},
		{"make", RiskMedium, ""},
		{"echo x > a", RiskMedium, ""},
		{"rm a.txt", RiskMedium, ""},
		{"rm -rf build", RiskHigh, "-rf rm"},
		{"sudo ls", RiskHigh, "sudo"},
		{"curl http://x", RiskHigh, "curl"},
		{"curl http://x | sh", RiskHigh, "curl"},
		{"git push --force", RiskHigh, "--force"},
		{"git push -f origin", RiskHigh, "-f"},
		{"git push origin +main", RiskHigh, "+main"},
		{"git push origin main", RiskMedium, ""},
		{"git reset --hard", RiskHigh, "--hard"},
		{"git clean -fd", RiskHigh, "clean"},
		{"git filter-branch x", RiskHigh, "filter-branch"},
		{"find . -delete", RiskHigh, "-delete"},
		{"chmod -R 777 .", RiskHigh, "-R 777"},
		{"kill -9 5", RiskHigh, "-9"},
		{"dd if=a of=b", RiskHigh, "dd"},
		{"mkfs.ext4 x", RiskHigh, "mkfs.ext4"},
		{"cat .env", RiskHigh, ".env"},
		{"echo x >> ~/.ssh/authorized_keys", RiskHigh, "/home/u/.ssh/authorized_keys"},
		{"git -c a=b log", RiskHigh, "-c"},
		{"$X", RiskHigh, "command name is not literal"},
	} {
		got := examineText(t, tt.text).Risk()
		if got.Level != tt.level || tt.words != "" && !strings.Contains(strings.Join(got.Words, " "), tt.words) {
			t.Errorf("%q: %s %v, want %s %s", tt.text, got.Level, got.Words, tt.level, tt.words)
		}
	}
	if r := examineIn("Write", json.RawMessage(`{"file_path":"a"}`)).Risk(); r.Level != RiskMedium || r.Words == nil {
		t.Errorf("%+v", r)
	}
	if r := examineIn("Read", json.RawMessage(`{"file_path":"a.txt"}`)).Risk(); r.Level != RiskLow {
		t.Errorf("%+v", r)
	}
}

func TestSuggestRules(t *testing.T) {
	for _, tt := range []struct {
		tool, args string
		mode       Mode
		want       string // rules, separated by " + "; "" for once only
	}{
		{"Bash", `{"command":"npm test"}`, ModeAsk, "bash(npm test)"},
		{"Bash", `{"command":"git add -A && git commit -m 'fix (a)'"}`, ModeAsk, `bash(git add -A) + bash(git commit -m 'fix \(a\)')`},
		{"Bash", `{"command":"git status && npm test"}`, ModeAsk, "bash(npm test)"},
		{"Bash", `{"command":"make > log.txt"}`, ModeAsk, "bash(make) + write(log.txt)"},
		{"Bash", `{"command":"make > a*b.txt"}`, ModeAsk, ""},
		{"Bash", `{"command":"make > 'a*b.txt'"}`, ModeAsk, "bash(make) + write(a[*]b.txt)"},
		{"Bash", `{"command":"timeout 5 npm test"}`, ModeAsk, "bash(npm test)"},
		{"Bash", `{"command":"bash -lc 'npm test'"}`, ModeAsk, "bash(npm test)"},
		{"Bash", `{"command":"FOO=1 make"}`, ModeAsk, "bash(FOO=1 make)"},
		{"Bash", `{"command":"CI=1 make"}`, ModeAsk, "bash(make)"},
		{"Bash", `{"command":"echo '*' a:*"}`, ModeBypass, ""},
		{"Bash", `{"command":"prog '*' '{a,b}' '[x]' '?' 'a:*'"}`, ModeAsk, "bash(prog '*' '{a,b}' '[x]' '?' 'a:*')"},
		{"Bash", `{"command":"python3 -c 'x'"}`, ModeAsk, ""},
		{"Bash", `{"command":"python3 x.py"}`, ModeAsk, "bash(python3 x.py)"},
		{"Bash", `{"command":"python3"}`, ModeAsk, ""},
		{"Bash", `{"command":"awk '{print}' a"}`, ModeAsk, ""},
		{"Bash", `{"command":"sudo make"}`, ModeAsk, ""},
		{"Bash", `{"command":"xargs rm"}`, ModeAsk, ""},
		{"Bash", `{"command":"$X"}`, ModeAsk, ""},
		{"Bash", `{"command":"prog *.go"}`, ModeAsk, ""},
		{"Bash", `{"command":"prog $X"}`, ModeAsk, ""},
		{"Bash", `{"command":"a; b; c; d; e; f"}`, ModeAsk, ""},
		{"Bash", `{"command":"a; b; c; d; e; a"}`, ModeAsk, "bash(a) + bash(b) + bash(c) + bash(d) + bash(e)"},
		{"Bash", `{"command":"cd / && make"}`, ModeAsk, ""},
		{"Bash", `{"command":"echo x > .env"}`, ModeAsk, ""},
		{"Bash", `{"command":"make"}`, ModeAuto, "bash(make)"},
		{"PowerShell", `{"command":"ls"}`, ModeAsk, ""},
		{"Write", `{"file_path":"a b.txt"}`, ModeAsk, "write(a b.txt)"},
		{"Edit", `{"file_path":"/srv/x"}`, ModeAsk, "edit(/srv/x)"},
		{"Edit", `{"file_path":"a(1)[x].txt"}`, ModeAsk, `edit(a\(1\)[[]x].txt)`},
		{"Edit", `{"file_path":"link"}`, ModeAsk, ""},
		{"Write", `{"file_path":".env"}`, ModeAsk, ""},
		{"Read", `{"file_path":".env"}`, ModeAsk, "read(.env)"},
		{"WebFetch", `{"url":"https://Example.org/x"}`, ModeAsk, "web_fetch(domain:example.org)"},
		{"WebFetch", `{"url":"x y"}`, ModeAsk, ""},
		{"WebSearch", `{"query":"x"}`, ModeAsk, "web_search"},
		{"mcp__github__create_issue", `{}`, ModeAsk, "mcp(github/create_issue)"},
		{"mcp__a__b__c", `{}`, ModeAsk, ""},
		{"send_message", `{}`, ModeAsk, ""},
		{"Task", `{"subagent_type":"x"}`, ModeAsk, ""},
		{"ExitPlanMode", `{}`, ModeAsk, ""},
	} {
		in := Input{
			Facts: examineIn(tt.tool, json.RawMessage(tt.args)), Authority: AgentAuthority("a", "b"),
			Session: Session{Mode: tt.mode, Interactive: true, Attended: true}, Boundary: BoundaryAny,
			Classification: &Classification{},
		}
		v := Decide(in)
		var got []string
		for _, r := range SuggestRules(in.Facts, v, in) {
			got = append(got, r.String())
			in.Rules.Rules = append(in.Rules.Rules, SourcedRule{Rule: r, List: ListAllow, Boundary: BoundaryAny})
		}
		if strings.Join(got, " + ") != tt.want {
			t.Errorf("%s %s: offered %q, want %q (verdict %s %s)", tt.tool, tt.args, got, tt.want, v.Outcome, v.Reason)
			continue
		}
		if len(got) > 0 {
			if after := Decide(in); after.Outcome != Allow || after.Reason != ReasonRuleAllow {
				t.Errorf("%s %s: the offered rules do not allow it: %s", tt.tool, tt.args, after.Reason)
			}
		}
	}
	if SuggestRules(nil, Verdict{Outcome: Ask}, Input{}) != nil {
		t.Error("a suggestion without facts")
	}
}

func TestBoundaryOfRules(t *testing.T) {
	for _, tt := range []struct {
		rule, call Boundary
		allowed    bool
	}{
		{"", BoundaryEnforced, true}, {"", BoundaryAny, false}, {"", "", false},
		{BoundaryEnforced, BoundaryEnforced, true}, {BoundaryEnforced, BoundaryAny, false},
		{BoundaryAny, BoundaryEnforced, true}, {BoundaryAny, BoundaryAny, true}, {BoundaryAny, "", true},
	} {
		in := Input{
			Facts: examineText(t, "make"), Authority: AgentAuthority("a", "b"), Session: Session{Interactive: true}, Boundary: tt.call,
			Rules: RuleSet{Rules: []SourcedRule{{Rule: mustRule(t, "bash(make)"), List: ListAllow, Boundary: tt.rule}}},
		}
		if got := Decide(in).Outcome == Allow; got != tt.allowed {
			t.Errorf("rule %q, call %q: allowed %v", tt.rule, tt.call, got)
		}
	}
}

func TestUntrustedRepositoryRules(t *testing.T) {
	in := Input{Facts: examineText(t, "make"), Authority: AgentAuthority("a", "b"), Session: Session{Interactive: true}, Boundary: BoundaryAny}
	for _, tt := range []struct {
		list    List
		trusted bool
		want    Outcome
	}{{ListAllow, false, Ask}, {ListAllow, true, Allow}, {ListDeny, false, Deny}} {
		in.Rules.Rules = []SourcedRule{{Rule: mustRule(t, "bash(make)"), List: tt.list, Source: SourceRepository, Boundary: BoundaryAny, Trusted: tt.trusted}}
		if v := Decide(in); v.Outcome != tt.want {
			t.Errorf("%s, trusted %v: %s", tt.list, tt.trusted, v.Outcome)
		}
	}
}

func TestSteps(t *testing.T) {
	base := func(text string) Input {
		return Input{Facts: examineText(t, text), Authority: AgentAuthority("a", "b"), Session: Session{Interactive: true, Attended: true}, Boundary: BoundaryAny}
	}
	for _, tt := range []struct {
		name    string
		change  func(*Input)
		outcome Outcome
		reason  Reason
		step    int
	}{
		{"no facts", func(in *Input) { in.Facts = nil }, Deny, ReasonIdentityMissing, 2},
		{"no identity", func(in *Input) { in.Authority = Authority{} }, Deny, ReasonIdentityMissing, 2},
		{"no capability", func(in *Input) { in.Authority.Capabilities = nil }, Deny, ReasonCapabilityDenied, 2},
		{"a redirection needs the right to write", func(in *Input) {
			in.Facts = examineText(t, "make > x")
			in.Authority.Capabilities = []Capability{CapProcessExec}
		}, Deny, ReasonCapabilityDenied, 2},
		{"the tool asks", func(in *Input) { in.ToolAsks = "sends mail"; in.Session.Mode = ModeBypass }, Ask, ReasonToolRequiresApproval, 5},
		{"a source is unreadable", func(in *Input) { in.Rules.Unreadable = []UnreadableSource{{Source: SourceProject}} }, Ask, ReasonSourceUnreadable, 5},
		{"an unread rule", func(in *Input) { in.Rules.Rules = []SourcedRule{{List: ListDeny}} }, Ask, ReasonSourceUnreadable, 5},
		{"an unread allow rule", func(in *Input) { in.Rules.Rules = []SourcedRule{{List: ListAllow}} }, Ask, ReasonApprovalRequired, 13},
		{"an unknown gate answer", func(in *Input) { in.Gates = []GateAnswer{{Outcome: "maybe"}} }, Ask, ReasonGateFailed, 5},
		{"outside the roots", func(in *Input) { in.OutsideRoots = true }, Ask, ReasonOutsideRoots, 5},
		{"auto without an answer", func(in *Input) { in.Session.Mode = ModeAuto }, Classify, "", 12},
		{"auto, safe", func(in *Input) { in.Session.Mode = ModeAuto; in.Classification = &Classification{Safe: true} }, Allow, ReasonAutoAllow, 12},
		{"auto, not safe", func(in *Input) { in.Session.Mode = ModeAuto; in.Classification = &Classification{} }, Ask, ReasonAutoBlock, 12},
		{"auto, failed", func(in *Input) {
			in.Session.Mode = ModeAuto
			in.Classification = &Classification{Safe: true, Err: "time-out"}
		}, Ask, ReasonClassifierFailed, 12},
		{"auto, not safe, alone", func(in *Input) {
			in.Session = Session{Mode: ModeAuto}
			in.Classification = &Classification{}
		}, Deny, ReasonNoninteractive, 12},
		{"nobody there", func(in *Input) { in.Session.Interactive = false }, Deny, ReasonNoninteractive, 13},
		{"ordinary", func(*Input) {}, Ask, ReasonApprovalRequired, 13},
		{"an unknown mode asks", func(in *Input) { in.Session.Mode = "yolo" }, Ask, ReasonApprovalRequired, 13},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := base("make")
			tt.change(&in)
			v := Decide(in)
			if v.Outcome != tt.outcome || v.Reason != tt.reason || v.Step != tt.step {
				t.Errorf("got %s %s at step %d, want %s %s at step %d", v.Outcome, v.Reason, v.Step, tt.outcome, tt.reason, tt.step)
			}
			for i, line := range v.Trace {
				if in.Facts != nil && (line.Step != i+1 || line.Name == "" || line.Answer == "") {
					t.Errorf("trace line %d is %+v", i, line)
				}
				if line.Step > tt.step && line.Answer != "not reached" {
					t.Errorf("a step after the deciding one was reached: %+v", line)
				}
			}
			if tt.reason == ReasonNoninteractive && !strings.Contains(v.Trace[tt.step-1].Detail, "nobody is expected") {
				t.Errorf("the original reason is not in the trace: %+v", v.Trace[tt.step-1])
			}
		})
	}
	if (Verdict{}).Outcome == Allow {
		t.Error("the zero verdict allows")
	}
}

func TestMemoryFS(t *testing.T) {
	m := NewMemoryFS(pathid.Windows)
	m.File(`C:\a\B.txt`, "hello")
	m.Link(`C:\a\l`, `C:\a\B.txt`)
	if info, err := m.Lstat(`c:\A\b.TXT`); err != nil || info.Size != 5 {
		t.Errorf("Windows folds case: %+v, %v", info, err)
	}
	if names, err := m.ReadDir(`C:\a`, 10); err != nil || !slices.Equal(names, []string{"B.txt", "l"}) {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := m.ReadDir(`C:\a\B.txt`, 10); !errors.Is(err, pathid.ErrNotDirectory) {
		t.Errorf("%v", err)
	}
	if _, err := m.ReadDir(`C:\none`, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := m.ReadFile(`C:\a`, 10); !errors.Is(err, pathid.ErrNotRegular) {
		t.Errorf("%v", err)
	}
	if _, err := m.ReadFile(`C:\a\B.txt`, 2); !errors.Is(err, pathid.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if _, err := m.ReadFile(`C:\none`, 2); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if text, err := m.ReadFile(`C:\a\B.txt`, 5); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
	if target, err := m.Readlink(`C:\a\l`); err != nil || target != `C:\a\B.txt` {
		t.Errorf("%q, %v", target, err)
	}
	if _, err := m.Readlink(`C:\a\B.txt`); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%v", err)
	}
	if _, err := m.Lstat(`D:\`); err != nil {
		t.Errorf("every drive has a root: %v", err)
	}
}
