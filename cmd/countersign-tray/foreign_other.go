//go:build !linux

package main

// closeForeign does nothing: Windows passes on only what is named, and on macOS nothing is known to be left open.
func closeForeign() {}
