//go:build windows && never

package fixture

import (
	win "golang.org/x/sys/windows"
	"syscall"
)

func startsToo() {
	win.CreateProcess(nil, nil)               // want windows.CreateProcess
	win.CreateProcessAsUser(0, nil)           // want windows.CreateProcessAsUser
	win.ShellExecute(0, nil, nil)             // want windows.ShellExecute
	syscall.CreateProcess(nil, nil)           // want syscall.CreateProcess
	kernel.NewProc("CreateProcessW")          // want CreateProcessW
	kernel.NewProc(`ShellExecuteExW`)         // want ShellExecuteExW
	syscall.GetProcAddress(module, "WinExec") // want WinExec
}

func harmlessToo() {
	kernel.NewProc("GetNamedPipeClientProcessId")
	win.OpenProcess(0, false, 1)
}
