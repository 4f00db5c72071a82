//go:build !linux

package server

// roles are the programs the test binary plays; the tests that need them read /proc.
var roles map[string]func() int
