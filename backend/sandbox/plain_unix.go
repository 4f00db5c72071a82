//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func signalGroup(p *os.Process, number int) error {
	err := unix.Kill(-p.Pid, syscall.Signal(number))
	if errors.Is(err, unix.ESRCH) {
		return ErrEnded
	}
	return err
}

func killGroup(p *os.Process) { _ = unix.Kill(-p.Pid, unix.SIGKILL) }

func signalOf(s *os.ProcessState) string {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}
