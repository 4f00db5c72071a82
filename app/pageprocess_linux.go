package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// pageProgram is the name of WebKit's process for a page, as the kernel cuts it.
const pageProgram = "WebKitWebProces"

// findPageProcess returns the child of this process that draws the page, 0 where there is none.
func findPageProcess(known int) int {
	self := os.Getpid()
	if known != 0 && drawsPage(known, self) {
		return known
	}
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return known
	}
	for _, dir := range found {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && drawsPage(pid, self) {
			return pid
		}
	}
	return 0
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
