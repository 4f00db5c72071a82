package server

import "errors"

var (
	// ErrAlreadyRunning means that another core listens on the socket, or that something answers there.
	ErrAlreadyRunning = errors.New("another core is running")
	// ErrNotSocket means that the socket's path is taken by something that is not a socket; it is left alone.
	ErrNotSocket = errors.New("the socket's path is taken by another file")
	// ErrUnsafeDirectory means that the socket's directory belongs to another user or is not a directory.
	ErrUnsafeDirectory = errors.New("the socket's directory is not ours alone")
	// ErrWrongUser means that a peer runs as another user.
	ErrWrongUser = errors.New("the peer runs as another user")
	// ErrPeerUnknown means that the kernel does not say who a peer is, or that it ended meanwhile.
	ErrPeerUnknown = errors.New("the peer cannot be identified")
	// ErrTooDeep means that a peer has more than MaxAncestors ancestors.
	ErrTooDeep = errors.New("the peer has too many ancestors")
)
