//go:build unix

package server

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"countersign/backend/wire"
)

func TestListenIsPrivate(t *testing.T) {
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "run")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(inner, "desk.sock")
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for path, want := range map[string]os.FileMode{inner: 0o700, socket: 0o600, socket + ".lock": 0o600} {
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestListenAlreadyRunning(t *testing.T) {
	t.Run("another core", func(t *testing.T) {
		socket := filepath.Join(shortDir(t), "s")
		first, err := Listen(socket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(socket); !errors.Is(err, ErrAlreadyRunning) {
			t.Errorf("error %v, want ErrAlreadyRunning", err)
		}
		_ = first.Close()
		_ = first.Close()
		second, err := Listen(socket)
		if err != nil {
			t.Fatalf("after it ended: %v", err)
		}
		_ = second.Close()
	})
	t.Run("something that answers without the lock, hung", func(t *testing.T) {
		socket := filepath.Join(shortDir(t), "s")
		other, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }()
		if _, err := Listen(socket); !errors.Is(err, ErrAlreadyRunning) {
			t.Errorf("error %v, want ErrAlreadyRunning", err)
		}
		if _, err := os.Lstat(socket); err != nil {
			t.Errorf("its socket was removed: %v", err)
		}
	})
}

func TestListenAfterDeath(t *testing.T) {
	socket := filepath.Join(shortDir(t), "s")
	dead, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = dead.Close()
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func TestListenRefusesOtherFiles(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"file":      func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link to a socket": func(path string) error {
			return os.Symlink("/nonexistent/socket", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(shortDir(t), "s")
			if err := make(socket); err != nil {
				t.Fatal(err)
			}
			if _, err := Listen(socket); !errors.Is(err, ErrNotSocket) {
				t.Errorf("error %v, want ErrNotSocket", err)
			}
			if _, err := os.Lstat(socket); err != nil {
				t.Errorf("it was removed: %v", err)
			}
		})
	}
	t.Run("the lock is a link", func(t *testing.T) {
		socket := filepath.Join(shortDir(t), "s")
		target := socket + ".target"
		if err := os.Symlink(target, socket+".lock"); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(socket); err == nil {
			t.Error("no error")
		}
		if _, err := os.Lstat(target); err == nil {
			t.Error("a file was made through the link")
		}
	})
	t.Run("the directory is a file", func(t *testing.T) {
		file := filepath.Join(shortDir(t), "f")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(filepath.Join(file, "s")); err == nil {
			t.Error("no error")
		}
	})
	t.Run("the path is too long", func(t *testing.T) {
		if _, err := Listen(filepath.Join(shortDir(t), strings.Repeat("x", 200))); err == nil || !strings.Contains(err.Error(), "COUNTERSIGN_HOME") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("the directory belongs to another user", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("needs root: chown")
		}
		dir := shortDir(t)
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Skip(err)
		}
		if _, err := Listen(filepath.Join(dir, "s")); !errors.Is(err, ErrUnsafeDirectory) {
			t.Errorf("error %v, want ErrUnsafeDirectory", err)
		}
	})
}

// Two cores that start at the same time over a dead core's socket: both used to be able to find it dead, and the
// second to remove the first one's new socket. Exactly one may win, and it must be reachable.
func TestTwoListenersFight(t *testing.T) {
	for range 30 {
		socket := filepath.Join(shortDir(t), "s")
		dead, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		dead.(*net.UnixListener).SetUnlinkOnClose(false)
		_ = dead.Close()

		const fighters = 4
		var starting sync.WaitGroup
		won := make(chan net.Listener, fighters)
		for range fighters {
			starting.Add(1)
			go func() {
				defer starting.Done()
				l, err := Listen(socket)
				if err == nil {
					won <- l
				} else if !errors.Is(err, ErrAlreadyRunning) {
					t.Errorf("error %v, want ErrAlreadyRunning", err)
				}
			}()
		}
		starting.Wait()
		close(won)
		n := 0
		for l := range won {
			n++
			c, err := net.Dial("unix", socket)
			if err != nil {
				t.Errorf("the winner cannot be reached: %v", err)
			} else {
				_ = c.Close()
			}
			_ = l.Close()
		}
		if n != 1 {
			t.Fatalf("%d cores listen", n)
		}
	}
}

func TestDialHint(t *testing.T) {
	_, err := wire.Dial(t.Context(), wire.DialOptions{Socket: filepath.Join(shortDir(t), "s")})
	var e *wire.DialError
	if !errors.As(err, &e) || !errors.Is(err, wire.ErrNoCore) || !strings.Contains(e.Hint(), "countersign serve") {
		t.Errorf("error %v", err)
	}
}
