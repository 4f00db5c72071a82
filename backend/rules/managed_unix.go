//go:build unix

package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// administrator is the account that owns the managed file and every directory above it.
const administrator = 0

// foreignFile says why another account than the administrator could have written the open file or put it there.
func foreignFile(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := foreignInfo(path, info); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, start := range []string{path, real} {
		for dir := filepath.Dir(start); ; dir = filepath.Dir(dir) {
			info, err := os.Lstat(dir)
			if err != nil {
				return err
			}
			if err := foreignInfo(dir, info); err != nil {
				return err
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}

func foreignInfo(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errors.New("its owner is not known")
	case st.Uid != administrator:
		return fmt.Errorf("%s belongs to account %d; make it root's", path, st.Uid)
	case info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o022 != 0 && (!info.IsDir() || info.Mode()&fs.ModeSticky == 0):
		return fmt.Errorf("%s can be written by others (mode %#o); chmod go-w it", path, info.Mode().Perm())
	}
	return nil
}
