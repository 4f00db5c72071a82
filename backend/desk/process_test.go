package desk_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"countersign/backend/wire"
)

// processOf describes a running process as the kernel does (proc(5)).
func processOf(t *testing.T, pid int) wire.Process {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Process{PID: pid, Start: start, Name: "sleep"}
}

// bootTicks is now, as proc(5) counts the start of a process.
func bootTicks(t *testing.T) uint64 {
	t.Helper()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	seconds, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(seconds * 100)
}
