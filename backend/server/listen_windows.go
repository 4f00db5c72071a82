package server

import (
	"errors"
	"fmt"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"countersign/backend/wire"
)

// pipeBuffer is the size of a pipe's buffers, in bytes.
const pipeBuffer = 64 << 10

// listen creates the first instance of the pipe, which fails when the name is taken. Its access list holds this user
// and nobody else, not even read, and remote clients are refused by go-winio.
func listen(socket string) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	sid := user.User.Sid.String()
	l, err := winio.ListenPipe(wire.PipeName(socket), &winio.PipeConfig{
		SecurityDescriptor: "O:" + sid + "D:P(A;;GA;;;" + sid + ")",
		InputBufferSize:    pipeBuffer,
		OutputBufferSize:   pipeBuffer,
	})
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, windows.ERROR_ACCESS_DENIED), errors.Is(err, windows.ERROR_ALREADY_EXISTS),
		errors.Is(err, windows.ERROR_PIPE_BUSY):
		return nil, fmt.Errorf("listen on %s: %w", wire.PipeName(socket), ErrAlreadyRunning)
	}
	return nil, fmt.Errorf("listen: %w", err)
}
