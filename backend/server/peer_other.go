//go:build !linux && !darwin && !windows

package server

import (
	"errors"
	"net"

	"countersign/backend/wire"
)

func identify(net.Conn) (wire.Peer, witness, error) {
	return wire.Peer{}, nil, errors.Join(ErrPeerUnknown, errors.ErrUnsupported)
}

func parentFits(_, _ entry) bool { return true }

func lookAt(int) (entry, error) { return entry{}, errors.ErrUnsupported }
