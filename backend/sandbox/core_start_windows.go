package sandbox

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached gives the core no console and no part in the console's control events.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS,
	}
}
