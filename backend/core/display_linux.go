package core

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"countersign/backend/server"
	"countersign/backend/wire"
)

func here() surroundings {
	return surroundings{variables: true, uid: os.Getuid(), environment: environmentOf, file: look, listener: listenerOn}
}

// environmentOf reads the environment a process was started with (proc_pid_environ(5)). What the process itself changed
// later is not there, except where it wrote over that memory: then it is only what that process says.
func environmentOf(p wire.Process) ([]string, error) {
	f, err := os.Open("/proc/" + strconv.Itoa(p.PID) + "/environ")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotOurs, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !ownFile(info) {
		return nil, errNotOurs
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEnvironment+1))
	if err != nil || len(data) > maxEnvironment {
		return nil, errNotOurs
	}
	// The number may have been given to another process before the file was opened; while the process that was meant
	// still is above this one, it was not.
	self, err := server.Self()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotOurs, err)
	}
	if !slices.ContainsFunc(self.Chain, func(q wire.Process) bool { return q.PID == p.PID && q.Start == p.Start }) {
		return nil, errNotOurs
	}
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00"), nil
}

func ownFile(info os.FileInfo) bool { return ownerIs(info, os.Getuid()) }

func ownerIs(info os.FileInfo, uid int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == uid
}
