//go:build !unix && !windows

package sandbox

import "syscall"

func detached() *syscall.SysProcAttr { return nil }
