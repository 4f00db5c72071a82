package winlock

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// The pause between two tries for a lock grows from lockPauseMin to lockPauseMax.
const (
	lockPauseMin = 2 * time.Millisecond
	lockPauseMax = 50 * time.Millisecond
)

// lock takes the exclusive lock on byte 0, one byte long, as msvcrt.locking does. Closing the handle gives it back.
// Windows does not tell who holds such a lock.
func lock(ctx context.Context, f *os.File, wait time.Duration) error {
	end := time.Now().Add(wait)
	for pause := lockPauseMin; ; pause = min(2*pause, lockPauseMax) {
		var at windows.Overlapped // offset 0
		err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
		if err == nil {
			return nil
		}
		if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) && !errors.Is(err, windows.ERROR_IO_PENDING) {
			return because(ErrLocked, err)
		}
		left := time.Until(end)
		if left <= 0 {
			return &LockedError{}
		}
		timer := time.NewTimer(min(pause, left))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
