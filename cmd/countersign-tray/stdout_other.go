//go:build !linux && !darwin

package main

import "os"

// takeStdout returns standard output: no library here prints to it.
func takeStdout() (*os.File, error) { return os.Stdout, nil }
