//go:build unix

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkOwner refuses a file that belongs to another account.
func checkOwner(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%w: its owner is unknown", ErrInsecure)
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to uid %d, this is uid %d", ErrInsecure, st.Uid, os.Geteuid())
	}
	return nil
}

// looseMode reports whether any of the given permission bits is set.
func looseMode(info fs.FileInfo, bits fs.FileMode) bool { return info.Mode().Perm()&bits != 0 }

// openNoFollow opens path, refusing a symbolic link in its last component. O_NONBLOCK keeps a FIFO put in its place
// from hanging us; it means nothing for regular files.
func openNoFollow(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, fileMode)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, fault("open", path, fmt.Errorf("%w: it is a symbolic link", ErrInsecure))
	}
	return f, err
}

// syncDir makes a new name in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}

// isNoSpace recognises a full disk or an exhausted quota. bbolt flattens some errors to text ("file resize error: …"),
// so the text of ENOSPC counts too.
func isNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) ||
		strings.Contains(err.Error(), unix.ENOSPC.Error())
}
