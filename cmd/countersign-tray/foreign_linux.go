package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// closeForeign closes the descriptors that our parent's libraries left open for their own children: a window's engine
// has some without close-on-exec, and holding the far end of its pipes would keep them from ever ending. Those of our own
// runtime are anonymous inodes of the kernel and stay. Nothing else was opened yet.
func closeForeign() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err != nil || strings.HasPrefix(target, "anon_inode:") {
			continue
		}
		_ = syscall.Close(fd)
	}
}
