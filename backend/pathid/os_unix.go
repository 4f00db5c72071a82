//go:build linux || darwin

package pathid

import (
	"os"

	"golang.org/x/sys/unix"
)

// openRead opens without waiting for a FIFO's writer and without following a link in the last component.
func openRead(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}
