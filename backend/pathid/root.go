package pathid

import (
	"strings"
)

// Root is a directory that was looked at once: where it is and which directory it was.
type Root struct {
	Path     string   `json:"path"` // absolute, resolved
	Identity Identity `json:"identity"`
}

// OpenRoot resolves the absolute directory path and records its identity. Nothing stays open.
func OpenRoot(fsys FS, path string) (Root, error) {
	return openRoot(platformOf(path), fsys, path)
}

func openRoot(p Platform, fsys FS, path string) (Root, error) {
	if !IsAbs(p, path) {
		return Root{}, refuse("root", path, ErrRelative)
	}
	r, err := Resolve(p, fsys, path)
	if err != nil {
		return Root{}, err
	}
	if !r.Exists || !r.Info.Mode.IsDir() {
		return Root{}, refuse("root", path, ErrNotDirectory)
	}
	if r.Info.Identity == (Identity{}) {
		return Root{}, refuse("root", path, ErrNoIdentity)
	}
	return Root{Path: r.Path, Identity: r.Info.Identity}, nil
}

// Verify reports ErrReplaced, in a *fs.PathError, when another directory, a link or nothing stands at the root's path
// now. The answer can be stale when it arrives: it notices, it does not prevent.
func (r Root) Verify(fsys FS) error {
	now, err := openRoot(platformOf(r.Path), fsys, r.Path)
	if err != nil || now.Path != r.Path || !now.Identity.Same(r.Identity) {
		return refuse("verify", r.Path, ErrReplaced)
	}
	return nil
}

// Workspace is a root with a working directory inside it.
type Workspace struct {
	Root Root `json:"root"`
	Cwd  Root `json:"cwd"`
}

// OpenWorkspace makes root and cwd canonical. It refuses relative paths (ErrRelative), paths that contain ".."
// (ErrParent), and a cwd that after resolution does not lie inside root (ErrOutside).
func OpenWorkspace(p Platform, fsys FS, root, cwd string) (Workspace, error) {
	for _, path := range []string{root, cwd} {
		if !IsAbs(p, path) {
			return Workspace{}, refuse("workspace", path, ErrRelative)
		}
		if hasParent(p, path) {
			return Workspace{}, refuse("workspace", path, ErrParent)
		}
	}
	r, err := openRoot(p, fsys, root)
	if err != nil {
		return Workspace{}, err
	}
	c, err := openRoot(p, fsys, cwd)
	if err != nil {
		return Workspace{}, err
	}
	if !Contains(p, r.Path, c.Path) {
		return Workspace{}, refuse("workspace", c.Path, ErrOutside)
	}
	return Workspace{Root: r, Cwd: c}, nil
}

// Verify reports ErrReplaced when the root or the working directory is another directory now.
func (w Workspace) Verify(fsys FS) error {
	if err := w.Root.Verify(fsys); err != nil {
		return err
	}
	return w.Cwd.Verify(fsys)
}

func hasParent(p Platform, path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' && p.IsWindows() }) {
		if part == ".." {
			return true
		}
	}
	return false
}

// RepositoryRoot returns the nearest ancestor of the absolute directory dir, dir included, that holds a .git directory
// or file (a worktree or submodule has a file; a link to either counts too). Pass a resolved dir.
func RepositoryRoot(fsys FS, dir string) (string, bool) {
	p := platformOf(dir)
	parts, ok := Components(p, dir)
	if !ok {
		return "", false
	}
	for n := len(parts); n >= rootLength(p); n-- {
		here := build(p, parts[:n])
		info, err := fsys.Lstat(Join(p, here, ".git"))
		if err == nil && (info.Mode.IsDir() || info.Mode.IsRegular() || isLink(info)) {
			return here, true
		}
	}
	return "", false
}
