package winlock

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/windows"

	"countersign/backend/pathid"
)

const (
	shareAll      = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	shareNoDelete = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE
)

// anchor holds every directory from the root to the target open without sharing deletion: none of them can be renamed,
// removed or replaced while it is held.
type anchor struct {
	held []windows.Handle
	dir  string // the target's directory
	path string // the target
	made []string
}

func openAnchor(p place) (*anchor, error) {
	a := &anchor{dir: p.root.Path, path: p.path}
	if err := a.hold(p.root.Path, p.root.Identity); err != nil {
		return nil, err
	}
	outer, _ := pathid.Components(pathid.Windows, p.root.Path)
	inner, _ := pathid.Components(pathid.Windows, p.parent.Path)
	for i := len(outer); i < len(inner); i++ {
		var want pathid.Identity
		if i == len(inner)-1 {
			want = p.parent.Identity
		}
		if err := a.hold(pathid.Join(pathid.Windows, a.dir, inner[i]), want); err != nil {
			a.close()
			return nil, err
		}
	}
	return a, nil
}

// hold opens the directory, which must not be a reparse point, must be known to the system under this very path, and
// must have the wanted identity if one is given.
func (a *anchor) hold(dir string, want pathid.Identity) error {
	name, err := longForm(dir)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES|windows.FILE_LIST_DIRECTORY, shareNoDelete, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return because(&LockedError{}, err)
	}
	if err != nil {
		return because(ErrParentChanged, err)
	}
	info, err := pathid.DescribeHandle(h)
	if err == nil && !info.Mode.IsDir() {
		err = ErrLink
	}
	if err == nil && want != (pathid.Identity{}) && !info.Identity.Same(want) {
		err = ErrReplaced
	}
	if err == nil {
		var final string
		final, err = handlePath(h)
		if err == nil && strings.TrimSuffix(final, `\`) != strings.TrimSuffix(dir, `\`) {
			err = ErrReplaced
		}
	}
	if err != nil {
		_ = windows.CloseHandle(h)
		return because(ErrParentChanged, err)
	}
	a.held = append(a.held, h)
	a.dir = dir
	return nil
}

func (a *anchor) close() {
	for i := len(a.held) - 1; i >= 0; i-- {
		_ = windows.CloseHandle(a.held[i])
	}
	a.held = nil
}

// enter creates the missing directories of a new file and holds them too.
func (a *anchor) enter(parts []string) error {
	for _, part := range parts {
		dir := pathid.Join(pathid.Windows, a.dir, part)
		name, err := longForm(dir)
		if err != nil {
			return err
		}
		err = windows.CreateDirectory(name, nil)
		if err != nil && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
			return writeFault(err)
		}
		if err == nil {
			a.made = append(a.made, dir)
		}
		if err := a.hold(dir, pathid.Identity{}); err != nil {
			return err
		}
	}
	return nil
}

// unmake gives the held directories back and removes those that enter created, if they are empty.
func (a *anchor) unmake() {
	a.close()
	for i := len(a.made) - 1; i >= 0; i-- {
		if name, err := longForm(a.made[i]); err == nil {
			_ = windows.RemoveDirectory(name)
		}
	}
}

// open opens the target itself, never what a reparse point stands for.
func (a *anchor) open(access uint32) (*os.File, pathid.Info, error) {
	name, err := longForm(a.path)
	if err != nil {
		return nil, pathid.Info{}, err
	}
	h, err := windows.CreateFile(name, access, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, pathid.Info{}, a.openFault(err)
	}
	info, err := pathid.DescribeHandle(h)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, pathid.Info{}, err
	}
	return os.NewFile(uintptr(h), a.path), info, nil
}

// openFault tells a directory, which cannot be opened like a file, from a file that may not be opened.
func (a *anchor) openFault(err error) error {
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return because(&LockedError{}, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		if info, errStat := pathid.OS().Lstat(a.path); errStat == nil {
			if errKind := regular(info); errKind != nil {
				return errKind
			}
		}
	}
	return err
}

func regular(info pathid.Info) error {
	switch {
	case info.Mode&(fs.ModeSymlink|fs.ModeIrregular) != 0:
		return ErrLink
	case !info.Mode.IsRegular():
		return ErrNotRegular
	}
	return nil
}

// openRead opens the place's file for reading and describes it.
func openRead(p place) (*os.File, pathid.Info, error) {
	a, err := openAnchor(p)
	if err != nil {
		return nil, pathid.Info{}, err
	}
	defer a.close()
	return a.open(windows.GENERIC_READ)
}

// describe describes an open file.
func describe(f *os.File) (pathid.Info, error) { return pathid.DescribeHandle(windows.Handle(f.Fd())) }

// writeFault names what writing can run into.
func writeFault(err error) error {
	switch {
	case errors.Is(err, windows.ERROR_ACCESS_DENIED), errors.Is(err, windows.ERROR_WRITE_PROTECT):
		return because(ErrReadOnly, err)
	case errors.Is(err, windows.ERROR_DISK_FULL), errors.Is(err, windows.ERROR_HANDLE_DISK_FULL), errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED):
		return because(ErrNoSpace, err)
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION), errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return because(&LockedError{}, err)
	case errors.Is(err, windows.ERROR_ALREADY_EXISTS), errors.Is(err, windows.ERROR_FILE_EXISTS):
		return because(ErrAppeared, err)
	}
	return err
}
