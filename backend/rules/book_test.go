package rules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/approval/approvaltest"
	"countersign/backend/pathid"
	"countersign/backend/policy"
)

type fixture struct {
	t       *testing.T
	store   *approvaltest.Store
	clock   *approvaltest.Clock
	project string
	managed string
	global  policy.RuleSet
	book    *Book
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		t: t, store: approvaltest.NewStore(), clock: approvaltest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		project: filepath.Join(dir, "project"), managed: filepath.Join(dir, "managed.toml"),
	}
	if err := os.Mkdir(f.project, 0o700); err != nil {
		t.Fatal(err)
	}
	f.open()
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	var err error
	if f.book, err = Open(Options{
		Store: f.store, Clock: f.clock, FS: pathid.OS(), Platform: pathid.Host(), Global: f.global, Managed: f.managed,
	}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) identity() pathid.Identity {
	f.t.Helper()
	root, err := pathid.OpenRoot(pathid.OS(), f.project)
	if err != nil {
		f.t.Fatal(err)
	}
	return root.Identity
}

func (f *fixture) scope() Scope {
	return Scope{Project: f.project, Identity: f.identity(), Agent: "claude", Session: "s1"}
}

func (f *fixture) set() Set {
	f.t.Helper()
	set, err := f.book.For(f.scope())
	if err != nil {
		f.t.Fatal(err)
	}
	return set
}

func (f *fixture) add(n NewRule) (policy.SourcedRule, error) {
	f.t.Helper()
	if n.Source == policy.SourceProject {
		n.Project, n.Identity = f.project, f.identity()
	}
	var saved policy.SourcedRule
	err := f.store.Update(func(tx approval.Tx) (err error) {
		saved, err = f.book.Add(tx, n)
		return err
	})
	return saved, err
}

func (f *fixture) mustAdd(n NewRule) policy.SourcedRule {
	f.t.Helper()
	r, err := f.add(n)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fixture) write(path, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) repository(text string) string {
	path := filepath.Join(f.project, filepath.FromSlash(RepositoryFile))
	f.write(path, text)
	return path
}

// texts are the rules as "list text (source)".
func texts(set Set) []string {
	out := []string{}
	for _, r := range set.Rules {
		out = append(out, string(r.List)+" "+r.Rule.String()+" ("+string(r.Source)+")")
	}
	slices.Sort(out)
	return out
}

func ignored(set Set) []string {
	out := []string{}
	for _, i := range set.Ignored {
		out = append(out, i.Text+": "+i.Why)
	}
	slices.Sort(out)
	return out
}

func want(t *testing.T, got []string, expected ...string) {
	t.Helper()
	slices.Sort(expected)
	if !slices.Equal(got, expected) {
		t.Errorf("got  %q\nwant %q", got, expected)
	}
}

func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return ""
}

func TestSourcesAreConcatenated(t *testing.T) {
	f := newFixture(t)
	f.global = FromFile(policy.SourceGlobal, "config.toml", []string{"bash(rm:*)"}, nil, []string{"bash(ls:*)"})
	f.open()
	f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(make)", Source: policy.SourceGlobal})
	f.mustAdd(NewRule{List: policy.ListAsk, Text: "bash(git push:*)", Source: policy.SourceProject})
	f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(go test:*)", Source: policy.SourceSession, Session: "s1"})
	f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(other)", Source: policy.SourceSession, Session: "s2"})
	if err := f.store.Update(func(tx approval.Tx) error { return f.book.Take(tx, "claude", "x", []string{"Read(.env)"}, nil) }); err != nil {
		t.Fatal(err)
	}
	if err := f.store.Update(func(tx approval.Tx) error { return f.book.Take(tx, "codex", "x", []string{"bash"}, nil) }); err != nil {
		t.Fatal(err)
	}
	f.repository("deny = ['bash(curl:*)']\nallow = ['bash(evil)']\n")
	set := f.set()
	want(t, texts(set), "deny bash(rm:*) (global)", "allow bash(ls:*) (global)", "allow bash(make) (global)", "ask bash(git push:*) (project)",
		"allow bash(go test:*) (session)", "deny read(.env) (global)", "deny bash(curl:*) (repository)")
	want(t, ignored(set), "bash(evil): not_trusted")
}

