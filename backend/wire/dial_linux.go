package wire

import "golang.org/x/sys/unix"

// listenerUser returns the user that called listen(2) at the other end (SO_PEERCRED, unix(7)).
func listenerUser(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
