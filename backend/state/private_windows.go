package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// checkOwner does nothing: the profile directory's access list protects the files (doc.go, "Known limits").
func checkOwner(fs.FileInfo) error { return nil }

// looseMode does nothing: Windows has no permission bits.
func looseMode(fs.FileInfo, fs.FileMode) bool { return false }

// openNoFollow opens path, refusing a reparse point in its place.
func openNoFollow(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fault("open", path, fmt.Errorf("%w: it is not a regular file", ErrInsecure))
	}
	return os.OpenFile(path, flag, fileMode)
}

// syncDir does nothing: NTFS journals names with the file.
func syncDir(string) error { return nil }

// isNoSpace recognises a full disk or an exhausted quota.
func isNoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// renameNew renames from to to and fails with fs.ErrExist when to is there.
func renameNew(from, to string) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return fault("rename", from, err)
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return fault("rename", to, err)
	}
	if err := windows.MoveFileEx(f, t, windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return fault("rename", to, err)
	}
	return nil
}
