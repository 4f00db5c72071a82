//go:build unix

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// resizeSignals tell that the terminal's size changed.
var resizeSignals = []os.Signal{syscall.SIGWINCH}

// signalNumber returns the number of a signal by its name.
func signalNumber(name string) (int, bool) {
	sig := unix.SignalNum(name)
	return int(sig), sig != 0
}

// terminalSize returns the size of the terminal on standard output, or zeros.
func terminalSize() (rows, cols uint16) {
	size, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return size.Row, size.Col
}
