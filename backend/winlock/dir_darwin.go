package winlock

import (
	"strings"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// openRootDir opens a resolved absolute directory without following any link.
func openRootDir(path string) (int, error) {
	slash, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(slash)
	return openDirBeneath(slash, strings.Trim(path, "/"))
}

// openDirBeneath opens the directory rel below root, component by component; none may be a link.
func openDirBeneath(root int, rel string) (int, error) {
	at, err := openDirAt(root, ".")
	if err != nil {
		return -1, err
	}
	for part := range strings.SplitSeq(rel, "/") {
		if part == "" || part == "." {
			continue
		}
		fd, err := openDirAt(at, part)
		unix.Close(at)
		if err != nil {
			return -1, err
		}
		at = fd
	}
	return at, nil
}

// openDirAt opens one directory in another, not through a link.
func openDirAt(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

func statIdentity(st *unix.Stat_t) pathid.Identity {
	return pathid.Identity{Device: uint64(uint32(st.Dev)), Inode: st.Ino}
}
