//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFile opens path and refuses a symbolic link in its last component. O_NONBLOCK keeps a FIFO from hanging us.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: it is a symbolic link; put the file itself there", ErrUnsafe)}
	}
	return f, err
}

// checkFile refuses a file of another account and one that others may write.
func checkFile(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to another account; chown it to yours", ErrUnsafe)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: mode %#o lets others write it; chmod 600 it", ErrUnsafe, info.Mode().Perm())
	}
	return nil
}
