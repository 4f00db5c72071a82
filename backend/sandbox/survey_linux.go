package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// secretsKept is how long a walk of /etc is believed.
const secretsKept = 30 * time.Second

// maxSecrets bounds the masks over system directories.
const maxSecrets = 512

// survey looks at everything the planner needs to know for one capability.
func (s *system) survey(snap capability.Snapshot, home, tmp string, abi int) (survey, error) {
	out := survey{
		Policy: snap.Policy, Cwd: snap.Cwd, Home: home, Tmp: tmp, ABI: abi,
		EmptyDir: s.standIn("empty"), EmptyFile: s.standIn("file"), DeniedDir: s.standIn("denied"), Root: os.Geteuid() == 0,
	}
	if err := s.roots(&out, snap); err != nil {
		return out, err
	}
	for _, root := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if target, err := os.Readlink(root); err == nil {
			out.Links = append(out.Links, [2]string{root, target})
		}
	}
	for _, path := range s.denied(snap) {
		// A link is hidden by what it leads to; that it leads there still is looked at after the run.
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			out.Guards = append(out.Guards, guardsOf(path, false, out.Write)...)
			path = real
		}
		switch info, err := os.Lstat(path); {
		case err == nil:
			out.Denied = append(out.Denied, place{path, info.IsDir()})
		default:
			for _, w := range out.Write {
				if missing := firstMissing(w.Path, path); within(w.Path, path) && missing != "" {
					out.Guards = append(out.Guards, guard{
						Path: missing, Dir: true, Missing: true, Ancestors: between(w.Path, missing),
					})
				}
			}
		}
	}
	var err error
	if out.Denied, err = s.withSecrets(out); err != nil {
		return out, err
	}
	for _, w := range out.Write {
		if w.Dir {
			out.Guards = append(out.Guards, guardsIn(w.Path, out.Write)...)
		}
	}
	for _, path := range s.guarded() {
		out.Guards = append(out.Guards, guardsOf(path, false, out.Write)...)
	}
	roots, skip := s.walked(snap)
	out.Git = walkRepositories(roots, skip, maxWalked)
	out.Guards = append(out.Guards, out.Git.guards(out.Write)...)
	slices.SortStableFunc(out.Guards, func(a, b guard) int { return strings.Compare(a.Path, b.Path) })
	out.Guards = slices.CompactFunc(out.Guards, func(a, b guard) bool { return a.Path == b.Path && a.Target == b.Target })
	return out, nil
}

// roots fills in the capability's roots and what they are measured by.
func (s *system) roots(out *survey, snap capability.Snapshot) error {
	out.Homes = homeDirectories()
	for _, path := range s.guarded() {
		out.Guarded = append(out.Guarded, path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			out.Guarded = append(out.Guarded, real)
		}
	}
	var err error
	if out.Write, err = places(snap.WriteRoots, true); err != nil {
		return err
	}
	if out.Read, err = places(snap.ReadRoots, false); err != nil {
		return err
	}
	out.Metadata, err = places(snap.MetadataRoots, false)
	return err
}

// denied are the paths that nothing opens.
func (s *system) denied(snap capability.Snapshot) []string {
	return slices.Concat(snap.DeniedRoots, s.b.o.Hidden, []string{s.b.o.Scratch})
}

// guarded are the product's own files, which nothing writes.
func (s *system) guarded() []string {
	list := slices.DeleteFunc(slices.Concat([]string{s.b.o.Init, s.b.o.Bubblewrap}, s.b.o.Guarded), func(path string) bool { return !filepath.IsAbs(path) })
	for i, path := range list {
		list[i] = filepath.Clean(path)
	}
	return list
}

// walked returns the directories in which repositories are looked for, and what in them no command can write to.
func (s *system) walked(snap capability.Snapshot) (roots, skip []string) {
	for _, root := range snap.WriteRoots {
		if info, err := os.Lstat(root); err == nil && info.IsDir() {
			roots = append(roots, root)
		}
	}
	return roots, s.denied(snap)
}

// check refuses what start would refuse for its roots.
func (s *system) check(snap capability.Snapshot) error {
	var look survey
	if err := s.roots(&look, snap); err != nil {
		return err
	}
	if inAny(s.denied(snap), snap.Cwd) {
		return fmt.Errorf("%w: %s", ErrDenied, snap.Cwd)
	}
	return checkRoots(look)
}

