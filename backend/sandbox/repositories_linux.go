package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The bounds of one walk over the write roots. What lies beyond is neither protected nor compared, and a finding says so.
const (
	maxWalked       = 1 << 15 // directory entries
	maxWalkDepth    = 32      // directories below a root
	maxRepositories = 128     // whose files are made read-only; the others are compared
	maxGitFile      = 64 << 10
	walkBatch       = 1024 // entries read at once
)

// bulky directories are looked at last: they hold many files of others, and the bound should not be spent on them.
var bulky = []string{
	".cache", ".gradle", ".next", ".tox", ".venv", "__pycache__", "bower_components", "build", "dist", "node_modules",
	"site-packages", "target", "vendor", "venv",
}

// watchedInGit are the files of a repository through which git is made to execute programs, or to look for them elsewhere.
var watchedInGit = []string{"commondir", "config", "config.worktree", "gitdir", "hooks"}

func stampOf(path string) (stamp, bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return stamp{}, false
	}
	return stamp{uint64(st.Dev), st.Ino, st.Mode, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, true //nolint:unconvert // Dev is 32 bits on some machines
}

// walkRepositories walks breadth first, so that the bound is spent near the roots, and follows no link. skip says what a
// command cannot write to.
func walkRepositories(roots []string, skip []string, most int) repositories {
	out := repositories{began: time.Now(), dirs: map[string]map[string]stamp{}, files: map[string]stamp{}, blind: map[string]bool{}}
	type step struct {
		path  string
		depth int
		inGit bool // below a .git: there is no working tree
	}
	var queue, later []step
	for _, root := range roots {
		if !slices.ContainsFunc(roots, func(r string) bool { return r != root && within(r, root) }) {
			queue = append(queue, step{path: root, inGit: slices.Contains(strings.Split(root, "/"), ".git")})
		}
	}
	left := most
	for len(queue) > 0 || len(later) > 0 {
		if len(queue) == 0 {
			queue, later = later, nil
		}
		at := queue[0]
		queue = queue[1:]
		if inAny(skip, at.path) {
			continue
		}
		if left <= 0 {
			out.cut = fmt.Sprintf("more than %d files: what lies deeper was not looked at", most)
			break
		}
		entries, err := entriesOf(at.path, left+1)
		if err != nil {
			// Git needs no list of names to find what it knows; what else lies here nobody sees.
			out.blind[at.path] = true
			entries = knownEntries(at.path)
		}
		left -= len(entries)
		has := map[string]bool{}
		for _, e := range entries {
			switch e.Name() {
			case "HEAD", "commondir", "objects", "refs":
				has[e.Name()] = true
			}
		}
		isGit := has["HEAD"] && (has["commondir"] || has["objects"] && has["refs"])
		if isGit || filepath.Base(at.path) == ".git" {
			found := map[string]stamp{}
			for _, name := range watchedInGit {
				if s, ok := stampOf(filepath.Join(at.path, name)); ok {
					found[name] = s
				}
			}
			if isGit || len(found) > 0 { // an empty .git is another command's stand-in
				out.dirs[at.path] = found
			}
		}
		for _, e := range entries {
			path := filepath.Join(at.path, e.Name())
			switch {
			case e.Name() == ".git" && !e.IsDir():
				if s, ok := stampOf(path); ok {
					out.files[path] = s
				}
			case !e.IsDir(), isGit && at.inGit && e.Name() != "modules" && e.Name() != "worktrees":
			case at.depth+1 > maxWalkDepth:
				out.cut = fmt.Sprintf("deeper than %d directories: what lies deeper was not looked at", maxWalkDepth)
			default:
				next := step{path, at.depth + 1, at.inGit || e.Name() == ".git"}
				if slices.Contains(bulky, e.Name()) {
					later = append(later, next)
				} else {
					queue = append(queue, next)
				}
			}
		}
	}
	return out
}

// knownEntries looks for the names that mean something to git in a directory that cannot be read.
func knownEntries(dir string) []fs.DirEntry {
	var list []fs.DirEntry
	for _, name := range []string{".git", "HEAD", "commondir", "modules", "objects", "refs", "worktrees"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			list = append(list, fs.FileInfoToDirEntry(info))
		}
	}
	return list
}

// entriesOf reads up to most entries of a directory that no link leads to.
func entriesOf(dir string, most int) ([]fs.DirEntry, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	var list []fs.DirEntry
	for len(list) < most {
		got, err := f.ReadDir(min(walkBatch, most-len(list)))
		list = append(list, got...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// guards makes what was found read-only, and what the configurations found lead to.
func (r repositories) guards(writable []place) []guard {
	var list []guard
	add := func(path string, dir bool) {
		for _, g := range guardsOf(path, dir, writable) {
			g.Passing = !g.Missing
			list = append(list, g)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(r.files))[:min(len(r.files), maxRepositories)] {
		add(path, false)
	}
	for _, dir := range r.protected() {
		for name := range r.dirs[dir] {
			add(filepath.Join(dir, name), name == "hooks")
		}
		for _, name := range []string{"config", "config.worktree"} {
			if _, ok := r.dirs[dir][name]; !ok {
				continue
			}
			text, err := readGitFile(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			include, hooks := reachedBy(text)
			for _, path := range include {
				add(besides(dir, path), false)
			}
			for _, path := range hooks {
				add(besides(filepath.Dir(dir), path), true)
			}
		}
	}
	return list
}

// protected returns the repositories whose files are made read-only, those nearest to the roots first.
func (r repositories) protected() []string {
	dirs := slices.SortedFunc(maps.Keys(r.dirs), func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return dirs[:min(len(dirs), maxRepositories)]
}

// besides resolves a path that a configuration names.
func besides(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if homes := homeDirectories(); len(homes) > 0 {
			return filepath.Join(homes[0], rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readGitFile reads a small regular file that no link leads to.
func readGitFile(path string) (string, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", &os.PathError{Op: "read", Path: path, Err: unix.EINVAL}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxGitFile+1))
	if err == nil && len(text) > maxGitFile {
		err = &os.PathError{Op: "read", Path: path, Err: unix.EFBIG}
	}
	return string(text), err
}
