package sandbox

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// standIns makes and removes the empty files and directories that stand in workspaces for missing protected paths while
// a command runs: a mount needs something to be mounted on.
//
// Several commands, of several cores even, may run in one workspace. Removing a mount point would take the mount away in
// their namespaces too, so each command holds a shared flock(2) on every stand-in it relies on, and only who gets the
// exclusive one removes it. A journal, itself locked while its core lives, tells the next core what a crashed one left.
type standIns struct {
	mu      sync.Mutex // guards everything below, and makes hold and release one at a time
	dir     string
	journal *os.File
	made    map[string]pathid.Identity // made here and not yet removed
	users   map[string]int             // commands of this core that rely on a path
}

// held are the locks of one command.
type held struct{ list []lock }

// lock is a shared lock on something empty.
type lock struct {
	path string
	fd   int
}

// adopt removes what earlier cores left, or takes over what cannot be removed yet.
func (l *standIns) adopt(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dir, l.made, l.users = dir, map[string]pathid.Identity{}, map[string]int{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if lockFile(f) == nil { // otherwise its core lives
			var paths []string
			if json.NewDecoder(f).Decode(&paths) == nil {
				for _, path := range paths {
					if !removeStandIn(path, pathid.Identity{}) {
						l.made[path] = pathid.Identity{}
					}
				}
			}
			if l.writeLocked() == nil {
				_ = os.Remove(name)
			}
		}
		_ = f.Close()
	}
	return nil
}

// writeLocked makes the journal name what is in made and also. It reaches the page cache only: a crash of the core is
// what it is for, and after a power loss an empty directory may stay.
func (l *standIns) writeLocked(also ...string) error {
	paths := append(slices.Collect(maps.Keys(l.made)), also...)
	if l.journal == nil {
		if len(paths) == 0 {
			return nil
		}
		f, err := os.CreateTemp(l.dir, "core-*.json")
		if err != nil {
			return err
		}
		if err := lockFile(f); err != nil {
			_ = f.Close()
			return err
		}
		l.journal = f
	}
	text, err := json.Marshal(paths)
	if err != nil {
		return err
	}
	if _, err := l.journal.WriteAt(text, 0); err != nil {
		return err
	}
	return l.journal.Truncate(int64(len(text)))
}

// hold makes the stand-ins that the guards need and locks all that must not be removed during the run. It returns the
// guards to plan with: one whose stand-in we may not create is left out, since the command, with fewer rights in the
// same directory, may not create it either.
func (l *standIns) hold(guards []guard) (*held, []guard, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &held{}
	var missing []string
	for _, g := range guards {
		if _, known := l.made[g.Path]; g.Missing && !known {
			missing = append(missing, g.Path)
		}
	}
	if len(missing) > 0 {
		if err := l.writeLocked(missing...); err != nil {
			return nil, nil, err
		}
	}
	kept := make([]guard, 0, len(guards))
	for _, g := range guards {
		if g.Link != "" {
			kept = append(kept, g)
			continue
		}
		ok, err := l.holdLocked(h, &g)
		if err != nil {
			l.releaseLocked(h)
			return nil, nil, err
		}
		if ok {
			kept = append(kept, g)
		}
	}
	return h, kept, nil
}

func (l *standIns) holdLocked(h *held, g *guard) (bool, error) {
	parent, err := openParent(g.Path)
	if g.Passing && errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "stand in for", Path: g.Path, Err: err}
	}
	defer unix.Close(parent)
	name := filepath.Base(g.Path)
	for range 8 { // another core may remove what we find before we hold it
		made := false
		if g.Missing {
			switch err := create(parent, name, g.Dir); {
			case err == nil:
				made = true
			case errors.Is(err, unix.EEXIST):
			case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
				return false, nil
			default:
				return false, &os.PathError{Op: "stand in for", Path: g.Path, Err: err}
			}
		}
		fd, st, err := openEmpty(parent, name, made)
		switch {
		case g.Passing && errors.Is(err, unix.ENOENT):
			return false, nil
		case errors.Is(err, unix.ENOENT):
			g.Missing = true
			continue
		case err != nil, fd < 0:
			return true, nil // not ours to remove, nor anybody's: it has content
		}
		if made {
			l.made[g.Path] = identityOf(st)
		}
		if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil || !standsAt(parent, name, st) {
			_ = unix.Close(fd) // somebody is removing it
			continue
		}
		h.list = append(h.list, lock{g.Path, fd})
		l.users[g.Path]++
		return true, nil
	}
	return false, &os.PathError{Op: "stand in for", Path: g.Path, Err: unix.EBUSY}
}

