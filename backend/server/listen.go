package server

import "net"

// Listen opens the core's door at a socket path; on Windows it is the named pipe that stands for the path
// (wire.PipeName). Only this user can connect. What a dead core left behind is removed; if anything answers there, or
// another core is just starting, it is ErrAlreadyRunning.
func Listen(socket string) (net.Listener, error) { return listen(socket) }
