//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"syscall"
)

// takeStdout takes standard output for the messages alone: the tray's library prints its troubles there, and a line of
// that would end the conversation. What others print now goes to standard error.
func takeStdout() (*os.File, error) {
	ours, err := syscall.Dup(1)
	if err != nil {
		return nil, fmt.Errorf("take standard output: %w", err)
	}
	syscall.CloseOnExec(ours)
	if err := moveOnto(2, 1); err != nil {
		return nil, fmt.Errorf("take standard output: %w", err)
	}
	return os.NewFile(uintptr(ours), "messages"), nil
}
