package pathid

import (
	"io/fs"
	"time"
)

// FS is the read-only view of a filesystem that path and command analysis needs. Policy takes it as an argument,
// so that a case can be judged against a described filesystem and a Windows path can be judged on Linux.
type FS interface {
	// Lstat describes name without following a link in its last component.
	Lstat(name string) (Info, error)
	// Readlink returns the target text of the symbolic link name.
	Readlink(name string) (string, error)
	// ReadFile returns at most limit bytes of the regular file name; a longer file is an error.
	ReadFile(name string, limit int64) ([]byte, error)
	// ReadDir returns at most limit entry names of the directory name, unsorted.
	ReadDir(name string, limit int) ([]string, error)
}

// Info describes one file.
type Info struct {
	Mode     fs.FileMode
	Size     int64 // bytes
	ModTime  time.Time
	Links    uint64 // number of hard links
	Identity Identity
}

// Identity names a file independently of its path: device and inode on POSIX systems, volume serial and 128-bit file
// id on Windows. The zero Identity means "unknown" and equals nothing.
type Identity struct {
	Device uint64 `json:"device"`
	High   uint64 `json:"high,omitempty"` // upper half of a Windows file id
	Inode  uint64 `json:"inode"`
}

// Same reports whether both identities are known and equal.
func (i Identity) Same(other Identity) bool { return i != Identity{} && i == other }
