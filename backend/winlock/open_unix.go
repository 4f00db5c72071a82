//go:build linux || darwin

package winlock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// openRead opens the place's file for reading and describes it.
func openRead(p place) (*os.File, pathid.Info, error) {
	a, err := openAnchor(p)
	if err != nil {
		return nil, pathid.Info{}, err
	}
	defer a.close()
	f, info, err := a.open(unix.O_RDONLY)
	if errors.Is(err, unix.ENOENT) {
		err = fs.ErrNotExist
	}
	return f, info, err
}

// open opens the anchor's target without following a link, waiting for a FIFO or taking a terminal, and describes it
// through the handle. What is no regular file is not opened at all if that can be seen before.
func (a *anchor) open(access int) (*os.File, pathid.Info, error) {
	st, err := a.lstat(a.name)
	if err != nil {
		return nil, pathid.Info{}, err
	}
	if err := regular(st); err != nil {
		return nil, pathid.Info{}, err
	}
	fd, err := unix.Openat(a.fd(), a.name, access|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, pathid.Info{}, openFault(err)
	}
	f := os.NewFile(uintptr(fd), a.name)
	info, err := describe(f)
	if err == nil && !info.Mode.IsRegular() {
		err = ErrNotRegular
	}
	if err == nil && !info.Identity.Same(statIdentity(st)) {
		err = ErrReplaced
	}
	if err != nil {
		_ = f.Close()
		return nil, pathid.Info{}, err
	}
	return f, info, nil
}

func regular(st *unix.Stat_t) error {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFLNK:
		return ErrLink
	}
	return ErrNotRegular
}

// describe describes an open file.
func describe(f *os.File) (pathid.Info, error) {
	info, err := f.Stat()
	if err != nil {
		return pathid.Info{}, err
	}
	return pathid.DescribeFile(info), nil
}

// openFault names what opening a file that was seen a moment ago can run into.
func openFault(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return because(ErrLink, err)
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return because(ErrNotRegular, err)
	}
	return err
}

// writeFault names what writing can run into.
func writeFault(err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		return because(ErrReadOnly, err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return because(ErrNoSpace, err)
	case errors.Is(err, unix.ETXTBSY):
		return because(ErrLocked, err)
	case errors.Is(err, unix.EFBIG):
		return because(ErrTooLarge, err)
	}
	return err
}
