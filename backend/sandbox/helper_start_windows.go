package sandbox

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// attached gives the helper no console window.
func attached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}