// Another project, or another directory put at the same path, gets nothing that was allowed here.
func TestAnotherDirectoryAtTheSamePathIsAnotherProject(t *testing.T) {
	f := newFixture(t)
	f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(make)", Source: policy.SourceProject})
	f.mustAdd(NewRule{List: policy.ListDeny, Text: "bash(rm:*)", Source: policy.SourceProject})
	want(t, texts(f.set()), "allow bash(make) (project)", "deny bash(rm:*) (project)")
	old := f.project + ".old"
	if err := os.Rename(f.project, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.project, 0o700); err != nil {
		t.Fatal(err)
	}
	set := f.set()
	want(t, texts(set), "deny bash(rm:*) (project)")
	want(t, ignored(set), "bash(make): moved")
	if _, err := f.add(NewRule{List: policy.ListAllow, Text: "bash(ls)", Source: policy.SourceProject}); code(err) != CodeMoved {
		t.Errorf("added to another directory's project: %v", err)
	}
	// Settling anything about the new one ends what was allowed for the old one; what restricts stays.
	if _, err := f.book.Change(f.project, f.identity(), func(p *Project) error { p.Mode = policy.ModePlan; return nil }); err != nil {
		t.Fatal(err)
	}
	want(t, texts(f.set()), "deny bash(rm:*) (project)")
	f.open()
	if p := f.book.Project(f.project); p.Mode != policy.ModePlan || !p.Identity.Same(f.identity()) {
		t.Errorf("%+v", p)
	}
}

func TestARepositoryIsTrustedByContentAndPlace(t *testing.T) {
	f := newFixture(t)
	f.repository("allow = ['bash(make)']\nmode = 'bypass'\n")
	want(t, ignored(f.set()), "bash(make): not_trusted", "mode: unknown_key")
	digest := f.book.Repository(f.project).Digest
	if _, err := f.book.Trust(f.project, f.identity(), "sha256:0"); code(err) != CodeChanged {
		t.Errorf("another content was trusted: %v", err)
	}
	if _, err := f.book.Trust(f.project, f.identity(), digest); err != nil {
		t.Fatal(err)
	}
	set := f.set()
	want(t, texts(set), "allow bash(make) (repository)")
	if !set.Rules[0].Trusted {
		t.Error("it is not marked as trusted")
	}
	f.repository("allow = ['bash(make)', 'bash(evil)']\n")
	want(t, texts(f.set()))
	f.repository("allow = ['bash(make)']\nmode = 'bypass'\n")
	want(t, texts(f.set()), "allow bash(make) (repository)")
	if err := os.Rename(f.project, f.project+".old"); err != nil {
		t.Fatal(err)
	}
	f.repository("allow = ['bash(make)']\nmode = 'bypass'\n")
	want(t, texts(f.set()))
}

func TestWhatCannotBeReadIsNeverSkipped(t *testing.T) {
	for name, text := range map[string]string{
		"no TOML": "deny = [", "another type": "deny = 'bash'", "a rule that does not parse": "ask = ['bash(']", "too large": "# " + strings.Repeat("x", maxFile),
	} {
		f := newFixture(t)
		path := f.repository(text)
		set := f.set()
		if len(set.Unreadable) != 1 || !strings.HasPrefix(set.Unreadable[0].Where, path) {
			t.Errorf("%s: %+v", name, set.Unreadable)
		}
	}
	f := newFixture(t)
	r := f.mustAdd(NewRule{List: policy.ListDeny, Text: "bash(rm:*)", Source: policy.SourceProject})
	if err := f.store.Update(func(tx approval.Tx) error {
		if err := tx.Put(bucketRules, r.ID, map[string]string{"rule": "bash("}); err != nil {
			return err
		}
		return changed(tx)
	}); err != nil {
		t.Fatal(err)
	}
	if set := f.set(); len(set.Unreadable) != 1 || set.Unreadable[0].Source != policy.SourceProject {
		t.Errorf("%+v", set.Unreadable)
	}
}

