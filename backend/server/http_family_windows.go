package server

import (
	"errors"

	"golang.org/x/sys/windows"
)

// noSuchFamily reports whether listening failed because this machine has no such address: nobody else can listen there
// either.
func noSuchFamily(err error) bool {
	return errors.Is(err, windows.WSAEADDRNOTAVAIL) || errors.Is(err, windows.WSAEAFNOSUPPORT) || errors.Is(err, windows.WSAEPROTONOSUPPORT)
}
