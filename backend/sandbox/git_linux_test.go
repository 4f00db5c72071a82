package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/backend/capability"
)

// host runs git as its owner would, outside, and reports whether it executed what a boxed command planted.
func (r *rig) host(dir string, args ...string) (string, bool) {
	r.t.Helper()
	marker := filepath.Join(r.workspace, "PWNED")
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = filepath.Join(r.workspace, dir)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + r.t.TempDir(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	_, there := os.Stat(marker)
	_ = os.Remove(marker)
	if err != nil {
		return string(out) + err.Error(), there == nil
	}
	return string(out), there == nil
}

// repository makes one on the host.
func (r *rig) repository(dir string) {
	r.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		r.t.Skip("git is not installed")
	}
	if err := os.MkdirAll(filepath.Join(r.workspace, dir), 0o755); err != nil {
		r.t.Fatal(err)
	}
	r.write(filepath.Join(dir, "file"), "x")
	for _, args := range [][]string{{"init", "-q"}, {"add", "file"}, {"commit", "-qm", "x"}} {
		if out, _ := r.host(dir, args...); out != "" {
			r.t.Fatal(out)
		}
	}
}

// told fails unless one finding has all parts.
func told(t *testing.T, end End, parts ...string) {
	t.Helper()
	if !slices.ContainsFunc(end.Findings, func(f string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(f, p) })
	}) {
		t.Errorf("no finding has %q: %q", parts, end.Findings)
	}
}