// places looks at roots. A root must be where the capability says: a link in its place is another directory. A missing
// root is an error when demanded and otherwise left out, which only gives less.
func places(roots []string, demanded bool) ([]place, error) {
	list := make([]place, 0, len(roots))
	for _, root := range roots {
		r, err := pathid.Resolve(pathid.Linux, pathid.OS(), root)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrRootMissing, err)
		case !r.Exists && demanded:
			return nil, fmt.Errorf("%w: %s", ErrRootMissing, root)
		case !r.Exists:
			continue
		case r.Path != root:
			return nil, fmt.Errorf("%w: %s leads to %s now", ErrRootMissing, root, r.Path)
		case !r.Info.Mode.IsDir() && !r.Info.Mode.IsRegular():
			return nil, fmt.Errorf("%w: %s is neither a directory nor a file", ErrRootMissing, root)
		}
		list = append(list, place{root, r.Info.Mode.IsDir()})
	}
	return list, nil
}

// withSecrets adds what lies in /etc, could be read by this user, and is not meant for everybody: its own mode says so.
func (s *system) withSecrets(v survey) ([]place, error) {
	if !slices.ContainsFunc(v.Read, func(p place) bool { return within(p.Path, "/etc") || within("/etc", p.Path) }) {
		return v.Denied, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets == nil || time.Since(s.secretAt) > secretsKept {
		found, err := secretsIn("/etc")
		if err != nil {
			return nil, err
		}
		s.secrets, s.secretAt = found, time.Now()
	}
	return slices.Concat(v.Denied, s.secrets), nil
}

func secretsIn(root string) ([]place, error) {
	list := []place{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return nil // what cannot be entered cannot be read
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		want := fs.FileMode(0o004)
		if d.IsDir() {
			want = 0o005
		}
		if info.Mode().Perm()&want == want || unix.Access(path, unix.R_OK) != nil {
			return nil
		}
		if len(list) == maxSecrets {
			return fmt.Errorf("%w: more than %d files under %s are readable for this user and not for everybody", ErrRootTooWide, maxSecrets, root)
		}
		list = append(list, place{path, d.IsDir()})
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return list, err
}

// guardsIn finds the protected paths of one write root.
func guardsIn(root string, writable []place) []guard {
	var list []guard
	for _, p := range protectedPaths {
		list = append(list, guardAndTarget(root, p, writable)...)
	}
	return list
}

// guardsOf protects one path, and what it leads to, in the write roots that they lie in.
func guardsOf(path string, dir bool, writable []place) []guard {
	paths := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		paths = append(paths, real)
	}
	var list []guard
	for _, path := range paths {
		for _, w := range writable {
			if rel, err := filepath.Rel(w.Path, path); err == nil && w.Dir && path != w.Path && within(w.Path, path) {
				list = append(list, guardAndTarget(w.Path, protectedPath{rel, dir}, writable)...)
			}
		}
	}
	return list
}

// guardAndTarget protects, behind a link, the way to its target too: a directory on it could be renamed and made anew,
// and where the target is missing it could be made.
func guardAndTarget(root string, p protectedPath, writable []place) []guard {
	g := guardFor(root, p, writable)
	list := []guard{g}
	if g.Link == "" {
		return list
	}
	r, err := pathid.Resolve(pathid.Linux, pathid.OS(), filepath.Join(root, p.path))
	if err != nil {
		return list
	}
	for _, w := range writable {
		if !w.Dir || r.Path == w.Path || !within(w.Path, r.Path) {
			continue
		}
		if r.Exists {
			list = append(list, guard{Path: r.Path, Dir: r.Info.Mode.IsDir(), Ancestors: between(w.Path, r.Path)})
		} else if missing := firstMissing(w.Path, r.Path); missing != "" {
			list = append(list, guard{Path: missing, Dir: p.dir || missing != r.Path, Missing: true, Ancestors: between(w.Path, missing)})
		}
	}
	return list
}

func guardFor(root string, p protectedPath, writable []place) guard {
	parts := strings.Split(p.path, "/")
	at := root
	for i, part := range parts {
		at = filepath.Join(at, part)
		g := guard{Path: at, Ancestors: between(root, at)}
		info, err := os.Lstat(at)
		switch {
		case err != nil: // missing, or not to be seen: then a stand-in cannot be made either, and the start says so
			g.Missing, g.Dir = true, p.dir || i < len(parts)-1
			return g
		case info.Mode()&fs.ModeSymlink != 0:
			g.Link, _ = os.Readlink(at)
			full := filepath.Join(slices.Concat([]string{at}, parts[i+1:])...)
			r, err := pathid.Resolve(pathid.Linux, pathid.OS(), full)
			if err == nil && r.Exists && slices.ContainsFunc(writable, func(w place) bool { return within(w.Path, r.Path) }) {
				g.Target = r.Path
			}
			return g
		case !info.IsDir() || i == len(parts)-1:
			g.Dir = info.IsDir()
			return g
		case isEmpty(at):
			// Another command's stand-in, or as good as missing: whoever may fill it may put anything there.
			g.Dir = true
			return g
		}
	}
	return guard{Path: at}
}

// isEmpty reports whether the directory can be read and holds nothing.
func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}
