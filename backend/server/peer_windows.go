package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"countersign/backend/wire"
)

// identify asks the system which process opened the pipe (GetNamedPipeClientProcessId), compares its user by security
// identifier, and reads its chain. The open handle keeps its number from being given away.
func identify(c net.Conn) (wire.Peer, witness, error) {
	pipe, ok := c.(interface{ Fd() uintptr })
	if !ok {
		return wire.Peer{}, nil, fmt.Errorf("%w: not a named pipe", ErrPeerUnknown)
	}
	var pid uint32
	if err := windows.GetNamedPipeClientProcessId(windows.Handle(pipe.Fd()), &pid); err != nil {
		return wire.Peer{}, nil, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return wire.Peer{}, nil, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	handle := &processHandle{process}
	same, err := wire.SameUser(process)
	if err != nil {
		handle.close()
		return wire.Peer{}, nil, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
	}
	if !same {
		handle.close()
		return wire.Peer{}, nil, fmt.Errorf("%w: process %d", ErrWrongUser, pid)
	}
	peer, err := peerOfProcess(int(pid), os.Geteuid())
	if err == nil && !handle.alive() {
		err = fmt.Errorf("%w: %w", ErrPeerUnknown, errGone)
	}
	if err != nil {
		handle.close()
		return wire.Peer{}, nil, err
	}
	return peer, handle, nil
}

// processHandle is the witness on Windows.
type processHandle struct{ process windows.Handle }

// alive reports whether the process runs: its handle is signalled when it ends.
func (h *processHandle) alive() bool {
	event, err := windows.WaitForSingleObject(h.process, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}

func (h *processHandle) close() { _ = windows.CloseHandle(h.process) }

// parentFits: Windows keeps the number of a parent that ended, and gives it away again. A parent is older than its
// child.
func parentFits(parent, child entry) bool { return parent.process.Start <= child.process.Start }

func lookAt(pid int) (entry, error) {
	parent, name, err := toolhelp(uint32(pid))
	if err != nil {
		return entry{}, err
	}
	e := entry{parent: int(parent), process: wire.Process{PID: pid, Name: clip(name)}}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return entry{}, errHidden
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
		return entry{}, errHidden
	}
	e.process.Start = uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	e.process.Exe = imagePath(process)
	var session uint32
	if windows.ProcessIdToSessionId(uint32(pid), &session) == nil {
		e.session = int(session)
	}
	return e, nil
}

// imagePath returns the path of a process's program, "" when it cannot be read.
func imagePath(process windows.Handle) string {
	buffer := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(buffer))
	if windows.QueryFullProcessImageName(process, 0, &buffer[0], &size) != nil {
		return ""
	}
	return windows.UTF16ToString(buffer[:size])
}

// toolhelp finds a process's parent and program name. A process that is not in the snapshot has ended.
func toolhelp(pid uint32) (parent uint32, name string, err error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	var e windows.ProcessEntry32
	e.Size = uint32(unsafe.Sizeof(e))
	for err = windows.Process32First(snapshot, &e); err == nil; err = windows.Process32Next(snapshot, &e) {
		if e.ProcessID == pid {
			name := windows.UTF16ToString(e.ExeFile[:])
			return e.ParentProcessID, strings.TrimSuffix(name, filepath.Ext(name)), nil
		}
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return 0, "", errors.Join(errGone, errTop)
	}
	return 0, "", err
}
