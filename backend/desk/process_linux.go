package desk

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"countersign/backend/wire"
)

// startDirectory returns the working directory of a process, as the kernel knows it (proc(5), cwd).
func startDirectory(p wire.Process) (string, error) {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(p.PID) + "/cwd")
	if err != nil {
		return "", fmt.Errorf("read working directory of process %d: %w", p.PID, err)
	}
	if !processAlive(p) {
		return "", fmt.Errorf("process %d ended", p.PID)
	}
	return dir, nil
}

// processAlive reports whether this very process still runs: a number that was given to another process since, or a
// zombie, does not count.
func processAlive(p wire.Process) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/stat")
	if err != nil {
		return false
	}
	// The command name, in parentheses, may hold anything: count fields after the last one (proc(5)).
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return false
	}
	fields := bytes.Fields(stat[end+1:])
	const stateField, startField = 0, 19
	if len(fields) <= startField || fields[stateField][0] == 'Z' {
		return false
	}
	start, err := strconv.ParseUint(string(fields[startField]), 10, 64)
	return err == nil && start == p.Start
}

// clockTicks is USER_HZ, in which proc(5) counts; it is 100 on every architecture this runs on.
const clockTicks = 100

// startedWithin reports whether a process was started (forked, not only executed) within d.
func startedWithin(p wire.Process, d time.Duration) bool {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return false
	}
	age := time.Duration(now.Nano()) - time.Duration(p.Start)*(time.Second/clockTicks)
	return age < d
}
