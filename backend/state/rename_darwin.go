package state

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to and fails with fs.ErrExist when to is there: renamex_np(2) with RENAME_EXCL, or a hard
// link on the file systems that do not know the flag.
func renameNew(from, to string) error {
	err := unix.RenamexNp(from, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) {
		return os.Link(from, to) // the caller removes from
	}
	if err != nil {
		return fault("rename", to, err)
	}
	return nil
}
