//go:build linux || darwin

package winlock

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// anchor holds the directory of a target open, found from its root without following any link, so that later steps name
// the target relative to a descriptor and not by a path that somebody can bend.
type anchor struct {
	root int      // descriptor of the root
	dir  *os.File // the target's directory
	rel  string   // dir relative to root, "" for root itself
	name string   // the target's last component
	id   pathid.Identity
	made []madeDir // directories that were created for a new file, outermost first
}

// madeDir is a directory that this write created: its name in the directory held by at.
type madeDir struct {
	at   *os.File
	name string
}

// openAnchor opens the root and the directory of the place and checks that both are the approved ones. What differs is
// ErrParentChanged.
func openAnchor(p place) (*anchor, error) {
	root, err := openRootDir(p.root.Path)
	if err != nil {
		return nil, because(ErrParentChanged, err)
	}
	a := &anchor{root: root, rel: below(p.root.Path, p.parent.Path), name: pathid.Base(pathid.Host(), p.path)}
	if id, err := identityOf(root); err != nil || !id.Same(p.root.Identity) {
		a.close()
		return nil, because(ErrParentChanged, err)
	}
	fd, err := openDirBeneath(root, a.rel)
	if err != nil {
		a.close()
		if errors.Is(err, unix.EACCES) {
			return nil, because(ErrReadOnly, err)
		}
		return nil, because(ErrParentChanged, err)
	}
	a.dir = os.NewFile(uintptr(fd), p.parent.Path)
	a.id, err = identityOf(fd)
	if err != nil || !a.id.Same(p.parent.Identity) {
		a.close()
		return nil, because(ErrParentChanged, err)
	}
	return a, nil
}

func (a *anchor) close() {
	unix.Close(a.root)
	if a.dir != nil {
		_ = a.dir.Close()
	}
	for _, m := range a.made {
		_ = m.at.Close()
	}
}

func (a *anchor) fd() int { return int(a.dir.Fd()) }

// stillThere reports ErrParentChanged when the way from the root no longer leads to the directory that is held open.
func (a *anchor) stillThere() error {
	fd, err := openDirBeneath(a.root, a.rel)
	if err != nil {
		return because(ErrParentChanged, err)
	}
	defer unix.Close(fd)
	if id, err := identityOf(fd); err != nil || !id.Same(a.id) {
		return because(ErrParentChanged, err)
	}
	return nil
}

// below returns path relative to root, which contains it.
func below(root, path string) string {
	outer, _ := pathid.Components(pathid.Host(), root)
	inner, _ := pathid.Components(pathid.Host(), path)
	return strings.Join(inner[len(outer):], "/")
}

// enter creates the missing directories of a new file and moves the anchor into the last one. A directory that somebody
// else made meanwhile is used, unless it is a link.
func (a *anchor) enter(parts []string) error {
	for _, part := range parts {
		err := unix.Mkdirat(a.fd(), part, 0o777)
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return writeFault(err)
		}
		created := err == nil
		fd, err := openDirAt(a.fd(), part)
		if err != nil {
			if created {
				_ = unix.Unlinkat(a.fd(), part, unix.AT_REMOVEDIR)
			}
			return because(ErrParentChanged, err)
		}
		if created {
			a.made = append(a.made, madeDir{a.dir, part})
		} else {
			_ = a.dir.Close()
		}
		a.dir = os.NewFile(uintptr(fd), part)
		a.rel = strings.TrimPrefix(a.rel+"/"+part, "/")
		if a.id, err = identityOf(fd); err != nil {
			return err
		}
	}
	return nil
}

// unmake removes the directories that enter created, if nobody has put anything into them.
func (a *anchor) unmake() {
	for i := len(a.made) - 1; i >= 0; i-- {
		_ = unix.Unlinkat(int(a.made[i].at.Fd()), a.made[i].name, unix.AT_REMOVEDIR)
	}
}

// sync makes the directory entries durable.
func (a *anchor) sync() error {
	for i := len(a.made) - 1; i >= 0; i-- {
		if err := syncDir(a.made[i].at); err != nil {
			return err
		}
	}
	return syncDir(a.dir)
}

// syncDir tolerates filesystems on which a directory cannot be synced, and directories that could not be opened for it.
func syncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EBADF) {
		return nil
	}
	return err
}

func identityOf(fd int) (pathid.Identity, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return pathid.Identity{}, err
	}
	return statIdentity(&st), nil
}

// lstat describes a name in the anchor's directory; a name where nothing stands gives errno ENOENT.
func (a *anchor) lstat(name string) (*unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(a.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	return &st, nil
}

// holds reports whether the file with that identity stands under name.
func (a *anchor) holds(name string, id pathid.Identity) bool {
	st, err := a.lstat(name)
	return err == nil && statIdentity(st).Same(id)
}
