//go:build unix

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"countersign/backend/wire"
)

// probeTimeout is how long a listener that is already there may take to accept a connection.
const probeTimeout = 2 * time.Second

// lockedListener is a unix listener together with the lock that makes it the only one.
type lockedListener struct {
	net.Listener
	lock *os.File
}

// Close stops listening, removes the socket, and only then lets the next core in.
func (l *lockedListener) Close() error {
	err := l.Listener.Close()
	_ = l.lock.Close() // gives the lock up; closing twice is harmless
	return err
}

// listen holds a lock beside the socket for as long as it listens. Without it two cores that start at the same time
// could both find the old socket dead, and the second would remove the first one's new socket. The lock file stays:
// removing it would open the same race again.
func listen(socket string) (net.Listener, error) {
	if err := wire.CheckSocketPath(socket); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := privateDirectory(filepath.Dir(socket)); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	lock, err := takeLock(socket + ".lock")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l, err := bind(socket)
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return &lockedListener{Listener: l, lock: lock}, nil
}

// privateDirectory makes dir, and makes it ours alone: nobody else can reach the socket, whatever its own mode is
// between bind(2) and chmod(2).
func privateDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// Through a descriptor, so that what was checked is what is changed.
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return &fs.PathError{Op: "stat", Path: dir, Err: err}
	}
	if int(st.Uid) != os.Geteuid() {
		return &fs.PathError{Op: "open", Path: dir, Err: fmt.Errorf("%w: it belongs to user %d", ErrUnsafeDirectory, st.Uid)}
	}
	if st.Mode&0o077 != 0 {
		return f.Chmod(0o700)
	}
	return nil
}

// takeLock takes the lock without waiting.
func takeLock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		err = ErrAlreadyRunning
	}
	_ = f.Close()
	return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
}

// bind removes a dead socket and listens. The lock is held.
func bind(socket string) (net.Listener, error) {
	info, err := os.Lstat(socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, &fs.PathError{Op: "bind", Path: socket, Err: ErrNotSocket}
	default:
		if err := probe(socket); err != nil {
			return nil, err
		}
		if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, &fs.PathError{Op: "bind", Path: socket, Err: ErrAlreadyRunning}
		}
		return nil, err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// probe returns nil only when certainly nobody listens: the kernel refuses the connection. A listener that hangs has
// a queue that accepts it, or is full; it is alive.
func probe(socket string) error {
	c, err := net.DialTimeout("unix", socket, probeTimeout)
	switch {
	case err == nil:
		_ = c.Close()
	case errors.Is(err, unix.ECONNREFUSED), errors.Is(err, unix.ENOENT):
		return nil
	case errors.Is(err, unix.EACCES):
		return &fs.PathError{Op: "bind", Path: socket, Err: err}
	}
	return &fs.PathError{Op: "bind", Path: socket, Err: ErrAlreadyRunning}
}
