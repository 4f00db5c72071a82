package state

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks the byte before the one that bbolt locks: a second exclusive lock on the same byte would fail even
// through the same handle. It reports false when somebody else holds it. Closing the handle releases it.
func tryLock(f *os.File) (bool, error) {
	const last = 1<<32 - 1
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{Offset: last - 1, OffsetHigh: last})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	if err != nil {
		return false, os.NewSyscallError("LockFileEx", err)
	}
	return true, nil
}

// unlock gives our lock and bbolt's back.
func unlock(f *os.File) {
	const last = 1<<32 - 1
	for _, offset := range []uint32{last - 1, last} {
		_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{Offset: offset, OffsetHigh: last})
	}
}
