//go:build unix

package main

import "os"

// openTerminal opens the controlling terminal of this process.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
