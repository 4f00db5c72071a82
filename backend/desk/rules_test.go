package desk_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

func (f *fixture) projectState() wire.Project {
	f.t.Helper()
	var p wire.Project
	f.must(f.desk.Owner(), wire.ActionGetProject, wire.GetProject{Project: f.project}, &p)
	return p
}

func (f *fixture) repositoryRules(text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Join(f.project, ".countersign"), 0o700); err != nil {
		f.t.Fatal(err)
	}
	f.write(".countersign/rules.toml", text)
}

func (f *fixture) sessionID() string {
	f.t.Helper()
	var list wire.Sessions
	f.must(f.desk.Owner(), wire.ActionListSessions, wire.ListSessions{}, &list)
	if len(list.Sessions) != 1 {
		f.t.Fatalf("%d sessions", len(list.Sessions))
	}
	return list.Sessions[0].ID
}

// A repository could never loosen the rules it is judged by; now the owner may trust exactly one content of its file.
func TestTrustedRepositoryRules(t *testing.T) {
	f := newFixture(t, "")
	f.repositoryRules("allow = ['bash(touch:*)']\n")
	if status := f.bash("touch a"); status.State != "waiting" {
		t.Fatalf("not trusted: %+v", status)
	}
	p := f.projectState()
	if p.File.Trusted || p.File.Digest == "" || !strings.Contains(p.File.Content, "touch") {
		t.Fatalf("%+v", p)
	}
	if code := f.do(f.agent, wire.ActionTrustRepository, wire.TrustRepository{Project: f.project, Digest: p.File.Digest}, nil); code == "" {
		t.Error("an agent trusted its own repository")
	}
	f.must(f.desk.Owner(), wire.ActionTrustRepository, wire.TrustRepository{Project: f.project, Digest: p.File.Digest}, &p)
	if !p.File.Trusted {
		t.Errorf("%+v", p)
	}
	status := f.bash("touch b")
	if status.State != "allowed" || status.Rule != "bash(touch:*)" {
		t.Errorf("%+v", status)
	}
	f.repositoryRules("allow = ['bash(touch:*)', 'bash(rm:*)']\n")
	if status := f.bash("touch c"); status.State != "waiting" {
		t.Errorf("another content is trusted: %+v", status)
	}
}

// A rule that was added by hand counts at the next call, is listed with its use, and is gone when it is removed.
func TestAddedRule(t *testing.T) {
	f := newFixture(t, "")
	rule := wire.NewPermissionRule{List: policy.ListAllow, Rule: "Bash(touch:*)", Scope: policy.SourceProject, Project: f.project, Match: []string{"touch x"}}
	if f.bash("touch a").State != "waiting" {
		t.Fatal("allowed without a rule")
	}
	var preview wire.RulePreview
	f.must(f.desk.Owner(), wire.ActionPreviewRule, rule, &preview)
	if preview.Checked != 1 || len(preview.Effects) != 1 || preview.Effects[0].Before != policy.Ask || preview.Effects[0].After != policy.Allow || preview.Effects[0].Text != "touch a" {
		t.Errorf("%+v", preview)
	}
	if f.bash("touch b").State != "waiting" {
		t.Fatal("the preview was kept")
	}
	if code := f.do(f.agent, wire.ActionAddRule, rule, nil); code == "" {
		t.Error("an agent added a rule")
	}
	var saved wire.SavedRule
	f.must(f.desk.Owner(), wire.ActionAddRule, rule, &saved)
	if saved.Rule.Rule.String() != "bash(touch:*)" || saved.Rule.Boundary != policy.BoundaryEnforced {
		t.Errorf("%+v", saved.Rule)
	}
	if status := f.bash("touch c"); status.State != "allowed" {
		t.Errorf("%+v", status)
	}
	f.restart()
	if status := f.bash("touch d"); status.State != "allowed" {
		t.Errorf("after a restart: %+v", status)
	}
	var list wire.PermissionRules
	f.must(f.desk.Owner(), wire.ActionListPermissionRules, wire.ListPermissionRules{Project: f.project}, &list)
	if len(list.Rules) != 1 || list.Rules[0].Uses != 2 || list.Rules[0].LastMatch.IsZero() {
		t.Errorf("%+v", list.Rules)
	}
	f.must(f.desk.Owner(), wire.ActionRemoveRule, wire.RemovePermissionRule{ID: saved.Rule.ID}, nil)
	if status := f.bash("touch e"); status.State != "waiting" {
		t.Errorf("%+v", status)
	}
	rule.Match = []string{"rm x"}
	if code := f.do(f.desk.Owner(), wire.ActionAddRule, rule, nil); code != "example_fails" {
		t.Errorf("%q", code)
	}
}

