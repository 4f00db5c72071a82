//go:build !unix && !windows

package wire

import (
	"context"
	"errors"
	"net"
)

func dial(context.Context, string) (net.Conn, error) { return nil, errors.ErrUnsupported }

func checkCoreUser(net.Conn) error { return errors.ErrUnsupported }
