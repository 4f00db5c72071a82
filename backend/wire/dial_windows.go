package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

func dial(ctx context.Context, socket string) (net.Conn, error) {
	raw, err := winio.DialPipeContext(ctx, PipeName(socket))
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w (%w)", ErrNoAnswer, ctx.Err())
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w (%w)", ErrNoCore, err)
	}
	return nil, err
}

// checkCoreUser refuses a core that does not run as this user: a pipe's name can be taken by anybody.
func checkCoreUser(raw net.Conn) error {
	pipe, ok := raw.(interface{ Fd() uintptr })
	if !ok {
		return fmt.Errorf("%w: it is not on a named pipe", ErrWrongCore)
	}
	var pid uint32
	if err := windows.GetNamedPipeServerProcessId(windows.Handle(pipe.Fd()), &pid); err != nil {
		return fmt.Errorf("%w: the system does not say who listens: %w", ErrWrongCore, err)
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return fmt.Errorf("%w: process %d cannot be asked for its user: %w", ErrWrongCore, pid, err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	same, err := SameUser(process)
	if err != nil {
		return fmt.Errorf("%w: process %d cannot be asked for its user: %w", ErrWrongCore, pid, err)
	}
	if !same {
		return fmt.Errorf("%w: process %d of another user listens", ErrWrongCore, pid)
	}
	return nil
}

// SameUser reports whether a process runs as the user this process runs as, by security identifier.
func SameUser(process windows.Handle) (bool, error) {
	theirs, err := userOf(process)
	if err != nil {
		return false, err
	}
	ours, err := userOf(windows.CurrentProcess())
	if err != nil {
		return false, err
	}
	return theirs.Equals(ours), nil
}

func userOf(process windows.Handle) (*windows.SID, error) {
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return nil, err
	}
	defer func() { _ = token.Close() }()
	user, err := token.GetTokenUser()
	if err != nil {
		return nil, err
	}
	return user.User.Sid.Copy()
}
