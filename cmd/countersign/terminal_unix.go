//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// openTerminal opens the controlling terminal of this process.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// hideInput stops the terminal from showing what is typed (termios(3), ECHO).
func hideInput(fd int) error {
	state, err := unix.IoctlGetTermios(fd, ioctlGetTermios)
	if err != nil {
		return err
	}
	state.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, ioctlSetTermios, state)
}
