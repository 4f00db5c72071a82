package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// resizeSignals is empty: Windows consoles have no such signal.
var resizeSignals []os.Signal

// signalNumber knows no signals here.
func signalNumber(string) (int, bool) { return 0, false }

// terminalSize returns the size of the console on standard output, or zeros.
func terminalSize() (rows, cols uint16) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(os.Stdout.Fd()), &info); err != nil {
		return 0, 0
	}
	return uint16(info.Window.Bottom - info.Window.Top + 1), uint16(info.Window.Right - info.Window.Left + 1)
}
