package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestStoreIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owner and mode are not checked on Windows")
	}
	dir := filepath.Join(t.TempDir(), "state")
	_ = openTest(t, dir).Close()
	mode := func(path string) fs.FileMode {
		return must(os.Stat(path))(t).Mode().Perm()
	}
	path := filepath.Join(dir, StoreFile)
	if mode(dir) != 0o700 || mode(path) != 0o600 {
		t.Errorf("modes are %#o and %#o", mode(dir), mode(path))
	}
	if names := must(os.ReadDir(dir))(t); len(names) != 1 {
		t.Errorf("more than the store was left: %v", names)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_ = openTest(t, dir).Close()
	if mode(dir) != 0o700 {
		t.Errorf("a readable directory was left at %#o", mode(dir))
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
	}{
		{"directory others may write", func(t *testing.T, dir string) { _ = os.Chmod(dir, 0o770) }},
		{"file others may read", func(t *testing.T, dir string) { _ = os.Chmod(filepath.Join(dir, StoreFile), 0o640) }},
		{"symbolic link to a store", func(t *testing.T, dir string) {
			path := filepath.Join(dir, StoreFile)
			if err := errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path)); err != nil {
				t.Fatal(err)
			}
		}},
		{"dangling symbolic link", func(t *testing.T, dir string) {
			path := filepath.Join(dir, StoreFile)
			if err := errors.Join(os.Remove(path), os.Symlink(path+".gone", path)); err != nil {
				t.Fatal(err)
			}
		}},
		{"directory in its place", func(t *testing.T, dir string) {
			path := filepath.Join(dir, StoreFile)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}},
		{"file in the directory's place", func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}},
		{"link in the directory's place", func(t *testing.T, dir string) {
			if err := errors.Join(os.Rename(dir, dir+".real"), os.Symlink(dir+".real", dir)); err != nil {
				t.Fatal(err)
			}
		}},
		{"owned by another account", func(t *testing.T, dir string) {
			if os.Getuid() != 0 {
				t.Skip("needs root to give a file away")
			}
			_ = os.Chown(filepath.Join(dir, StoreFile), 1, 1)
		}},
		{"directory owned by another account", func(t *testing.T, dir string) {
			if os.Getuid() != 0 {
				t.Skip("needs root to give a directory away")
			}
			_ = os.Chown(dir, 1, 1)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			_ = openTest(t, dir).Close()
			tt.prepare(t, dir)
			s, err := Open(dir, Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was opened")
			}
			if tt.name == "directory in its place" {
				return // EISDIR is as good
			}
			if !errors.Is(err, ErrInsecure) || Hint(err) == "" {
				t.Errorf("got %v, hint %q", err, Hint(err))
			}
		})
	}
}
