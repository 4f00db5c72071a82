//go:build !linux

package core

import (
	"os"
	"syscall"
)

// checkCoreProcess reports why a process id that a core gave is not to be signalled. The system itself refuses a signal
// to another account's process; which program it runs is not looked at here.
func checkCoreProcess(pid int) error {
	if pid <= 1 {
		return stopError("stop_foreign", pid, "%d is no process of a core", pid)
	}
	return nil
}

// processGone reports whether a process ended.
func processGone(p *os.Process) bool { return p.Signal(syscall.Signal(0)) != nil }