// TestCommonDirIsTakenAway: .git/commondir leads git to another configuration, and one made by a boxed command had the
// host's next git status execute what it named.
func TestCommonDirIsTakenAway(t *testing.T) {
	r := newRig(t)
	r.repository(".")
	_, end := r.run(r.spec(`mkdir evil; cp -r .git/objects .git/refs evil/
printf '[core]\nrepositoryformatversion=0\nfsmonitor=touch PWNED;false\n' >evil/config; echo ../evil >.git/commondir`))
	told(t, end, ".git/commondir", "renamed to commondir"+quarantined)
	if all := r.sink.all(); all[len(all)-1].Extra["findings"] != strings.Join(end.Findings, "\n") {
		t.Errorf("not on the record: %q", all[len(all)-1].Extra)
	}
	if out, pwned := r.host(".", "status", "--short"); pwned || !strings.Contains(out, "evil/") {
		t.Errorf("executed %v: %s", pwned, out)
	}
	// As a directory and as a link it only breaks git, and goes away all the same.
	for _, script := range []string{"mkdir .git/commondir", "ln -s /nowhere .git/commondir"} {
		if _, end = r.run(r.spec(script)); len(end.Findings) != 1 {
			t.Errorf("%s: %q", script, end.Findings)
		}
		if out, _ := r.host(".", "status", "--short"); strings.Contains(out, "fatal") {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// TestRepositoriesWithinAreProtected: only the workspace's own .git was, and host commands descend into submodules,
// worktrees and repositories below.
func TestRepositoriesWithinAreProtected(t *testing.T) {
	r := newRig(t)
	r.repository(".")
	r.repository("deep/down/nested")
	if out, _ := r.host(".", "worktree", "add", "-q", "tree"); out != "" {
		t.Fatal(out)
	}
	if out, _ := r.host(".", "config", "extensions.worktreeConfig", "true"); out != "" {
		t.Fatal(out)
	}
	if out, _ := r.host("deep/down/nested", "config", "core.fsmonitor", "false"); out != "" {
		t.Fatal(out) // its owner's setting, which stays
	}
	for _, script := range []string{"git status --short", "cd tree && git status --short", "cd deep/down/nested && git status --short"} {
		if out, code := r.script(script); code != 0 || strings.Contains(out, "warning") {
			t.Errorf("%s: %d %s", script, code, out)
		}
	}
	r.write(".git/worktrees/tree/config.worktree", "")
	modules := ".git/modules/libs/a"
	r.write(modules+"/HEAD", "ref: refs/heads/x\n")
	r.write(modules+"/objects/x", "")
	r.write(modules+"/refs/x", "")
	r.write(modules+"/config", "[core]\n")
	r.write(modules+"/hooks/x.sample", "")
	for _, script := range []string{
		"echo x >> .git/config.worktree", "rm .git/config.worktree", "mv .git/config.worktree x", // missing
		"echo x >> " + modules + "/config", "echo x > " + modules + "/hooks/post-checkout",
		"echo x >> .git/worktrees/tree/config.worktree", "echo x > .git/worktrees/tree/gitdir", "echo x > .git/worktrees/tree/commondir",
		"rm tree/.git", "echo gitdir: /x > tree/.git",
		"echo x >> deep/down/nested/.git/config", "echo x > deep/down/nested/.git/hooks/pre-commit",
		"rm -r deep/down/nested/.git/hooks", "git -C deep/down/nested config core.fsmonitor x",
	} {
		t.Run(script, func(t *testing.T) {
			if out, end := r.run(r.spec(script)); status(end) == 0 || len(end.Findings) > 0 {
				t.Errorf("%d %q %q", status(end), out, end.Findings)
			}
		})
	}
	for _, dir := range []string{".git", ".git/modules", ".git/modules/libs", ".git/worktrees", "tree", "deep", "deep/down", "deep/down/nested/.git"} {
		if got := r.attempt("rename", dir, dir+"-aside"); got != "EBUSY" {
			t.Errorf("rename %s: %s", dir, got)
		}
	}
	// What is missing in one of them is found afterwards.
	_, end := r.run(r.spec("printf '[core]\nfsmonitor=touch PWNED' > deep/down/nested/.git/config.worktree; echo .. > deep/down/nested/.git/commondir"))
	told(t, end, "nested/.git/config.worktree", "core.fsmonitor", "renamed")
	told(t, end, "nested/.git/commondir", "renamed")
	if text, err := os.ReadFile(filepath.Join(r.workspace, "deep/down/nested/.git/config")); err != nil || !strings.Contains(string(text), "fsmonitor = false") {
		t.Errorf("%s %v", text, err)
	}
}

// TestWhatAConfigurationLeadsToIsProtected: a repository whose owner keeps hooks and settings beside it obeyed those too.
func TestWhatAConfigurationLeadsToIsProtected(t *testing.T) {
	r := newRig(t)
	r.repository(".")
	r.write("tools/hooks/pre-commit", "#!/bin/sh\n")
	r.write("tools/gitconfig", "[alias]\n")
	for _, args := range [][]string{{"config", "core.hooksPath", "tools/hooks"}, {"config", "include.path", "../tools/gitconfig"}} {
		if out, _ := r.host(".", args...); out != "" {
			t.Fatal(out)
		}
	}
	for _, script := range []string{"echo x >> tools/hooks/pre-commit", "echo x >> tools/gitconfig", "mv tools x", "touch tools/hooks/post-commit"} {
		if out, code := r.script(script); code == 0 {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// TestNewRepositoriesAreJudged: a repository that a command leaves in the workspace works for the host's git, unless it
// makes that execute something.
func TestNewRepositoriesAreJudged(t *testing.T) {
	r := newRig(t)
	r.repository(".")
	evil := "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ../PWNED; touch PWNED; false\n"
	_, end := r.run(r.spec(`set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q good; cd good; echo x > f; git add f; git commit -qm x; git worktree add -q ../extra; git config user.name me; cd ..
git clone -q good copy; git -C copy remote add other https://example.org/x; git init -q --bare store`))
	if status(end) != 0 || len(end.Findings) != 5 { // good, copy, store, and the worktree on both its ends
		t.Errorf("%d %q", status(end), end.Findings)
	}
	if strings.Contains(strings.Join(end.Findings, "\n"), "renamed") {
		t.Errorf("%q", end.Findings)
	}
	for _, dir := range []string{"good", "copy", "extra"} {
		if out, _ := r.host(dir, "status", "--short"); out != "" {
			t.Errorf("%s: %s", dir, out)
		}
	}
	for _, c := range []struct{ name, script, taken string }{
		{"monitor", "git init -q n1; printf '" + evil + "' > n1/.git/config", "n1/.git/config"},
		{"hidden in a section line", "git init -q n2; echo '[core] fsmonitor = touch PWNED' >> n2/.git/config", "n2/.git/config"},
		{"configuration is a link", "git init -q n3; echo '" + evil + "' > x; ln -sf ../../x n3/.git/config", "n3/.git/config"},
		{"hook", "git init -q n4; echo x > n4/.git/hooks/pre-commit", "n4/.git/hooks"},
		{"hook behind many", "git init -q n11; for i in {1..1100}; do : > n11/.git/hooks/$i.sample; done; echo x > n11/.git/hooks/pre-commit", "n11/.git/hooks"},
		{"unreadable", "git init -q n12; printf '" + evil + "' > n12/.git/config; chmod 311 n12/.git n12", "n12/.git/config"},
		{"bare", "git init -q --bare n5; git -C n5 config core.fsmonitor 'touch PWNED'", "n5/config"},
		{"link to a repository", "mkdir n6; ln -s ../n5 n6/.git", "n6/.git"},
		{"file that leads into objects", "mkdir -p n7 .git/objects/e/refs .git/objects/e/objects; echo ref: refs/heads/x > .git/objects/e/HEAD; echo gitdir: ../.git/objects/e > n7/.git", "n7/.git"},
		{"configuration of a worktree", "git init -q n8; git -C n8 config extensions.worktreeConfig true; git -C n8 config --worktree core.fsmonitor 'touch PWNED'", "n8/.git/config.worktree"},
		{"elsewhere", "git init -q n9; git -C n9 config core.worktree /etc", "n9/.git/config"},
		{"helper", "git init -q n10; git -C n10 config remote.x.url 'ext::touch PWNED'", "n10/.git/config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, end := r.run(r.spec(c.script))
			told(t, end, "/"+c.taken+"\"", "renamed")
			dir, _, _ := strings.Cut(c.taken, "/")
			if _, pwned := r.host(dir, "status", "--short"); pwned {
				t.Error("executed")
			}
		})
	}
	if out, _ := r.host(".", "status", "--short"); strings.Contains(out, "fatal") {
		t.Error(out)
	}
	_ = os.Chmod(filepath.Join(r.workspace, "n12"), 0o755) // so that the test's directory can be removed
	_ = os.Chmod(filepath.Join(r.workspace, "n12/.git"), 0o755)
}

// TestWalkSaysWhereItStopped: beyond its bound nothing is claimed, and nothing that may be older than the command is
// touched.
func TestWalkSaysWhereItStopped(t *testing.T) {
	dir := resolved(t, t.TempDir())
	git := filepath.Join(dir, "node_modules", "x", ".git")
	for _, sub := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(git, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "x", "config": "[core]\nfsmonitor=x\n"} {
		if err := os.WriteFile(filepath.Join(git, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all := walkRepositories([]string{dir}, nil, maxWalked)
	if _, ok := all.dirs[git]; !ok || all.cut != "" {
		t.Errorf("%+v", all)
	}
	if found := inspect(all, []string{dir}, nil, maxWalked); len(found) > 0 {
		t.Errorf("%q", found)
	}
	time.Sleep(20 * time.Millisecond) // the kernel's clock for files is coarser than ours
	cut := walkRepositories([]string{dir}, nil, 1)
	if len(cut.dirs) != 0 || cut.cut == "" {
		t.Errorf("%+v", cut)
	}
	found := strings.Join(inspect(cut, []string{dir}, nil, maxWalked), "\n")
	if !strings.Contains(found, "incomplete") || !strings.Contains(found, "left alone") || strings.Contains(found, "renamed") {
		t.Error(found)
	}
	if skipped := walkRepositories([]string{dir}, []string{filepath.Join(dir, "node_modules")}, maxWalked); len(skipped.dirs) != 0 {
		t.Errorf("%+v", skipped)
	}
}

// TestLinkedProtectedPathCannotBeRedirected: a protected path that was a link had its target protected and not the way
// there, so that the way could be moved aside and made anew; and a target that was missing could be made.
func TestLinkedProtectedPathCannotBeRedirected(t *testing.T) {
	r := newRig(t)
	r.write("config/claude/settings.json", "{}")
	for link, target := range map[string]string{".claude": "config/claude", ".codex": "config/codex"} {
		if err := os.Symlink(target, filepath.Join(r.workspace, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range []string{"mv config x", "mv config/claude x", "mkdir -p config/codex && echo x > config/codex/x"} {
		if out, code := r.script(script); code == 0 {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// TestOurOwnFilesAreReadOnly: with the product's own checkout as the workspace, a boxed command replaced countersign-init
// and the programs that the host runs next.
func TestOurOwnFilesAreReadOnly(t *testing.T) {
	r := newRig(t)
	init := r.write("bin/tools/countersign-init", "")
	r.write("bin/countersign", "program")
	r.write("agent/settings.json", "{}")
	r.write("share/inner/file", "x")
	if err := errors.Join(os.Remove(init), copyFile(r.broker.o.Init, init)); err != nil {
		t.Fatal(err)
	}
	r.broken(func(o *Options) {
		o.Init = init
		o.Guarded = []string{filepath.Join(r.workspace, "bin/countersign"), filepath.Join(r.workspace, "agent/settings.json"),
			filepath.Join(r.workspace, "share"), filepath.Join(r.workspace, "agent/missing.json"), "relative"}
	})
	for _, script := range []string{
		"echo x > bin/countersign", "rm bin/countersign", "mv bin x", "mv bin/tools x", "echo x > bin/tools/countersign-init",
		"ln -sf /bin/true bin/tools/countersign-init", "mv bin/tools/countersign-init y", "chmod 777 bin/countersign",
		"echo x > agent/settings.json", "mv agent x", "echo x > agent/missing.json", "echo x > share/new", "echo x > share/inner/file",
	} {
		if out, code := r.script(script); code == 0 {
			t.Errorf("%s: %s", script, out)
		}
	}
	if out, code := r.script("cat bin/countersign && touch bin/other agent/other"); code != 0 {
		t.Errorf("%d %s", code, out)
	}
	r.change = func(req *capability.Request) {
		req.WriteRoots = []string{filepath.Join(r.workspace, "share", "inner")}
	}
	if _, _, err := r.try(t.Context(), r.spec("true")); !errors.Is(err, ErrRootTooWide) {
		t.Errorf("a write root in a guarded directory: %v", err)
	}
}

// TestHiddenFile: a passphrase file that lies in the workspace is hidden as directories are.
func TestHiddenFile(t *testing.T) {
	r := newRig(t)
	r.write("keys/real", "secret")
	hidden := r.write("keys/passphrase", "secret")
	link := filepath.Join(r.workspace, "link")
	if err := os.Symlink("keys/real", link); err != nil {
		t.Fatal(err)
	}
	r.broken(func(o *Options) { o.Hidden = []string{hidden, link} })
	for _, policy := range []capability.SandboxPolicy{capability.WorkspaceWrite, capability.ReadOnly} {
		r.policy = policy
		for _, script := range []string{
			"cat keys/passphrase", "cat link", "cat keys/real", "mv keys x", "rm -f keys/passphrase", "ln keys/passphrase x", "echo x > keys/passphrase",
		} {
			if out, code := r.script(script); code == 0 || strings.Contains(out, "secret") {
				t.Errorf("%s: %s", script, out)
			}
		}
	}
	if text, err := os.ReadFile(hidden); err != nil || string(text) != "secret" {
		t.Errorf("%s %v", text, err)
	}
}

// TestCheckAnswersAsStartWould: a root that is too wide was refused only after its owner had been asked and had agreed.
func TestCheckAnswersAsStartWould(t *testing.T) {
	r := newRig(t)
	home, _ := os.UserHomeDir()
	for _, c := range []struct {
		name   string
		change func(*capability.Request)
		want   error
	}{
		{"usual", func(*capability.Request) {}, nil},
		{"everything", func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, "/") }, ErrRootTooWide},
		{"temporary", func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, "/tmp") }, ErrRootTooWide},
		{"home", func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, home) }, ErrRootTooWide},
		{"missing", func(req *capability.Request) { req.WriteRoots = append(req.WriteRoots, "/no/such/root") }, ErrRootMissing},
		{"network", func(req *capability.Request) { req.Network = capability.NetworkOpen }, ErrNetwork},
		{"unboxed", func(req *capability.Request) { req.Policy = capability.DangerFullAccess }, ErrUnboxed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.change = c.change
			spec := r.spec("true")
			if err := r.broker.Check(spec.Effective); !errors.Is(err, c.want) {
				t.Errorf("check: %v, want %v", err, c.want)
			}
			if _, _, err := r.try(t.Context(), spec); !errors.Is(err, c.want) {
				t.Errorf("start: %v, want %v", err, c.want)
			}
		})
	}
	if err := r.broker.Check(capability.Effective{}); !errors.Is(err, ErrSpec) {
		t.Error(err)
	}
}
