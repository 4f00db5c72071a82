package sandbox

import "time"

// stamp tells versions of a file apart; a boxed command cannot make two that look the same.
type stamp struct {
	Device, Inode uint64
	Mode          uint32
	Size          int64
	Modified      int64
	Changed       int64 // nanoseconds
}

// repositories is what one walk found of Git in the write roots.
type repositories struct {
	began time.Time
	dirs  map[string]map[string]stamp // what git takes for a repository, and the watched names that exist in it
	files map[string]stamp            // each .git that is not a directory
	blind map[string]bool             // directories that could not be read
	cut   string                      // why the walk is not complete
}
