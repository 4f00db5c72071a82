package winlock

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one directory atomically (renameat2(2)).
func exchange(dir int, a, b string) error {
	return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
}

// renameNew renames without replacing.
func renameNew(dir int, from, to string) error {
	return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
}

// newTemp creates the temporary file for a replacement; copyMetadata gives it the old file's metadata.
func (a *anchor) newTemp(*os.File) (*tempFile, error) { return a.createTemp(0o600) }

// newFile creates a file without any name, so that a crash leaves nothing, or where the filesystem cannot do that a
// named temporary file.
func (a *anchor) newFile() (*tempFile, error) {
	fd, err := unix.Openat(a.fd(), ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, newFileMode)
	if err == nil {
		return &tempFile{a: a, f: os.NewFile(uintptr(fd), "new file")}, nil
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return a.createTemp(newFileMode)
	}
	return nil, err
}

// publishNew gives the new file its name, never replacing anything.
func (a *anchor) publishNew(temp *tempFile) (string, error) {
	if temp.name != "" {
		return a.publishNamed(temp)
	}
	fd := int(temp.f.Fd())
	// AT_EMPTY_PATH needs a privilege on older kernels, procfs is missing in some containers: try both (open(2)).
	err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), a.fd(), a.name, unix.AT_SYMLINK_FOLLOW)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		err = unix.Linkat(fd, "", a.fd(), a.name, unix.AT_EMPTY_PATH)
	}
	if err != nil {
		return "", err
	}
	return HowLink, nil
}
