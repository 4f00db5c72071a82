package winlock

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one directory atomically (renameatx_np(2)).
func exchange(dir int, a, b string) error { return unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP) }

// renameNew renames without replacing.
func renameNew(dir int, from, to string) error {
	return unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL)
}

// newTemp clones the old file and empties the clone: that alone keeps its access control list. Where the volume cannot
// clone, copyMetadata has to do.
func (a *anchor) newTemp(old *os.File) (*tempFile, error) {
	name := tempName()
	if err := unix.Fclonefileat(int(old.Fd()), a.fd(), name, 0); err != nil {
		return a.createTemp(0o600)
	}
	fd, err := unix.Openat(a.fd(), name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		if err = unix.Ftruncate(fd, 0); err == nil {
			return &tempFile{a: a, f: os.NewFile(uintptr(fd), name), name: name}, nil
		}
		unix.Close(fd)
	}
	_ = unix.Unlinkat(a.fd(), name, 0)
	return nil, err
}

func (a *anchor) newFile() (*tempFile, error) { return a.createTemp(newFileMode) }

func (a *anchor) publishNew(temp *tempFile) (string, error) { return a.publishNamed(temp) }
