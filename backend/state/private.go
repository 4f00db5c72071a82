package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// fault builds the usual error of this package: operation, path, and a Fault (possibly wrapped with details).
func fault(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// privateDir makes dir (0700) if it is missing, and otherwise checks that it is a directory of ours that nobody else
// may write. A directory that others may merely look into is closed; one that they may write is refused, because
// something may already have been put into it.
func privateDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return mapDisk(err)
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return mapDisk(err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fault("open state directory", dir, fmt.Errorf("%w: it is a symbolic link", ErrInsecure))
	case !info.IsDir():
		return fault("open state directory", dir, fmt.Errorf("%w: it is not a directory", ErrInsecure))
	}
	if err := checkOwner(info); err != nil {
		return fault("open state directory", dir, err)
	}
	if looseMode(info, 0o022) {
		return fault("open state directory", dir, fmt.Errorf("%w: mode %#o", ErrInsecure, info.Mode().Perm()))
	}
	if looseMode(info, 0o077) {
		if err := os.Chmod(dir, dirMode); err != nil {
			return err
		}
	}
	return nil
}

// openPrivate opens an existing private file: regular, ours, 0600, reached through no link in its last component. What is checked is the open file, not its name.
func openPrivate(path string, flag int) (*os.File, error) {
	f, err := openNoFollow(path, flag)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkPrivate(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, fault("open", path, err)
	}
	return f, nil
}

// checkPrivate reports why info is not a private file.
func checkPrivate(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is not a regular file", ErrInsecure)
	}
	if err := checkOwner(info); err != nil {
		return err
	}
	if looseMode(info, 0o077) {
		return fmt.Errorf("%w: mode %#o", ErrInsecure, info.Mode().Perm())
	}
	return nil
}

// readPrivate reads a private file of at most limit bytes.
func readPrivate(path string, limit int64) ([]byte, error) {
	f, err := openPrivate(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fault("read", path, fmt.Errorf("%w: longer than %d bytes", ErrTooLarge, limit))
	}
	return data, nil
}

// createPrivate writes a new private file in one step: it appears with all its bytes on the disk, or not at all.
// A file that is already there is never replaced (fs.ErrExist).
func createPrivate(path string, fill func(io.Writer) error) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return mapDisk(err)
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name())
		err = mapDisk(err)
	}()
	if err := fill(temp); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := renameNew(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// createPrivateBytes is createPrivate for content at hand.
func createPrivateBytes(path string, data []byte) error {
	return createPrivate(path, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}

// mapDisk turns "disk full" into ErrNoSpace and leaves every other error alone.
func mapDisk(err error) error {
	if err == nil || errors.Is(err, ErrNoSpace) || !isNoSpace(err) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrNoSpace, err)
}
