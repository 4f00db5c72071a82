package settings

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxSize is the largest settings file that is read, in bytes.
const MaxSize = 1 << 20

// BackupSuffix is what the first backup is called after the file.
const BackupSuffix = ".countersign-backup"

// Errors of this package, wrapped in *fs.PathError.
var (
	ErrChanged    = errors.New("the file was changed by another program meanwhile; nothing was written, try again")
	ErrReadOnly   = errors.New("the file is read-only; make it writable (chmod u+w) and try again")
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("larger than a settings file may be (1 MiB)")
	ErrDangling   = errors.New("a link that leads to nothing; create its target or remove the link")
)

// File is a settings file as it was read.
type File struct {
	Path   string // as asked for
	Target string // the file that is edited: Path, or where its link leads
	Linked bool   // Path is reached through a link, Target differs
	Exists bool
	Data   []byte
	Mode   fs.FileMode
}

// Digest names content: "sha256:" and the hexadecimal SHA-256.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Load reads a settings file. A missing one is not an error.
func Load(path string) (File, error) {
	if !filepath.IsAbs(path) {
		return File{}, &fs.PathError{Op: "read settings", Path: path, Err: errors.New("not an absolute path")}
	}
	f := File{Path: path, Target: path}
	target, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		f.Target = target
	case errors.Is(err, fs.ErrNotExist):
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return File{}, &fs.PathError{Op: "read settings", Path: path, Err: ErrDangling}
		}
		// The directory may be reached through a link although the file does not exist yet.
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			f.Target = filepath.Join(dir, filepath.Base(path))
		}
		f.Linked = f.Target != path
		return f, nil
	default:
		return File{}, err
	}
	f.Linked = f.Target != path
	f.Data, f.Mode, err = read(f.Target)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	f.Exists = err == nil
	return f, err
}

func read(target string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(target)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{Op: "read settings", Path: target, Err: ErrNotRegular}
	}
	h, err := os.Open(target)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = h.Close() }()
	if info, err = h.Stat(); err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(h, MaxSize+1))
	if err != nil {
		return nil, 0, err
	}
	if len(data) > MaxSize {
		return nil, 0, &fs.PathError{Op: "read settings", Path: target, Err: ErrTooLarge}
	}
	return data, info.Mode().Perm(), nil
}

// Writable reports why the file could not be replaced, before anything is tried.
func (f File) Writable() error {
	if f.Exists && f.Mode&0o200 == 0 {
		return &fs.PathError{Op: "write settings", Path: f.Target, Err: ErrReadOnly}
	}
	return nil
}

// Backup keeps a copy of the file as it is beside it, unless one is kept already, and returns where it is. The first
// one is the one from before we touched the file, so it is never overwritten. A file that does not exist has none.
func (f File) Backup() (string, error) {
	if !f.Exists {
		return "", nil
	}
	path := f.Target + BackupSuffix
	if _, err := os.Lstat(path); err == nil {
		return path, nil
	}
	temp, err := writeTemp(path, f.Data, f.Mode)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(temp) }()
	// A hard link is made only where nothing stands: no race overwrites a backup.
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", backupByCopy(path, f, err)
	}
	return path, nil
}

// backupByCopy is for file systems without hard links.
func backupByCopy(path string, f File, cause error) error {
	h, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return errors.Join(cause, err)
	}
	_, err = h.Write(f.Data)
	if err = errors.Join(err, h.Sync(), h.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// Replace writes new content in place of what was read, by an atomic rename, if the file still is what was read.
func (f File) Replace(data []byte) error {
	if err := f.Writable(); err != nil {
		return err
	}
	mode := f.Mode
	if !f.Exists {
		mode = 0o600
		if err := os.MkdirAll(filepath.Dir(f.Target), 0o700); err != nil {
			return err
		}
	}
	temp, err := writeTemp(f.Target, data, mode)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }()
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Rename(temp, f.Target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.Target))
}

// Remove deletes the file, if it still is what was read: for a file that we made and that holds nothing else.
func (f File) Remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.Target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.Target))
}

// unchanged reads the file again and compares it, and that the link still leads to it.
func (f File) unchanged() error {
	now, err := Load(f.Path)
	if err != nil {
		return err
	}
	if now.Exists != f.Exists || now.Target != f.Target || !bytes.Equal(now.Data, f.Data) {
		return &fs.PathError{Op: "write settings", Path: f.Target, Err: ErrChanged}
	}
	return nil
}

// writeTemp writes a new file next to path, durably, and returns its name.
func writeTemp(path string, data []byte, mode fs.FileMode) (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%s.tmp", filepath.Base(path), hex.EncodeToString(random[:])))
	h, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = h.Write(data)
	if err == nil {
		err = h.Chmod(mode) // exactly the old mode, whatever the umask
	}
	if err == nil {
		err = h.Sync()
	}
	if err = errors.Join(err, h.Close()); err != nil {
		_ = os.Remove(temp)
		return "", err
	}
	return temp, nil
}
