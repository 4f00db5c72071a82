//go:build !windows

package server

import (
	"errors"
	"syscall"
)

// noSuchFamily reports whether listening failed because this machine has no such address: nobody else can listen there
// either.
func noSuchFamily(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EPROTONOSUPPORT)
}
