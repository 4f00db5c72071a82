package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"countersign/backend/pathid"
)

// git status runs git inside every repository that the index names, and that one's configuration may name a program
// (core.fsmonitor). A repository came as an archive with such a directory in it, and git status ran the program while only
// .git/modules had been looked for.
func TestGitNestedRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, version := range []string{"2", "3", "4"} {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		git := func(dir string, args ...string) {
			t.Helper()
			cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		write := func(name string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(root, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		judge := func() string {
			call := Call{Tool: "bash", Args: []byte(`{"command":"git status"}`), Cwd: root, Roots: []string{root}, Platform: pathid.Host()}
			return Examine(call, pathid.OS()).unsafeText()
		}
		git(root, "init", "-q", ".")
		for _, name := range []string{"a", "ab", "abc.txt", "b-long-name-of-a-file"} {
			write(name)
		}
		git(root, "add", ".")
		git(root, "update-index", "--index-version", version)
		if version == "3" { // git writes 3 only where it needs it
			write("later")
			git(root, "add", "-N", "later")
		}
		if why := judge(); why != "" {
			t.Errorf("index %s: a plain repository is unsafe: %s", version, why)
		}
		sub := filepath.Join(root, "sub2")
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		git(sub, "init", "-q", ".")
		git(sub, "commit", "-q", "--allow-empty", "-m", "x")
		git(root, "add", "sub2")
		if why := judge(); why != "a repository inside the repository" {
			t.Errorf("index %s: a nested repository gives %q", version, why)
		}
		if err := os.RemoveAll(filepath.Join(sub, ".git")); err != nil {
			t.Fatal(err)
		}
		if why := judge(); why != "" {
			t.Errorf("index %s: a submodule that is not checked out is unsafe: %s", version, why)
		}
		git(root, "update-index", "--split-index")
		if why := judge(); why == "" {
			t.Errorf("index %s: a split index does not hold all names", version)
		}
	}
}
