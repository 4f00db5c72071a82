//go:build linux || darwin

package winlock

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The pause between two tries for a lock grows from lockPauseMin to lockPauseMax.
const (
	lockPauseMin = 2 * time.Millisecond
	lockPauseMax = 50 * time.Millisecond
)

// lock takes the exclusive lock on the open file, waiting at most wait. Closing the file gives it back.
func lock(ctx context.Context, f *os.File, wait time.Duration) error {
	end := time.Now().Add(wait)
	for pause := lockPauseMin; ; pause = min(2*pause, lockPauseMax) {
		err := tryLock(int(f.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EINTR) {
			return because(ErrLocked, err)
		}
		left := time.Until(end)
		if left <= 0 {
			return &LockedError{Holders: lockHolders(f)}
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
