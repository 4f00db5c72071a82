package state

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to and fails with fs.ErrExist when to is there: renameat2(2) with RENAME_NOREPLACE, or a
// hard link on the file systems that do not know the flag.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return os.Link(from, to) // the caller removes from
	}
	if err != nil {
		return fault("rename", to, err)
	}
	return nil
}
