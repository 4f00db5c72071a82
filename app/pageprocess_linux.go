package app

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// pageProgram is the name of WebKit's process for a page, as the kernel cuts it.
const pageProgram = "WebKitWebProces"

// endLook is how often it is looked whether a process lives where the kernel cannot tell (before Linux 5.10).
const endLook = 2 * time.Second

// findPageProcess returns the child of this process that draws the page, 0 where there is none.
func findPageProcess() int {
	self := os.Getpid()
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	for _, dir := range found {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && drawsPage(pid, self) {
			return pid
		}
	}
	return 0
}

// waitForEnd waits until the page's process has ended, or the context.
func waitForEnd(ctx context.Context, pid int) {
	if waitOnDescriptor(ctx, pid) == nil {
		return
	}
	for ctx.Err() == nil && drawsPage(pid, os.Getpid()) {
		pause(ctx, endLook)
	}
}

// waitOnDescriptor does it through a descriptor of the process (pidfd_open(2)), which can be read from when it has
// ended. The process stays the web view's to reap. An error means that the kernel cannot tell.
func waitOnDescriptor(ctx context.Context, pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return err
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	defer func() { _ = process.Close() }() // nothing was written
	if !drawsPage(pid, os.Getpid()) {
		return nil // it has ended, and its number may be another's by now
	}
	conn, err := process.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		_ = process.SetReadDeadline(time.Unix(1, 0)) // it wakes the read, or that has ended
	})()
	var fault error
	err = conn.Read(func(fd uintptr) bool {
		var ready int
		ready, fault = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return fault != nil && fault != unix.EINTR || ready > 0
	})
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = fault
	}
	return err
}

// drawsPage reads "PID (NAME) STATE PARENT …"; the name may hold anything.
func drawsPage(pid, parent int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if err != nil || open < 0 || end < open || string(stat[open+1:end]) != pageProgram {
		return false
	}
	fields := bytes.Fields(stat[end+1:])
	return len(fields) > 1 && string(fields[0]) != "Z" && string(fields[1]) == strconv.Itoa(parent)
}
