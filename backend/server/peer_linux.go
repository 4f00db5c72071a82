package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"countersign/backend/wire"
)

// identify asks the kernel who connected (SO_PEERCRED, unix(7)) and reads its chain from proc(5). SO_PEERPIDFD (Linux
// 6.5) names the process itself rather than its number: if that still runs after its chain was read, the number was
// not given to another process meanwhile.
func identify(c net.Conn) (wire.Peer, witness, error) {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return wire.Peer{}, nil, fmt.Errorf("%w: not a unix socket", ErrPeerUnknown)
	}
	control, err := socket.SyscallConn()
	if err != nil {
		return wire.Peer{}, nil, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	var cred *unix.Ucred
	var credErr error
	var handle processHandle
	err = control.Control(func(fd uintptr) {
		if cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); credErr != nil {
			return
		}
		handle.fd, credErr = peerHandle(int(fd))
	})
	if err = errors.Join(err, credErr); err != nil {
		return wire.Peer{}, nil, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	peer, err := func() (wire.Peer, error) {
		if int(cred.Uid) != os.Geteuid() {
			return wire.Peer{}, fmt.Errorf("%w: user %d", ErrWrongUser, cred.Uid)
		}
		if cred.Pid <= 0 {
			return wire.Peer{}, fmt.Errorf("%w: it lives in a process namespace that this one cannot see", ErrPeerUnknown)
		}
		return peerOfProcess(int(cred.Pid), int(cred.Uid))
	}()
	if err == nil {
		handle.pid, handle.start = peer.Chain[0].PID, peer.Chain[0].Start
		if !handle.alive() {
			err = fmt.Errorf("%w: %w", ErrPeerUnknown, errGone)
		}
	}
	if err != nil {
		handle.close()
		return wire.Peer{}, nil, err
	}
	return peer, &handle, nil
}

// peerHandle returns the peer's pidfd, or -1 where the kernel has none to give.
func peerHandle(fd int) (int, error) {
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	switch {
	case err == nil:
		return pidfd, nil
	case errors.Is(err, unix.ENOPROTOOPT), errors.Is(err, unix.EOPNOTSUPP):
		return -1, nil // an older kernel
	}
	return -1, err // the process was reaped (ESRCH, EINVAL)
}

// processHandle is the witness on Linux.
type processHandle struct {
	fd    int // pidfd, -1 for none
	pid   int
	start uint64
}

// alive reports whether the process runs: a pidfd becomes readable when it ends (pidfd_open(2)).
func (h *processHandle) alive() bool {
	if h.fd >= 0 {
		poll := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
		for {
			n, err := unix.Poll(poll, 0)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return err == nil && n == 0
		}
	}
	stat, err := readStat(h.pid)
	return err == nil && stat.start == h.start && stat.state != 'Z' && stat.state != 'X'
}

func (h *processHandle) close() {
	if h.fd >= 0 {
		_ = unix.Close(h.fd)
		h.fd = -1
	}
}

// parentFits: on Linux the parent's number is always right, because orphans are given to another parent.
func parentFits(_, _ entry) bool { return true }

// lookAt reads one process.
func lookAt(pid int) (entry, error) {
	stat, err := readStat(pid)
	if err != nil {
		return entry{}, err
	}
	dir := "/proc/" + strconv.Itoa(pid)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		exe = "" // a kernel thread, or not ours to see
	}
	return entry{
		process: wire.Process{PID: pid, Start: stat.start, Exe: exe, Name: clip(stat.name), Args: readArgs(dir + "/cmdline")},
		parent:  stat.parent, tty: stat.tty, session: stat.session,
	}, nil
}

// readArgs reads the beginning of a process's command line.
func readArgs(name string) []string {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxArgsBytes))
	if err != nil || len(data) == 0 {
		return nil
	}
	return shorten(strings.Split(strings.TrimRight(string(data), "\x00"), "\x00"))
}

// stat is what proc(5) says in /proc/PID/stat.
type stat struct {
	name    string
	state   byte
	parent  int
	session int
	tty     uint64
	start   uint64 // clock ticks after boot
}

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		return stat{}, errGone
	case errors.Is(err, fs.ErrPermission):
		return stat{}, errHidden
	case err != nil:
		return stat{}, err
	}
	return parseStat(data)
}

// parseStat reads the fields of proc_pid_stat(5). The name, in parentheses, may hold anything, parentheses and spaces
// too, so the fields are counted from the last closing one.
func parseStat(data []byte) (stat, error) {
	bad := func(what string) (stat, error) { return stat{}, fmt.Errorf("parse process state: %s", what) }
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return bad("no name")
	}
	fields := bytes.Fields(data[end+1:])
	// Numbered from the state, which is field 3 in the manual page.
	const stateField, parentField, sessionField, ttyField, startField = 0, 1, 3, 4, 19
	if len(fields) <= startField || len(fields[stateField]) != 1 {
		return bad("too few fields")
	}
	s := stat{name: string(data[open+1 : end]), state: fields[stateField][0]}
	var err error
	if s.parent, err = strconv.Atoi(string(fields[parentField])); err != nil {
		return bad("parent")
	}
	if s.session, err = strconv.Atoi(string(fields[sessionField])); err != nil {
		return bad("session")
	}
	tty, err := strconv.ParseInt(string(fields[ttyField]), 10, 64)
	if err != nil {
		return bad("terminal")
	}
	s.tty = uint64(uint32(tty)) // printed as a signed 32-bit number
	if s.start, err = strconv.ParseUint(string(fields[startField]), 10, 64); err != nil {
		return bad("start time")
	}
	return s, nil
}
