package wire

import "golang.org/x/sys/unix"

// listenerUser returns the user that called listen(2) at the other end (LOCAL_PEERCRED, unix(4)).
func listenerUser(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