// The mode of a session is its own, else its project's, else the configured one; an administrator's lock is above all.
func TestEffectiveMode(t *testing.T) {
	f := newFixture(t, "[decision]\nmode = \"acceptEdits\"\n")
	f.bash("true")
	id := f.sessionID()
	mode := func() policy.Mode {
		t.Helper()
		var state wire.PermissionState
		f.must(f.desk.Owner(), wire.ActionGetPermissionState, wire.GetPermissionState{Session: id}, &state)
		return state.Mode
	}
	if got := mode(); got != policy.ModeAcceptEdits {
		t.Errorf("configured: %s", got)
	}
	plan, bypass := policy.ModePlan, policy.ModeBypass
	f.must(f.desk.Owner(), wire.ActionSetProject, wire.SetProject{Project: f.project, Mode: &plan}, nil)
	if got := mode(); got != policy.ModePlan {
		t.Errorf("of the project: %s", got)
	}
	if status := f.bash("touch a"); status.Reason != string(policy.ReasonPlanReadonly) {
		t.Errorf("%+v", status)
	}
	if code := f.do(f.desk.Owner(), wire.ActionSetProject, wire.SetProject{Project: f.project, Mode: &bypass}, nil); code != "mode_per_session" {
		t.Errorf("%q", code)
	}
	f.must(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: id, Mode: policy.ModeAsk}, nil)
	if got := mode(); got != policy.ModeAsk {
		t.Errorf("of the session: %s", got)
	}
	f.restart()
	if got := mode(); got != policy.ModeAsk {
		t.Errorf("after a restart: %s", got)
	}
	if err := os.WriteFile(f.managed(), []byte("[constraints]\nmodes = ['plan']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := f.do(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: id, Mode: policy.ModeBypass, ExpectedVersion: 1}, nil); code != "managed_mode" {
		t.Errorf("%q", code)
	}
}

// Boxed reads are on in auto mode, off elsewhere, and a project may say otherwise.
func TestBoxedReadsFollowTheModeAndTheProject(t *testing.T) {
	f := newFixture(t, "[decision]\nmode = \"auto\"\n")
	f.boxed()
	read := func() string { return f.bash("python3 -c 'print(1)'").Reason }
	if got := read(); got != string(policy.ReasonBoxedRead) {
		t.Errorf("auto: %s", got)
	}
	off, byMode, on := wire.BoxedOff, wire.BoxedByMode, wire.BoxedOn
	f.must(f.desk.Owner(), wire.ActionSetProject, wire.SetProject{Project: f.project, BoxedReads: &off}, nil)
	if got := read(); got == string(policy.ReasonBoxedRead) {
		t.Errorf("off for the project: %s", got)
	}
	f.must(f.desk.Owner(), wire.ActionSetProject, wire.SetProject{Project: f.project, BoxedReads: &byMode}, nil)
	f.must(f.desk.Owner(), wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: f.sessionID(), Mode: policy.ModeAsk}, nil)
	if got := read(); got == string(policy.ReasonBoxedRead) {
		t.Errorf("ask: %s", got)
	}
	f.must(f.desk.Owner(), wire.ActionSetProject, wire.SetProject{Project: f.project, BoxedReads: &on}, nil)
	status := f.bash("python3 -c 'open(\"made\", \"w\")'")
	if status.Reason != string(policy.ReasonBoxedRead) {
		t.Fatalf("on for the project: %+v", status)
	}
	if result, _, code := f.run(status.Call); code != "" || result.Exit == nil || *result.Exit == 0 {
		t.Errorf("a boxed read wrote: %q %+v", code, result)
	}
	if _, err := os.Stat(filepath.Join(f.project, "made")); err == nil {
		t.Error("a boxed read wrote into the workspace")
	}
}

