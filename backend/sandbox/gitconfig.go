package sandbox

import (
	"regexp"
	"slices"
	"strings"
)

// setting is one line of a Git configuration: "core.bare", the subsection left out, and its value.
type setting struct{ key, value string }

var (
	gitSection = regexp.MustCompile(`^[ \t]*\[([A-Za-z0-9.-]+)(?:[ \t]+"[^"\\\x00\n]*")?\][ \t]*$`)
	gitSetting = regexp.MustCompile(`^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*([^"\\\r\x00\n]*))?$`)
	gitComment = regexp.MustCompile(`^[ \t]*(?:[#;].*)?$`)
)

// harmlessSettings are what git init, clone, worktree, submodule and the usual git config write, and what makes git
// neither execute a program, nor read more configuration, nor look for files elsewhere. What is not listed is not
// harmless: git gets new keys with every version.
var harmlessSettings = []string{
	"branch.merge", "branch.rebase", "branch.remote", "core.autocrlf", "core.bare", "core.eol", "core.filemode",
	"core.ignorecase", "core.logallrefupdates", "core.precomposeunicode", "core.repositoryformatversion", "core.safecrlf",
	"core.sparsecheckout", "core.sparsecheckoutcone", "core.symlinks", "core.worktree", "extensions.objectformat",
	"extensions.partialclone", "extensions.refstorage", "extensions.worktreeconfig", "gc.auto", "index.sparse",
	"init.defaultbranch", "pull.ff", "pull.rebase", "remote.fetch", "remote.mirror", "remote.partialclonefilter",
	"remote.promisor", "remote.pushurl", "remote.tagopt", "remote.url", "submodule.active", "submodule.url", "user.email",
	"user.name",
}

// parseGitConfig reads the plain part of the syntax, a section or a setting on each line. More than that (quoted or
// continued values, a setting beside its section) is not understood: the answer is false.
func parseGitConfig(text string) ([]setting, bool) {
	var list []setting
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if gitComment.MatchString(line) {
			continue
		}
		if m := gitSection.FindStringSubmatch(line); m != nil {
			section, _, _ = strings.Cut(strings.ToLower(m[1]), ".") // [a.b] is the old way to write [a "b"]
			continue
		}
		m := gitSetting.FindStringSubmatch(line)
		if m == nil || section == "" {
			return nil, false
		}
		list = append(list, setting{section + "." + strings.ToLower(m[1]), strings.TrimSpace(m[2])})
	}
	return list, true
}

// harmfulSetting returns the first setting that is not harmless, or "". inside judges a working tree's path: a
// repository of another tree would write there.
func harmfulSetting(text string, inside func(path string) bool) string {
	list, ok := parseGitConfig(text)
	if !ok {
		return "what cannot be judged"
	}
	for _, s := range list {
		switch {
		case !slices.Contains(harmlessSettings, s.key):
			return s.key
		case s.key == "core.worktree" && !inside(s.value):
			return s.key
		case strings.HasSuffix(s.key, "url") && strings.Contains(s.value, "::"): // a helper program
			return s.key
		}
	}
	return ""
}

// reachedBy returns the files and directories that a configuration makes git obey besides its own: included files and
// the directory of hooks. It reads generously, since what it finds is only made read-only.
func reachedBy(text string) (include, hooks []string) {
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			head, after, _ := strings.Cut(rest, "]")
			section, _, _ = strings.Cut(strings.ToLower(head), " ")
			section, _, _ = strings.Cut(section, ".")
			line = strings.TrimSpace(after)
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case value == "":
		case key == "path" && (section == "include" || section == "includeif"):
			include = append(include, value)
		case key == "hookspath" && section == "core":
			hooks = append(hooks, value)
		}
	}
	return include, hooks
}
