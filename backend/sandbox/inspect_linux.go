package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// quarantined is the ending of what was taken away from git.
const quarantined = ".countersign-quarantined"

// inspection compares the write roots after a command with what they were before.
type inspection struct {
	before, after repositories
	roots         []string
	findings      []string
}

// inspect walks the write roots again and takes away from git what appeared there and would make it execute programs on
// the host. No stand-in could have kept these files from appearing: git does not run with an empty commondir, and
// commands may make repositories of their own.
func inspect(before repositories, roots, skip []string, most int) []string {
	i := inspection{before: before, after: walkRepositories(roots, skip, most), roots: roots}
	for _, cut := range slices.Compact([]string{before.cut, i.after.cut}) {
		if cut != "" {
			i.findings = append(i.findings, "the search for Git repositories is incomplete: "+cut)
		}
	}
	if n := max(len(before.dirs), len(before.files)); n > maxRepositories {
		i.findings = append(i.findings, fmt.Sprintf("%d Git repositories: only %d were made read-only", n, maxRepositories))
	}
	for _, dir := range slices.Sorted(maps.Keys(i.after.blind)) {
		if !before.blind[dir] {
			i.say(dir, "cannot be inspected")
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(i.after.dirs)) {
		old, known := before.dirs[dir]
		if !known {
			i.say(dir, "a Git repository appeared")
		}
		for _, name := range slices.Sorted(maps.Keys(i.after.dirs[dir])) {
			now := i.after.dirs[dir][name]
			switch was, existed := old[name]; {
			case !existed:
				i.appeared(dir, name, now)
			case was != now:
				i.say(filepath.Join(dir, name), "changed while the command ran")
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(i.after.files)) {
		now := i.after.files[path]
		switch was, existed := before.files[path]; {
		case !existed:
			i.say(path, "a Git repository appeared")
			if reason := i.judgeGitFile(path, now); reason != "" {
				i.takeAway(path, reason, now)
			}
		case was != now:
			i.say(path, "changed while the command ran")
		}
	}
	return i.findings
}

func (i *inspection) say(path, what string) {
	i.findings = append(i.findings, strconv.Quote(path)+": "+what)
}

// appeared judges a watched file of a repository that was not there before.
func (i *inspection) appeared(dir, name string, now stamp) {
	path := filepath.Join(dir, name)
	reason := ""
	switch name {
	case "commondir":
		reason = i.judgeCommonDir(dir)
	case "config", "config.worktree":
		text, err := readGitFile(path)
		if err != nil {
			reason = "cannot be judged"
		} else if key := harmfulSetting(text, func(tree string) bool {
			return !strings.HasPrefix(tree, "~") && i.inside(besides(dir, tree))
		}); key != "" {
			reason = "sets " + key
		}
	case "hooks":
		reason = judgeHooks(path)
	}
	if reason != "" {
		i.takeAway(path, reason, now)
	}
}

// judgeCommonDir accepts what git worktree add writes: worktrees/NAME of a repository belongs to that repository.
func (i *inspection) judgeCommonDir(dir string) string {
	text, err := readGitFile(filepath.Join(dir, "commondir"))
	owner := filepath.Dir(filepath.Dir(dir))
	_, known := i.after.dirs[owner]
	if err != nil || strings.TrimRight(text, "\n") != "../.." || filepath.Base(filepath.Dir(dir)) != "worktrees" || !known {
		return "leads git to another repository's configuration"
	}
	return ""
}

// judgeHooks accepts the samples that git init copies.
func judgeHooks(path string) string {
	entries, err := entriesOf(path, walkBatch)
	if err != nil || len(entries) == walkBatch {
		return "cannot be judged"
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sample") {
			return "holds hooks"
		}
	}
	return ""
}

// judgeGitFile accepts a .git that names a repository which the walk found, and so judged, or none at all.
func (i *inspection) judgeGitFile(path string, now stamp) string {
	if now.Mode&unix.S_IFMT == unix.S_IFLNK {
		return "a link in the place of a repository"
	}
	text, err := readGitFile(path)
	if err != nil {
		return "cannot be judged"
	}
	target, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return "" // git refuses it
	}
	full := strings.TrimRight(target, "\r\n")
	if !filepath.IsAbs(full) {
		full = filepath.Join(filepath.Dir(path), full)
	}
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if _, known := i.after.dirs[real]; err != nil || !known {
		return "leads git to a repository that was not inspected"
	}
	return ""
}

// inside reports whether a working tree lies in a write root, links resolved where it exists.
func (i *inspection) inside(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return slices.ContainsFunc(i.roots, func(root string) bool { return within(root, path) })
}

// takeAway renames a file so that git passes over it, in place, where its owner finds it; what cannot be renamed is
// removed. Where the first walk was not complete, only what is younger than the command can be known to be its work.
func (i *inspection) takeAway(path, reason string, now stamp) {
	if i.before.cut != "" && now.Changed < i.before.began.UnixNano() {
		i.say(path, reason+"; left alone, because it may be older than the command")
		return
	}
	parent, err := openParent(path)
	if err != nil {
		i.say(path, reason+"; could not be taken away: "+err.Error())
		return
	}
	defer unix.Close(parent)
	name := filepath.Base(path)
	for n := range 100 {
		to := name + quarantined
		if n > 0 {
			to += "-" + strconv.Itoa(n)
		}
		if err = unix.Renameat2(parent, name, parent, to, unix.RENAME_NOREPLACE); err == nil {
			i.say(path, reason+"; renamed to "+to)
			return
		}
		if !errors.Is(err, unix.EEXIST) {
			break
		}
	}
	if unix.Unlinkat(parent, name, 0) == nil {
		i.say(path, reason+"; removed")
		return
	}
	i.say(path, reason+"; could not be taken away: "+err.Error())
}
