//go:build !cgo && !windows

package main

import (
	"fmt"
	"os"

	"countersign/app/tray"
)

// show says that there is nothing to show with: on these systems the tray's library is C.
func show(*conversation) int {
	fmt.Fprintln(os.Stderr, "countersign-tray: this build has no tray (it was made without cgo)")
	return tray.ExitUnsupported
}
