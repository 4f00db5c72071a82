//go:build unix

package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

func dial(ctx context.Context, socket string) (net.Conn, error) {
	if err := CheckSocketPath(socket); err != nil {
		return nil, err
	}
	var d net.Dialer
	raw, err := d.DialContext(ctx, "unix", socket)
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w (%w)", ErrNoAnswer, ctx.Err())
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.ENOTDIR):
		return nil, fmt.Errorf("%w (%w)", ErrNoCore, errors.Unwrap(err))
	case errors.Is(err, unix.EAGAIN):
		return nil, fmt.Errorf("%w: too many clients wait already", ErrNoAnswer)
	}
	return nil, err
}

// checkCoreUser refuses a core that does not run as this user.
func checkCoreUser(raw net.Conn) error {
	c, ok := raw.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%w: it is not on a unix socket", ErrWrongCore)
	}
	control, err := c.SyscallConn()
	if err != nil {
		return err
	}
	uid, uidErr := -1, error(nil)
	if err := control.Control(func(fd uintptr) { uid, uidErr = listenerUser(int(fd)) }); err != nil {
		return err
	}
	if uidErr != nil {
		return fmt.Errorf("%w: the system does not say who listens: %w", ErrWrongCore, uidErr)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("%w: user %d listens, this is user %d", ErrWrongCore, uid, os.Geteuid())
	}
	return nil
}
