package pathid

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// OS returns the real filesystem of this machine. Its Readlink, ReadFile and ReadDir are bounded; ReadFile refuses
// anything but a regular file and does not follow a link in the last component, so give it a resolved path.
func OS() FS { return osFS{} }

type osFS struct{}

// Lstat implements FS.
func (osFS) Lstat(name string) (Info, error) {
	if err := safe(name); err != nil {
		return Info{}, err
	}
	return lstat(name)
}

// Readlink implements FS.
func (osFS) Readlink(name string) (string, error) {
	if err := safe(name); err != nil {
		return "", err
	}
	return os.Readlink(name)
}

// ReadFile implements FS.
func (osFS) ReadFile(name string, limit int64) ([]byte, error) {
	if err := safe(name); err != nil {
		return nil, err
	}
	f, err := openRead(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refuse("read", name, ErrNotRegular)
	}
	if info.Size() > limit {
		return nil, refuse("read", name, ErrTooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, refuse("read", name, ErrTooLarge)
	}
	return data, nil
}

// ReadDir implements FS.
func (osFS) ReadDir(name string, limit int) ([]string, error) {
	if err := safe(name); err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// safe refuses what must not be touched to be judged.
func safe(name string) error {
	p := Host()
	if !IsAbs(p, name) {
		if p.IsWindows() {
			if _, err := Abs(p, `C:\`, name); err != nil {
				return err
			}
		}
		return refuse("stat", name, ErrRelative)
	}
	_, err := Abs(p, "", name)
	return err
}

func isLink(info Info) bool { return info.Mode&fs.ModeSymlink != 0 }
