//go:build !windows

package sandbox

import "syscall"

// attached asks for nothing: the helper shares its parent's group and session.
func attached() *syscall.SysProcAttr { return nil }
