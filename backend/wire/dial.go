package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	// DialTimeout is how long Dial may take, hello included, unless DialOptions or the context say less.
	DialTimeout = 5 * time.Second
	// startHint is what to do when no core runs.
	startHint = "start the desk, or run \"countersign serve\""
)

// DialOptions says which core to talk to.
type DialOptions struct {
	// Socket is the path of the unix socket. On Windows the named pipe is derived from it (PipeName), unless it is a
	// pipe's name already.
	Socket string
	// PinnedCore is the fingerprint the core must have. Empty takes whoever runs as this user: only for a person's own
	// terminal, never for a hook.
	PinnedCore string
	// Timeout bounds Dial; 0 means DialTimeout.
	Timeout time.Duration
}

// Dial connects to a core and checks that it is the right one: it runs as this user, signs the hello, and has the
// pinned fingerprint. A *DialError says what to do. Dial starts nothing.
func Dial(ctx context.Context, o DialOptions) (*Client, error) {
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = DialTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	raw, err := dial(ctx, o.Socket)
	if err != nil {
		return nil, dialError(o.Socket, err)
	}
	conn := NewConn(raw)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	core, fingerprint, err := greet(conn, o.PinnedCore)
	if err == nil && !stop() {
		err = ctx.Err() // the deadline may be set already
	}
	if err != nil {
		stop()
		_ = conn.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", ErrNoAnswer, ctx.Err())
		}
		return nil, dialError(o.Socket, err)
	}
	return newClient(conn, core, fingerprint), nil
}

// greet checks the other end and exchanges hellos.
func greet(conn *Conn, pinned string) (CoreHello, string, error) {
	if err := checkCoreUser(conn.Conn); err != nil {
		return CoreHello{}, "", err
	}
	hello := NewClientHello()
	message, err := hello.Encode()
	if err != nil {
		return CoreHello{}, "", err
	}
	// A core that turns this client away may have closed the connection already; it still said why.
	_, sendErr := conn.Send(message, nil)
	message, err = conn.Receive()
	if err = errors.Join(err, unlessAnswered(sendErr, message)); err != nil {
		return CoreHello{}, "", fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	in, err := DecodeIncoming(message)
	switch {
	case err != nil:
		return CoreHello{}, "", fmt.Errorf("%w: %w", ErrWrongCore, err)
	case in.Reply != nil && in.Reply.Error != nil:
		return CoreHello{}, "", in.Reply.Error
	case in.Hello == nil:
		return CoreHello{}, "", fmt.Errorf("%w: its first message is no hello", ErrWrongCore)
	}
	fingerprint, err := hello.Verify(*in.Hello, pinned)
	return *in.Hello, fingerprint, err
}

// unlessAnswered drops a sending error when an answer came even so.
func unlessAnswered(sendErr error, answer []byte) error {
	if len(answer) > 0 {
		return nil
	}
	return sendErr
}

// dialError adds what to do.
func dialError(socket string, err error) error {
	e := &DialError{Socket: socket, Err: err}
	var answered *Error
	switch {
	case errors.Is(err, ErrNoCore):
		e.Fix = startHint
	case errors.Is(err, ErrNoAnswer):
		e.Fix = "the core hangs or is something else: stop it and " + startHint
	case errors.Is(err, ErrWrongCore):
		e.Fix = "if the desk was set up anew, connect the agent again: \"countersign connect\"; if not, find out who listens there"
	case errors.As(err, &answered):
		e.Fix = "the core refused the connection"
		if answered.Code == CodeBadVersion {
			e.Fix = "the core and this program are of different versions: update both and restart the desk"
		}
	case errors.Is(err, os.ErrPermission):
		e.Fix = "the socket belongs to another user"
	default:
		e.Fix = startHint
	}
	return e
}

// maxSocketPath is the longest path of a unix socket that every system takes: sun_path holds 108 bytes on Linux and
// 104 on macOS (unix(7), unix(4)), a closing NUL included.
const maxSocketPath = 103

// CheckSocketPath refuses a path that no unix socket can have, with what to do about it.
func CheckSocketPath(path string) error {
	if path == "" {
		return errors.New("no socket path is given")
	}
	if len(path) > maxSocketPath {
		return fmt.Errorf("the socket path has %d bytes, a system takes at most %d: choose a shorter COUNTERSIGN_HOME", len(path), maxSocketPath)
	}
	return nil
}
