//go:build unix

package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// readWithFiles reads once, with the descriptors that came along (SCM_RIGHTS, unix(7)). Every descriptor received is
// either returned or closed.
func readWithFiles(raw net.Conn, p []byte) (int, []*os.File, error) {
	c, ok := raw.(*net.UnixConn)
	if !ok {
		n, err := raw.Read(p)
		return n, nil, err
	}
	control := make([]byte, unix.CmsgSpace(4*MaxFiles))
	n, controlLen, flags, _, err := c.ReadMsgUnix(p, control)
	n, controlLen = max(n, 0), max(controlLen, 0) // recvmsg(2) answers -1 with an error
	files, parseErr := parseFiles(control[:controlLen])
	if parseErr == nil && flags&unix.MSG_CTRUNC != 0 {
		parseErr = malformedf("more than %d files were passed with one message", MaxFiles)
	}
	if parseErr != nil {
		closeFiles(files)
		return n, nil, parseErr
	}
	return n, files, err
}

// parseFiles turns received control messages into files.
func parseFiles(control []byte) ([]*os.File, error) {
	if len(control) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, malformedf("the passed files cannot be read")
	}
	var files []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue // another kind of control message; none is asked for
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd) // Linux set it on receipt; elsewhere there is this gap
			files = append(files, os.NewFile(uintptr(fd), fmt.Sprintf("passed%d", len(files))))
		}
	}
	return files, nil
}

// writeWithFiles writes line, the descriptors with its first bytes.
func writeWithFiles(raw net.Conn, line []byte, files []*os.File) (int, error) {
	c, ok := raw.(*net.UnixConn)
	if !ok {
		return 0, ErrFilesUnsupported
	}
	fds := make([]int, 0, len(files))
	for _, f := range files {
		// Not f.Fd(): it may turn the description, which others share, to blocking mode.
		control, err := f.SyscallConn()
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrBadFile, err)
		}
		if err := control.Control(func(fd uintptr) { fds = append(fds, int(fd)) }); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrBadFile, err)
		}
	}
	n, _, err := c.WriteMsgUnix(line, unix.UnixRights(fds...), nil)
	n = max(n, 0)
	runtime.KeepAlive(files)
	if err != nil {
		if errors.Is(err, unix.ETOOMANYREFS) {
			err = fmt.Errorf("too many files under way (unix(7)): %w", err)
		}
		return n, err
	}
	rest, err := c.Write(line[n:])
	return n + rest, err
}
