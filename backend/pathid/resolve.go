package pathid

import (
	"errors"
	"io/fs"
	"strings"
)

// MaxLinks is how many symbolic links one path may go through, as on Linux (path_resolution(7)).
const MaxLinks = 40

// Resolved is where a path leads.
type Resolved struct {
	Path   string // absolute, without links in the part that exists
	Exists bool
	Info   Info // of Path, when it exists
	Links  int  // how many links were followed
}

// Resolve follows every symbolic link of the absolute path name, the last component's too, as the operating system
// would: ".." after a link leaves the link's target. What does not exist is appended as written.
//
// Refused are a relative name (ErrRelative), more than MaxLinks links (ErrTooManyLinks), a file where a directory is
// needed (ErrNotDirectory), and on Linux everything behind /proc/self and the links root, cwd, exe, fd, map_files and ns
// of a process (ErrMagicLink): they lead to another place for every process that looks. Other errors of fsys are
// returned as they are; a caller that cannot resolve a path must not treat it as harmless.
func Resolve(p Platform, fsys FS, name string) (Resolved, error) {
	if !IsAbs(p, name) && !p.IsWindows() {
		return Resolved{}, refuse("resolve", name, ErrRelative)
	}
	if len(name) > MaxPath {
		return Resolved{}, refuse("resolve", name[:256], ErrTooLong)
	}
	if strings.IndexByte(name, 0) >= 0 {
		return Resolved{}, refuse("resolve", name, ErrNUL)
	}
	w := walker{p: p, fsys: fsys, name: name}
	if p.IsWindows() {
		// Windows removes ".." from the text before it looks at any link.
		if err := w.restartWindows("", name); err != nil {
			return Resolved{}, err
		}
	} else {
		w.done, w.rest = "/", strings.Split(name, "/")
	}
	return w.walk()
}

// walker holds one resolution: done exists and is resolved, missing does not exist below it, rest is still to be looked
// at.
type walker struct {
	p       Platform
	fsys    FS
	name    string // as asked, for errors
	done    string
	missing []string
	rest    []string
	links   int
}

// restartWindows goes on at an absolute form of name, which is relative to base.
func (w *walker) restartWindows(base, name string) error {
	abs, err := Abs(w.p, base, name)
	if err != nil {
		return err
	}
	parts, _ := Components(w.p, abs)
	w.done, w.rest = build(w.p, parts[:1]), append(parts[1:len(parts):len(parts)], w.rest...)
	return nil
}

func (w *walker) walk() (Resolved, error) {
	var info Info
	looked := false // info describes done
	for len(w.rest) > 0 {
		part := w.rest[0]
		w.rest = w.rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(w.missing) > 0:
			w.missing = w.missing[:len(w.missing)-1]
			continue
		case part == "..":
			w.done, looked = Dir(w.p, w.done), false
			continue
		case len(w.missing) > 0:
			w.missing = append(w.missing, part)
			continue
		}
		path := Join(w.p, w.done, part)
		if len(path) > MaxPath {
			return Resolved{}, refuse("resolve", w.name, ErrTooLong)
		}
		found, err := w.fsys.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			w.missing = append(w.missing, part)
		case err != nil:
			return Resolved{}, err
		case isLink(found):
			if err := w.follow(path); err != nil {
				return Resolved{}, err
			}
			looked = false
		case !found.Mode.IsDir() && w.needsDirectory():
			return Resolved{}, refuse("resolve", path, ErrNotDirectory)
		default:
			w.done, info, looked = path, found, true
		}
	}
	if len(w.missing) > 0 {
		path := Join(w.p, w.done, strings.Join(w.missing, separator(w.p)))
		if len(path) > MaxPath {
			return Resolved{}, refuse("resolve", w.name, ErrTooLong)
		}
		return Resolved{Path: path, Links: w.links}, nil
	}
	out := Resolved{Path: w.done, Exists: true, Info: info, Links: w.links}
	if looked {
		return out, nil
	}
	// The last thing was a "..", or the path is the root: what stands there has not been described yet.
	found, err := w.fsys.Lstat(out.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Resolved{Path: out.Path, Links: w.links}, nil
	}
	if err != nil {
		return Resolved{}, err
	}
	out.Info = found
	return out, nil
}

// needsDirectory reports whether anything that is left to walk needs the current component to be a directory.
func (w *walker) needsDirectory() bool {
	for _, part := range w.rest {
		if part != "" {
			return true
		}
	}
	return false
}

// follow puts the target of the link at path in front of what is left.
func (w *walker) follow(path string) error {
	if !w.p.IsWindows() && isMagic(path) {
		return refuse("resolve", path, ErrMagicLink)
	}
	if w.links++; w.links > MaxLinks {
		return refuse("resolve", w.name, ErrTooManyLinks)
	}
	target, err := w.fsys.Readlink(path)
	if err != nil {
		return err
	}
	if target == "" {
		return refuse("resolve", path, ErrEmpty)
	}
	if strings.IndexByte(target, 0) >= 0 {
		return refuse("resolve", path, ErrNUL)
	}
	if len(target) > MaxPath {
		return refuse("resolve", path, ErrTooLong)
	}
	if w.p.IsWindows() {
		return w.restartWindows(w.done, target)
	}
	if target[0] == '/' {
		w.done = "/"
	}
	w.rest = append(strings.Split(target, "/"), w.rest...)
	return nil
}

// isMagic reports whether the link at this resolved path of procfs leads somewhere else for each process that looks, or
// to an open file instead of a name (proc(5)).
func isMagic(path string) bool {
	below, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return false
	}
	here := strings.Split(below, "/")
	if here[0] == "self" || here[0] == "thread-self" {
		return true
	}
	if len(here) >= 4 && here[1] == "task" {
		here = here[2:]
	}
	if len(here) < 2 {
		return false
	}
	switch here[1] {
	case "root", "cwd", "exe", "fd", "map_files", "ns":
		return true
	}
	return false
}
