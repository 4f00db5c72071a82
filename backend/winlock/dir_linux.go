package winlock

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// openRootDir opens a resolved absolute directory without following any link. The descriptor serves only as a starting
// point, so the directory need not be readable.
func openRootDir(path string) (int, error) {
	fd, err := openat2(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if !errors.Is(err, unix.ENOSYS) {
		return fd, err
	}
	slash, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(slash)
	return walkDir(slash, strings.Trim(path, "/"), unix.O_PATH)
}

// openDirBeneath opens the directory rel below root for listing and syncing. No component may be a link of any kind, and
// the kernel itself keeps the walk below the root (openat2(2)). A directory that may be searched and not listed is opened
// too; it cannot be synced.
func openDirBeneath(root int, rel string) (int, error) {
	fd, err := openDirFor(root, rel, unix.O_RDONLY)
	if errors.Is(err, unix.EACCES) {
		return openDirFor(root, rel, unix.O_PATH)
	}
	return fd, err
}

func openDirFor(root int, rel string, access int) (int, error) {
	if rel == "" {
		rel = "."
	}
	fd, err := openat2(root, rel, access|unix.O_DIRECTORY, unix.RESOLVE_BENEATH)
	if errors.Is(err, unix.ENOSYS) {
		return walkDir(root, rel, access)
	}
	return fd, err
}

// openat2Tries bounds the repetitions that openat2(2) asks for with EAGAIN when something was renamed meanwhile.
const openat2Tries = 16

func openat2(at int, path string, flags int, resolve uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Resolve: resolve | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := -1, error(unix.EAGAIN)
	for try := 0; try < openat2Tries && (errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)); try++ {
		fd, err = unix.Openat2(at, path, &how)
	}
	if errors.Is(err, unix.EPERM) {
		// Filters of containers that do not know openat2 answer so.
		err = unix.ENOSYS
	}
	return fd, err
}

// walkDir does the same component by component where the kernel (before 5.6) or a filter has no openat2.
func walkDir(root int, rel string, last int) (int, error) {
	parts := []string{"."}
	for part := range strings.SplitSeq(rel, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	at := root
	for i, part := range parts {
		access := unix.O_PATH
		if i == len(parts)-1 {
			access = last
		}
		fd, err := unix.Openat(at, part, access|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if at != root {
			unix.Close(at)
		}
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
	return pathid.Identity{Device: uint64(st.Dev), Inode: st.Ino}
}
