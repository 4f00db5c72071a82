package winlock

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// tryLock takes flock, and where the filesystem refuses flock an open-file-description lock on the whole file
// (fcntl(2)), which like flock belongs to the open file and not to the process.
func tryLock(fd int) error {
	err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EBADF):
		return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	}
	return err
}

// lockTable is the kernel's list of locks (proc_locks(5)); it shows only processes of our own pid namespace.
const (
	lockTable      = "/proc/locks"
	lockTableLimit = 1 << 20
)

// lockHolders returns the processes that the kernel names as holders of locks on the file.
func lockHolders(f *os.File) []int {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil
	}
	table, err := pathid.OS().ReadFile(lockTable, lockTableLimit)
	if err != nil {
		return nil
	}
	return holdersIn(string(table), fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino))
}

func holdersIn(table, file string) []int {
	var pids []int
	for line := range strings.Lines(table) {
		// 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF; those who wait have "->" after the number.
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] == "->" || fields[5] != file {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
