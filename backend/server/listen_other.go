//go:build !unix && !windows

package server

import (
	"errors"
	"net"
)

func listen(string) (net.Listener, error) { return nil, errors.ErrUnsupported }