func TestManaged(t *testing.T) {
	f := newFixture(t)
	if foreign := foreignInfoOf(t, filepath.Dir(f.managed)); foreign != nil {
		t.Skipf("the temporary directory is not the administrator's: %v", foreign)
	}
	f.write(f.managed, "deny = ['bash(curl:*)']\nallow = ['bash(make)']\n[constraints]\nmodes = ['ask', 'plan']\nmanaged_allow_only = true\nno_saved_rules = true\n")
	f.global = FromFile(policy.SourceGlobal, "config.toml", nil, nil, []string{"bash(ls)"})
	f.open()
	set := f.set()
	want(t, texts(set), "deny bash(curl:*) (managed)", "allow bash(make) (managed)")
	want(t, ignored(set), "bash(ls): managed_only")
	if set.Constraints.Mode(policy.ModeBypass) != policy.ModeAsk || set.Constraints.Mode(policy.ModePlan) != policy.ModePlan {
		t.Errorf("%+v", set.Constraints)
	}
	if _, err := f.add(NewRule{List: policy.ListAllow, Text: "bash(ls)", Source: policy.SourceGlobal}); code(err) != CodeLocked {
		t.Errorf("an allow rule was kept: %v", err)
	}
	if _, err := f.add(NewRule{List: policy.ListDeny, Text: "bash(ls)", Source: policy.SourceGlobal}); err != nil {
		t.Errorf("a restriction was refused: %v", err)
	}
}

// A managed file that others can write still restricts, and allows nothing: everything asks until it is mended.
func TestAManagedFileOfSomebodyElse(t *testing.T) {
	f := newFixture(t)
	f.write(f.managed, "deny = ['bash(curl:*)']\nallow = ['bash(make)']\n[constraints]\nsandbox_required = true\n")
	if err := os.Chmod(f.managed, 0o666); err != nil {
		t.Fatal(err)
	}
	set := f.set()
	want(t, texts(set), "deny bash(curl:*) (managed)")
	want(t, ignored(set), "bash(make): not_managed")
	if len(set.Unreadable) != 1 || !set.Constraints.SandboxRequired {
		t.Errorf("%+v %+v", set.Unreadable, set.Constraints)
	}
}

func TestABrokenManagedFileMakesEverythingAsk(t *testing.T) {
	for _, text := range []string{"deni = ['bash']", "deny = 3", "[constraints]\nmodes = ['fast']\n", "deny = ['bash(']"} {
		f := newFixture(t)
		f.write(f.managed, text)
		if set := f.set(); len(set.Unreadable) == 0 {
			t.Errorf("%q is taken for no rules: %+v", text, set)
		}
	}
	f := newFixture(t)
	if err := os.Mkdir(f.managed, 0o700); err != nil {
		t.Fatal(err)
	}
	if set := f.set(); len(set.Unreadable) == 0 {
		t.Error("a directory is taken for no rules")
	}
}

func foreignInfoOf(t *testing.T, dir string) error {
	t.Helper()
	file := filepath.Join(dir, "probe")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return foreignFile(f, file)
}

// A gathered set is used again only while nothing it was made of has changed.
func TestASetIsGatheredAgainWhenAnythingChanged(t *testing.T) {
	f := newFixture(t)
	first := f.set()
	if again := f.set(); again.Version != first.Version {
		t.Errorf("the version changed by itself: %s, %s", first.Version, again.Version)
	}
	seen := map[string]bool{first.Version: true}
	fresh := func(what string) {
		t.Helper()
		set := f.set()
		if seen[set.Version] {
			t.Errorf("%s went unseen", what)
		}
		seen[set.Version] = true
	}
	r := f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(make)", Source: policy.SourceProject, Expires: f.clock.Now().Add(time.Hour)})
	fresh("a new rule")
	f.repository("deny = ['bash(a)']")
	fresh("the repository's file")
	f.write(f.managed, "deny = ['bash(b)']")
	fresh("the managed file")
	if err := f.store.Update(func(tx approval.Tx) error { return f.book.EndSession(tx, "s1") }); err != nil {
		t.Fatal(err)
	}
	if set := f.set(); !seen[set.Version] {
		t.Error("the end of a session without rules made everything stale")
	}
	f.clock.Advance(time.Hour)
	if slices.ContainsFunc(f.set().Rules, func(r policy.SourcedRule) bool { return r.List == policy.ListAllow }) {
		t.Error("an expired rule still counts")
	}
	if err := f.store.Update(func(tx approval.Tx) error { return f.book.Remove(tx, r.ID) }); err != nil {
		t.Fatal(err)
	}
	fresh("a removed rule")
	// A transaction that failed changed nothing.
	before := f.set().Version
	boom := errors.New("boom")
	if err := f.store.Update(func(tx approval.Tx) error {
		if _, err := f.book.Add(tx, NewRule{List: policy.ListDeny, Text: "bash(c)", Source: policy.SourceGlobal}); err != nil {
			return err
		}
		return boom
	}); !errors.Is(err, boom) {
		t.Fatal(err)
	}
	if set := f.set(); set.Version != before {
		t.Errorf("a rule that was not kept counts: %q", texts(set))
	}
}

