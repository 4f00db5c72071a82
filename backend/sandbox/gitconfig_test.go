package sandbox

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHarmfulSetting(t *testing.T) {
	inside := func(path string) bool { return path == "../../../sub" }
	const unclear = "what cannot be judged"
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n", ""},
		{"[remote \"origin\"]\r\n\turl = git@example.org:x/y.git\r\n\tfetch = +refs/heads/*:refs/remotes/origin/*\r\n", ""},
		{"[CORE]\nBare\n; note\n# note\n[branch.main]\nmerge = refs/heads/main\n", ""},
		{"[core]\nworktree = ../../../sub\n", ""},
		{"[core]\nworktree = /home/user\n", "core.worktree"},
		{"[core]\nFsMonitor = x\n", "core.fsmonitor"},
		{"[core]\nsshCommand = x\n", "core.sshcommand"},
		{"[include]\npath = x\n", "include.path"},
		{"[filter \"x\"]\nclean = x\n", "filter.clean"},
		{"[submodule \"x\"]\nupdate = !x\n", "submodule.update"},
		{"[remote \"x\"]\nurl = ext::sh\n", "remote.url"},
		{"[core] fsmonitor = x\n", unclear},
		{"[core]\nbare = \\\n x\n", unclear},
		{"[core]\nbare = \"x\"\n", unclear},
		{"[core]\nbare = x\rfsmonitor = y\n", unclear},
		{"bare = x\n", unclear},
		{"\ufeff[core]\nbare\n", unclear},
		{"[core]\nbare = \x00\n", unclear},
	} {
		if got := harmfulSetting(c.text, inside); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestHarmlessIsHarmlessToGit: whatever is judged harmless, git itself reads no other key in it.
func TestHarmlessIsHarmlessToGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"[core]", "[core", "]", "[remote \"x\"]", " ", "\t", "\n", "\n", "\n", "\r", "\\", "\"", "#", ";", "=", "bare", "url", "fsmonitor",
			"= x", "[core.x]", "[a \"]\n\"]", "\v", "\f", "-", ".",
		}), 0, 12).Draw(t, "parts")
		text := "[core]\nbare = true\n" + strings.Join(parts, "")
		if harmfulSetting(text, func(string) bool { return true }) != "" {
			return
		}
		cmd := exec.CommandContext(t.Context(), "git", "config", "--no-includes", "--file", "-", "--name-only", "--list", "-z")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			return // git refuses it
		}
		for key := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
			section, _, _ := strings.Cut(key, ".")
			if name := section + key[strings.LastIndex(key, "."):]; !slices.Contains(harmlessSettings, name) {
				t.Fatalf("%q: git reads %s", text, key)
			}
		}
	})
}

func TestReachedBy(t *testing.T) {
	include, hooks := reachedBy("[include]\n\tpath = \"../a\"\n[includeIf \"gitdir:/x]\"] path=b\n[core]\nHooksPath = .husky\n[other]\npath = c\nhookspath = d\n[core] hooksPath=e\n")
	if diff := cmp.Diff([][]string{{"../a"}, {".husky", "e"}}, [][]string{include, hooks}); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseGitConfig(f *testing.F) {
	f.Add("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n")
	f.Add("[core] fsmonitor = x")
	f.Fuzz(func(t *testing.T, text string) {
		list, ok := parseGitConfig(text)
		if !ok && list != nil {
			t.Error("settings of what was not understood")
		}
		for _, s := range list {
			if strings.ToLower(s.key) != s.key || strings.ContainsAny(s.value, "\"\\\n\r") {
				t.Errorf("%q", s)
			}
		}
		reachedBy(text)
	})
}
