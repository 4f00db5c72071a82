//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// resizeTerminal sets the window size of f and reports whether f is a terminal.
func resizeTerminal(f *os.File, rows, cols uint16) (resized bool, err error) {
	err = withDescriptor(f, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENODEV), errors.Is(err, os.ErrClosed):
		return false, nil
	}
	return false, err
}

// notifyResize tells the command that its window changed: the kernel does so only for a controlling terminal.
func (p *Process) notifyResize() error { return p.Signal(syscall.SIGWINCH) }

// withDescriptor runs fn on f's descriptor without making it blocking, as File.Fd would.
func withDescriptor(f *os.File, fn func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = fn(int(fd)) }); err != nil {
		return err
	}
	return inner
}