func TestWhatIsNoRuleIsRefused(t *testing.T) {
	f := newFixture(t)
	good := NewRule{List: policy.ListAllow, Text: "bash(go test:*)", Source: policy.SourceGlobal}
	for name, tt := range map[string]struct {
		change func(*NewRule)
		code   string
	}{
		"text":           {func(n *NewRule) { n.Text = "bash(" }, CodeBadRule},
		"control":        {func(n *NewRule) { n.Text = "bash(a\x1bb)" }, CodeBadRule},
		"UTF-8":          {func(n *NewRule) { n.Text = "bash(\xff)" }, CodeBadRule},
		"list":           {func(n *NewRule) { n.List = "permit" }, CodeBadRule},
		"source":         {func(n *NewRule) { n.Source = policy.SourceManaged }, CodeBadRule},
		"no session":     {func(n *NewRule) { n.Source = policy.SourceSession }, CodeBadRule},
		"boundary":       {func(n *NewRule) { n.Boundary = "none" }, CodeBadRule},
		"expired":        {func(n *NewRule) { n.Expires = f.clock.Now() }, CodeBadRule},
		"match":          {func(n *NewRule) { n.Match = []string{"go test ./...", "go build"} }, CodeExample},
		"not match":      {func(n *NewRule) { n.NotMatch = []string{"go test -exec x"} }, ""},
		"not match, but": {func(n *NewRule) { n.NotMatch = []string{"go test ./..."} }, CodeExample},
		"examples":       {func(n *NewRule) { n.Match = slices.Repeat([]string{"go test"}, maxExamples+1) }, CodeBadRule},
	} {
		n := good
		tt.change(&n)
		if _, err := f.add(n); code(err) != tt.code || (err != nil) != (tt.code != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.store.Update(func(tx approval.Tx) error { return f.book.Remove(tx, "global/none") }); code(err) != CodeUnknownRule {
		t.Errorf("%v", err)
	}
}

func TestTheSameRuleIsKeptOnce(t *testing.T) {
	f := newFixture(t)
	n := NewRule{List: policy.ListAllow, Text: "Bash(go test:*)", Source: policy.SourceGlobal}
	a := f.mustAdd(n)
	n.Text = "bash(go test:*)"
	if b := f.mustAdd(n); a.ID != b.ID {
		t.Errorf("%s and %s", a.ID, b.ID)
	}
	n.Boundary = policy.BoundaryAny
	if b := f.mustAdd(n); a.ID == b.ID {
		t.Error("a wider boundary is another rule")
	}
}

func TestUses(t *testing.T) {
	f := newFixture(t)
	f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(make)", Source: policy.SourceGlobal})
	v := policy.Verdict{Outcome: policy.Allow, Reason: policy.ReasonRuleAllow, Rule: "bash(make)", Source: policy.SourceGlobal}
	for range 3 {
		f.clock.Advance(time.Minute)
		if err := f.store.Update(func(tx approval.Tx) error { return f.book.Used(tx, v) }); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.book.Uses(f.set().Rules)
	if err != nil || len(list) != 1 || list[0].Uses != 3 || !list[0].LastMatch.Equal(f.clock.Now()) {
		t.Errorf("%+v %v", list, err)
	}
	if f.set().Rules[0].Uses != 0 {
		t.Error("the gathered set was changed")
	}
}

func TestEndOfASessionTakesItsRules(t *testing.T) {
	f := newFixture(t)
	f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(make)", Source: policy.SourceSession, Session: "s1"})
	f.mustAdd(NewRule{List: policy.ListAllow, Text: "bash(make)", Source: policy.SourceSession, Session: "s10"})
	if err := f.store.Update(func(tx approval.Tx) error { return f.book.EndSession(tx, "s1") }); err != nil {
		t.Fatal(err)
	}
	kept, err := f.book.Kept()
	if err != nil || len(kept.Rules) != 1 || !strings.HasPrefix(kept.Rules[0].ID, "session/s10/") {
		t.Errorf("%+v %v", kept, err)
	}
}

func TestNoManagedFileIsNoConstraint(t *testing.T) {
	if got := readManaged(filepath.Join(t.TempDir(), "none")); got.stamp != "" || len(got.set.Unreadable) > 0 || got.constraints.SandboxRequired {
		t.Errorf("%+v", got)
	}
	if _, err := os.Lstat(ManagedFile); !errors.Is(err, fs.ErrNotExist) {
		t.Skip("this machine is managed")
	}
}
