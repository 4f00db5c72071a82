//go:build unix

package sandbox

import "syscall"

// detached gives the core a session of its own, so that no terminal's signals reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
