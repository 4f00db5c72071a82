package server

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"countersign/backend/wire"
)

// identify asks the kernel who connected (LOCAL_PEERCRED and LOCAL_PEERPID, unix(4)) and reads its chain with
// sysctl(3).
func identify(c net.Conn) (wire.Peer, witness, error) {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return wire.Peer{}, nil, fmt.Errorf("%w: not a unix socket", ErrPeerUnknown)
	}
	control, err := socket.SyscallConn()
	if err != nil {
		return wire.Peer{}, nil, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	var cred *unix.Xucred
	var pid int
	var credErr error
	err = control.Control(func(fd uintptr) {
		if cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); credErr != nil {
			return
		}
		pid, credErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err = errors.Join(err, credErr); err != nil {
		return wire.Peer{}, nil, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return wire.Peer{}, nil, fmt.Errorf("%w: user %d", ErrWrongUser, cred.Uid)
	}
	peer, err := peerOfProcess(pid, int(cred.Uid))
	if err != nil {
		return wire.Peer{}, nil, err
	}
	return peer, processStart{pid: pid, start: peer.Chain[0].Start}, nil
}

// processStart is the witness on macOS: a process is its number and its start time.
type processStart struct {
	pid   int
	start uint64
}

// zombie is SZOMB of sys/proc.h.
const zombie = 5

func (p processStart) alive() bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", p.pid)
	return err == nil && startOf(info) == p.start && info.Proc.P_stat != zombie
}

func (processStart) close() {}

// startOf is the start time in microseconds.
func startOf(info *unix.KinfoProc) uint64 {
	t := info.Proc.P_starttime
	return uint64(t.Sec)*1_000_000 + uint64(t.Usec)
}

// parentFits: orphans are given to launchd, so the parent's number is always right.
func parentFits(_, _ entry) bool { return true }

func lookAt(pid int) (entry, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		// No such process is an answer without content, which x/sys reports as EIO.
		if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
			return entry{}, errGone
		}
		return entry{}, errHidden
	}
	e := entry{parent: int(info.Eproc.Ppid)}
	name, _, _ := bytes.Cut(info.Proc.P_comm[:], []byte{0})
	e.process = wire.Process{PID: pid, Start: startOf(info), Name: clip(string(name))}
	e.process.Exe, e.process.Args = readArgs(pid)
	if tty := info.Eproc.Tdev; tty != -1 {
		e.tty = uint64(uint32(tty))
	}
	if session, err := unix.Getsid(pid); err == nil {
		e.session = session
	}
	return e, nil
}

// readArgs reads a process's program path and arguments (KERN_PROCARGS2, as ps(1) does): a count, the path, NULs, then
// the arguments.
func readArgs(pid int) (exe string, args []string) {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return "", nil // another user's process
	}
	return parseProcArgs(data)
}
