package core

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// loginTime is how long after its login a session's own display may start. What comes later may be anybody's.
	loginTime = time.Minute
	// tick is the unit of start times in /proc (proc_pid_stat(5)), the same on every system that this runs on.
	tick = time.Second / 100
	// sessions is where the system's login manager, which is root, keeps its sessions.
	sessions = "/run/systemd/sessions"
	// toRead is R_OK of access(2).
	toRead = 4
	// dialWait bounds connecting to a display: one whose queue is full is none.
	dialWait = time.Second
)

// listenerOn says who listens on a socket, as the kernel noted it when that process began to (unix(7), SO_PEERCRED).
func listenerOn(path string) (listener, bool) {
	conn, err := net.DialTimeout("unix", path, dialWait)
	if err != nil {
		return listener{}, false
	}
	defer func() { _ = conn.Close() }()
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return listener{}, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return listener{}, false
	}
	var cred *syscall.Ucred
	if controlled := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); controlled != nil || err != nil {
		return listener{}, false
	}
	pid := int(cred.Pid)
	return listener{uid: int(cred.Uid), input: holdsInput(pid), login: startedWithLogin(pid, os.Getuid())}, true
}

// holdsInput reports whether a process or one of its children holds an input device that this account cannot open: then
// the login manager gave it. KDE's compositor is the child of what listens.
func holdsInput(pid int) bool {
	process := "/proc/" + strconv.Itoa(pid)
	children, _ := os.ReadFile(process + "/task/" + strconv.Itoa(pid) + "/children")
	for _, one := range append([]string{strconv.Itoa(pid)}, strings.Fields(string(children))...) {
		open, _ := filepath.Glob("/proc/" + one + "/fd/*")
		if slices.ContainsFunc(open, func(fd string) bool {
			device, err := os.Readlink(fd)
			return err == nil && strings.HasPrefix(device, "/dev/input/event") && errors.Is(syscall.Access(device, toRead), syscall.EACCES)
		}) {
			return true
		}
	}
	return false
}

// startedWithLogin reports whether a process started soon after an account logged in to a seat, by the records of the
// login manager. The program that made the login is root's and stays for as long as the session.
func startedWithLogin(pid, uid int) bool {
	began, ok := startOf(pid)
	if !ok {
		return false
	}
	files, _ := filepath.Glob(sessions + "/*")
	for _, name := range files {
		leader, ok := leaderOf(name, uid)
		if !ok {
			continue
		}
		info, err := os.Stat("/proc/" + strconv.Itoa(leader))
		if at, ok := startOf(leader); err == nil && ok && ownerIs(info, 0) && began >= at && began-at <= loginTime {
			return true
		}
	}
	return false
}

// leaderOf reads the process that made a login of an account to a screen, from a session's record.
func leaderOf(name string, uid int) (pid int, ok bool) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || !ownerIs(info, 0) {
		return 0, false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	return readSession(string(text), uid)
}

// readSession reads a session's record (systemd's logind-session.c): lines of NAME=VALUE.
func readSession(text string, uid int) (leader int, ok bool) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			values[name] = value
		}
	}
	screen := values["TYPE"] == "x11" || values["TYPE"] == "wayland" || values["TYPE"] == "mir"
	leader, err := strconv.Atoi(values["LEADER"])
	return leader, err == nil && leader > 1 && screen && values["SEAT"] != "" && values["CLASS"] == "user" && values["UID"] == strconv.Itoa(uid)
}

// startOf returns when a process started, since the machine did.
func startOf(pid int) (time.Duration, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // the name may hold anything
	const start = 22 - 3                                                                // of those behind the name
	if len(fields) <= start {
		return 0, false
	}
	ticks, err := strconv.ParseInt(fields[start], 10, 64)
	return time.Duration(ticks) * tick, err == nil
}
