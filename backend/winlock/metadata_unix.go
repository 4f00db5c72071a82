//go:build linux || darwin

package winlock

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// copyMetadata gives the new file owner, extended attributes (on Linux access control lists are among them) and
// permission bits of the old one. What cannot be kept is ErrMetadata. Set-user and set-group bits are dropped, as the
// kernel does when an ordinary process writes to such a file.
func copyMetadata(from, to *os.File) error {
	var have, is unix.Stat_t
	if err := errors.Join(unix.Fstat(int(from.Fd()), &have), unix.Fstat(int(to.Fd()), &is)); err != nil {
		return err
	}
	if have.Uid != is.Uid || have.Gid != is.Gid {
		if err := unix.Fchown(int(to.Fd()), int(have.Uid), int(have.Gid)); err != nil {
			return because(ErrMetadata, err)
		}
	}
	if err := copyAttributes(int(from.Fd()), int(to.Fd())); err != nil {
		return err
	}
	// Last: with an access control list the group bits are its mask.
	if err := unix.Fchmod(int(to.Fd()), uint32(have.Mode)&0o1777); err != nil {
		return because(ErrMetadata, err)
	}
	return nil
}

// skippedAttributes are made by the kernel for the content, or given up by it when the content changes.
var skippedAttributes = []string{"security.capability", "security.ima", "security.evm", "com.apple.provenance"}

func copyAttributes(from, to int) error {
	names, err := attributes(from)
	if err != nil {
		return because(ErrMetadata, err)
	}
	extra, err := attributes(to)
	if err != nil {
		return because(ErrMetadata, err)
	}
	for _, name := range names {
		if slices.Contains(skippedAttributes, name) {
			continue
		}
		value, err := attribute(from, name)
		if err != nil {
			return because(ErrMetadata, err)
		}
		if now, err := attribute(to, name); err == nil && bytes.Equal(now, value) {
			continue
		}
		if err := unix.Fsetxattr(to, name, value, 0); err != nil {
			return because(ErrMetadata, err)
		}
	}
	for _, name := range extra {
		// Inherited from the directory, and not on the old file: a default access control list.
		if name == "system.posix_acl_access" && !slices.Contains(names, name) {
			if err := unix.Fremovexattr(to, name); err != nil {
				return because(ErrMetadata, err)
			}
		}
	}
	return nil
}

// maxAttributes bounds names and values; Linux allows 64 KiB of each.
const maxAttributes = 1 << 20

func attributes(fd int) ([]string, error) {
	raw, err := grow(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(raw), func(r rune) bool { return r == 0 }), nil
}

func attribute(fd int, name string) ([]byte, error) {
	return grow(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

func grow(read func([]byte) (int, error)) ([]byte, error) {
	for size := 1024; size <= maxAttributes; size *= 4 {
		buf := make([]byte, size)
		n, err := read(buf)
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) && !errors.Is(err, unix.E2BIG) {
			return nil, err
		}
	}
	return nil, unix.E2BIG
}
