package core

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// checkCoreProcess reports why a process id that a core gave is not to be signalled: it must run one of our programs
// under this account (proc(5)).
func checkCoreProcess(pid int) error {
	dir := "/proc/" + strconv.Itoa(pid)
	info, err := os.Stat(dir)
	if err != nil {
		return stopError("stop_failed", pid, "look at process %d: %v", pid, err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if pid <= 1 || !ok || int(st.Uid) != os.Geteuid() {
		return stopError("stop_foreign", pid, "process %d does not belong to this account, so it was left alone", pid)
	}
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return stopError("stop_failed", pid, "look at process %d: %v", pid, err)
	}
	// A core that was rebuilt meanwhile runs on as "… (deleted)"; the name still begins alike.
	if !strings.HasPrefix(filepath.Base(exe), programName) {
		return stopError("stop_foreign", pid, "process %d runs %q, which is not Countersign, so it was left alone", pid, exe)
	}
	return nil
}

// processGone reports whether a process ended; a zombie has, whatever its parent does about it (proc(5)).
func processGone(p *os.Process) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/stat")
	if err != nil {
		return true
	}
	end := bytes.LastIndexByte(stat, ')')
	return end >= 0 && bytes.HasPrefix(stat[end:], []byte(") Z"))
}
