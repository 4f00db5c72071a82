package winlock

import (
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) }

// lockHolders is empty: macOS does not tell who holds a flock.
func lockHolders(*os.File) []int { return nil }
