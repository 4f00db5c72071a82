//go:build !unix

package sandbox

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func signalGroup(p *os.Process, number int) error {
	if syscall.Signal(number) == syscall.SIGKILL {
		return p.Kill()
	}
	return ErrUnsupported
}

func killGroup(p *os.Process) { _ = p.Kill() }

func signalOf(*os.ProcessState) string { return "" }