// release gives up the locks and removes every stand-in that nobody relies on any more.
func (l *standIns) release(h *held) {
	if h == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseLocked(h)
}

func (l *standIns) releaseLocked(h *held) {
	for _, held := range h.list {
		if l.users[held.path]--; l.users[held.path] == 0 {
			delete(l.users, held.path)
		}
		_ = unix.Close(held.fd)
	}
	h.list = nil
	before := len(l.made)
	for path, identity := range l.made {
		if l.users[path] == 0 && removeStandIn(path, identity) {
			delete(l.made, path)
		}
	}
	if len(l.made) != before {
		_ = l.writeLocked() // a journal that names too much is harmless: only what is empty is removed
	}
}

// close gives the journal up; the next core takes over what it names.
func (l *standIns) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.journal == nil {
		return
	}
	if len(l.made) == 0 {
		_ = os.Remove(l.journal.Name())
	}
	_ = l.journal.Close()
	l.journal = nil
}

// removeStandIn removes an empty stand-in and reports whether nothing is left to do: it is gone, or is no longer one.
func removeStandIn(path string, identity pathid.Identity) bool {
	parent, err := openParent(path)
	if err != nil {
		return true
	}
	defer unix.Close(parent)
	name := filepath.Base(path)
	fd, st, err := openEmpty(parent, name, false)
	if err != nil || fd < 0 {
		return true
	}
	defer unix.Close(fd)
	if identity != (pathid.Identity{}) && !identityOf(st).Same(identity) {
		return true
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	flags := 0
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		flags = unix.AT_REMOVEDIR // refuses a directory that got content meanwhile
	}
	_ = unix.Unlinkat(parent, name, flags)
	return true
}

// openParent opens the directory that holds path, following no link anywhere.
func openParent(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}

// create makes an empty directory or file.
func create(parent int, name string, dir bool) error {
	if dir {
		return unix.Mkdirat(parent, name, 0o755)
	}
	fd, err := unix.Openat(parent, name, unix.O_CREAT|unix.O_EXCL|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// openEmpty opens an empty file or directory of this user's; the descriptor is -1 when it is something else. known says
// that it was made a moment ago and need not be looked into.
func openEmpty(parent int, name string, known bool) (int, *unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, nil, err
	}
	kind := st.Mode & unix.S_IFMT
	if int(st.Uid) != os.Geteuid() || (kind == unix.S_IFREG && st.Size != 0) || (kind != unix.S_IFREG && kind != unix.S_IFDIR) {
		return -1, nil, nil
	}
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, nil, err
	}
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return -1, nil, err
	}
	if kind == unix.S_IFDIR && !known {
		var buf [256]byte // "." and ".." take 48 bytes
		n, err := unix.Getdents(fd, buf[:])
		if err != nil || n > 48 {
			_ = unix.Close(fd)
			return -1, nil, nil
		}
	}
	return fd, &st, nil
}

// standsAt reports whether the file is still the one at the name.
func standsAt(parent int, name string, st *unix.Stat_t) bool {
	var now unix.Stat_t
	return unix.Fstatat(parent, name, &now, unix.AT_SYMLINK_NOFOLLOW) == nil && now.Ino == st.Ino && now.Dev == st.Dev
}

// lockFile takes the exclusive lock of a journal.
func lockFile(f *os.File) error {
	return withDescriptor(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
}

// firstMissing returns the first component of path, below the existing directory root, that does not exist, or "".
func firstMissing(root, path string) string {
	for at := root; at != path; {
		rest := strings.TrimPrefix(strings.TrimPrefix(path, at), "/")
		first, _, _ := strings.Cut(rest, "/")
		at = filepath.Join(at, first)
		var st unix.Stat_t
		if errors.Is(unix.Lstat(at, &st), unix.ENOENT) {
			return at
		}
	}
	return ""
}