func TestFurtherDirectories(t *testing.T) {
	f := newFixture(t, "[decision]\nmode = \"acceptEdits\"\n")
	other := filepath.Join(f.home, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	target := map[string]any{"file_path": filepath.Join(other, "a.txt"), "content": "x"}
	if status := f.propose("Write", target); status.State != "waiting" {
		t.Fatalf("outside: %+v", status)
	}
	id := f.sessionID()
	for _, wide := range []string{"/", f.home, filepath.Join(f.home, "missing")} {
		if code := f.do(f.desk.Owner(), wire.ActionAddRoot, wire.ChangeRoot{Session: id, Directory: wide}, nil); code != "bad_directory" {
			t.Errorf("%s: %q", wide, code)
		}
	}
	if code := f.do(f.agent, wire.ActionAddRoot, wire.ChangeRoot{Session: id, Directory: other}, nil); code == "" {
		t.Error("an agent widened its own roots")
	}
	f.must(f.desk.Owner(), wire.ActionAddRoot, wire.ChangeRoot{Session: id, Directory: other}, nil)
	if status := f.propose("Write", target); status.State != "released" {
		t.Errorf("added: %+v", status)
	}
	f.must(f.desk.Owner(), wire.ActionRemoveRoot, wire.ChangeRoot{Session: id, Directory: other}, nil)
	if status := f.propose("Write", target); status.State != "waiting" {
		t.Errorf("removed: %+v", status)
	}
	if code := f.do(f.desk.Owner(), wire.ActionRemoveRoot, wire.ChangeRoot{Session: id, Directory: f.project}, nil); code != "unknown_root" {
		t.Errorf("%q", code)
	}
}

// Where nobody attends an agent, its question tools are refused at once instead of waiting.
func TestUnattendedSessions(t *testing.T) {
	f := newFixture(t, "")
	ask := func() wire.CallStatus {
		in := f.admission(f.turn+t.Name(), "AskUserQuestion", map[string]any{"questions": []any{}})
		in.Runs, in.ToolCall = wire.RunsAgent, wire.RunsAgent
		in.Ordinal = len(f.calls()) + 1
		var status wire.CallStatus
		f.must(f.agent, wire.ActionAdmitCall, in, &status)
		return status
	}
	if status := ask(); status.Reason == string(policy.ReasonUnattended) {
		t.Fatalf("attended: %+v", status)
	}
	f.must(f.desk.Owner(), wire.ActionSetAttended, wire.SetAttended{Session: f.sessionID(), Attended: false}, nil)
	if status := ask(); status.Reason != string(policy.ReasonUnattended) {
		t.Errorf("unattended: %+v", status)
	}
}

// Where an administrator requires the sandbox, a command that the agent would run by itself is refused.
func TestManagedSandbox(t *testing.T) {
	f := newFixture(t, "allow = [\"powershell(ls)\"]\n")
	if err := os.WriteFile(f.managed(), []byte("[constraints]\nsandbox_required = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := f.admission("1", "powershell", map[string]any{"command": "ls"})
	in.Runs = wire.RunsAgent
	if code := f.do(f.agent, wire.ActionAdmitCall, in, nil); code != "managed_sandbox" {
		t.Errorf("%q", code)
	}
	// Nor does the owner's override to run without a boundary lift it.
	f.close()
	f.rules, f.init = "[sandbox]\non_missing = \"warn\"\n", filepath.Join(f.home, "missing")
	f.open()
	if code := f.do(f.agent, wire.ActionAdmitCall, f.admission("2", "bash", map[string]any{"command": "ls"}), nil); code != "managed_sandbox" {
		t.Errorf("without a boundary: %q", code)
	}
}

func (f *fixture) calls() []wire.Call {
	f.t.Helper()
	var list wire.Calls
	f.must(f.desk.Owner(), wire.ActionListCalls, wire.ListCalls{}, &list)
	return list.Calls
}

// What a browser tool acts on is what was registered for it: a grant for one page never covers another, and an MCP server's
// browser tools are bound like the agent's own.
func TestSurfaces(t *testing.T) {
	f := newFixture(t, "")
	click := func() wire.CallStatus {
		t.Helper()
		in := f.admission("c"+strconv.Itoa(len(f.calls())), "mcp__browser__click", map[string]any{"origin": "https://example.org", "surface": "checkout"})
		in.Runs = wire.RunsAgent
		var status wire.CallStatus
		f.must(f.agent, wire.ActionAdmitCall, in, &status)
		return status
	}
	if status := click(); status.State != "waiting" {
		t.Fatalf("the model's own words: %+v", status)
	}
	set := wire.SetSurface{Session: f.sessionID(), Server: "browser", Origin: "https://example.org", Surface: "search", Granted: true}
	if code := f.do(f.agent, wire.ActionSetSurface, set, nil); code == "" {
		t.Error("an agent registered a surface")
	}
	f.must(f.desk.Owner(), wire.ActionSetSurface, set, nil)
	if status := click(); status.State != "released" || status.Reason != string(policy.ReasonSurfaceGrant) {
		t.Errorf("granted: %+v", status)
	}
	set.Surface, set.Granted = "checkout", false
	f.must(f.desk.Owner(), wire.ActionSetSurface, set, nil)
	if status := click(); status.State != "waiting" {
		t.Errorf("another surface: %+v", status)
	}
	for _, bad := range []string{"example.org", "https://example.org/x", "https://u@example.org", "HTTPS://example.org", "file:///x"} {
		set.Origin = bad
		if code := f.do(f.desk.Owner(), wire.ActionSetSurface, set, nil); code != wire.CodeBadArgument {
			t.Errorf("%s: %q", bad, code)
		}
	}
}

// A tool that declares that it needs approval asks, whatever allows it.
func TestAToolThatAsks(t *testing.T) {
	f := newFixture(t, "allow = [\"mcp(db)\"]\n")
	in := f.admission("1", "mcp__db__drop", map[string]any{})
	in.Runs = wire.RunsAgent
	var status wire.CallStatus
	f.must(f.agent, wire.ActionAdmitCall, in, &status)
	if status.State != "released" {
		t.Fatalf("%+v", status)
	}
	in.ToolCall, in.ToolAsks = "2", "the server says that it is destructive"
	f.must(f.agent, wire.ActionAdmitCall, in, &status)
	if status.State != "waiting" || status.Reason != string(policy.ReasonToolRequiresApproval) {
		t.Errorf("%+v", status)
	}
}

// Where the administrator lets no rule be saved, none is offered: an answer that chose one would fail.
func TestNoRuleIsOfferedThatCannotBeSaved(t *testing.T) {
	f := newFixture(t, "")
	f.boxed()
	f.bash("touch a")
	if offers := f.only().Offers; len(offers) != 2 {
		t.Fatalf("%+v", offers)
	}
	if err := os.WriteFile(f.managed(), []byte("[constraints]\nno_saved_rules = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.bash("touch b")
	for _, q := range f.questions() {
		if strings.Contains(string(q.Detail), "touch b") && len(q.Offers) != 1 {
			t.Errorf("%+v", q.Offers)
		}
	}
}
