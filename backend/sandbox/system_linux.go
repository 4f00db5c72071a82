package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

// system is the Linux part of a Broker. Lock order: probing before mu.
type system struct {
	b *Broker

	probing sync.Mutex // held for the length of a probe, so that only one runs

	mu       sync.Mutex // guards everything below
	known    *probed
	secrets  []place
	secretAt time.Time
	ready    bool // the scratch directory has been set up

	standIns standIns
	owners   sync.WaitGroup // one for each bubblewrap that has not been reaped
}

// probed is a probe's answer and what it depends on.
type probed struct {
	key    string // boot, kernel, user, binaries
	at     time.Time
	report Report
	tools  *tools // nil when the probe failed
}

// tools are the binaries and facts every start uses.
type tools struct {
	bubblewrap string
	program    *os.File // countersign-init, held open: what is executed is what was probed
	abi        int
	outside    namespaces
	handled    rights
	filter     []instruction
}

func (s *system) init(b *Broker) { s.b = b }

// scratch sets the private directories up, once, and removes what a crashed core left in workspaces.
func (s *system) scratch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return nil
	}
	root := s.b.o.Scratch
	if !filepath.IsAbs(root) {
		return fmt.Errorf("scratch directory %q is not absolute", root)
	}
	var st unix.Stat_t
	if err := unix.Lstat(root, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: root, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("scratch directory %s is not a directory of this user's that only they may write", root)
	}
	for _, dir := range []struct {
		path string
		mode os.FileMode
	}{
		{"stand-in", 0o755}, {"stand-in/empty", 0o555}, {"stand-in/denied", 0}, {"sessions", 0o700}, {"leftovers", 0o700},
		{"probe", 0o700},
	} {
		path := filepath.Join(root, dir.path)
		if err := os.Mkdir(path, dir.mode); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if err := os.Chmod(path, dir.mode); err != nil {
			return err
		}
	}
	file := filepath.Join(root, "stand-in", "file")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := s.standIns.adopt(filepath.Join(root, "leftovers")); err != nil {
		return err
	}
	s.ready = true
	return nil
}

func (s *system) standIn(name string) string { return filepath.Join(s.b.o.Scratch, "stand-in", name) }

// session returns the private directories of a session, made when they are missing.
func (s *system) session(id string) (home, tmp string, err error) {
	sum := sha256.Sum256([]byte(id))
	dir := filepath.Join(s.b.o.Scratch, "sessions", hex.EncodeToString(sum[:12]))
	home, tmp = filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{dir, home, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return "", "", err
		}
	}
	return home, tmp, nil
}

// Forget removes the private directories of a session that has ended.
func (b *Broker) Forget(session string) error {
	sum := sha256.Sum256([]byte(session))
	dir := filepath.Join(b.o.Scratch, "sessions", hex.EncodeToString(sum[:12]))
	// A boxed command may have left directories that even their owner may not enter.
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() && err != nil {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// openInit opens countersign-init and refuses one that others could have changed.
func openInit(path string) (*os.File, string, error) {
	if !filepath.IsAbs(path) {
		return nil, "", fmt.Errorf("%q is not an absolute path", path)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if err == nil && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o022 != 0 || st.Mode&0o100 == 0 ||
		(st.Uid != 0 && int(st.Uid) != os.Geteuid())) {
		err = fmt.Errorf("%s must be an executable file of root's or of this user's that nobody else may write", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(f, 16<<20)); err != nil {
		_ = f.Close()
		return nil, "", err
	}
	return f, hex.EncodeToString(hash.Sum(nil)), nil
}

// fileKey names one version of a file, cheaply.
func fileKey(path string) string {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return path + ":" + err.Error()
	}
	return fmt.Sprintf("%s:%d:%d:%d:%d:%d", path, st.Dev, st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
}

// ownNamespaces returns the ids of the broker's namespaces.
func ownNamespaces() (namespaces, error) {
	var ids namespaces
	for i, name := range namespaceNames {
		var st unix.Stat_t
		if err := unix.Stat("/proc/self/ns/"+name, &st); err != nil {
			return ids, &os.PathError{Op: "stat", Path: "/proc/self/ns/" + name, Err: err}
		}
		ids[i] = st.Ino
	}
	return ids, nil
}

// landlockABI asks the kernel; 0 means that there is no Landlock.
func landlockABI() int {
	const version = 1 // LANDLOCK_CREATE_RULESET_VERSION
	abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	if e != 0 {
		return 0
	}
	return int(abi)
}

// identityOf is a file's identity as pathid names it.
func identityOf(st *unix.Stat_t) pathid.Identity {
	return pathid.Identity{Device: uint64(st.Dev), Inode: st.Ino} //nolint:unconvert // Dev is 32 bits on some machines
}

// close waits for everything that was started and frees what the broker holds open.
func (s *system) close() {
	s.owners.Wait()
	s.mu.Lock()
	if s.known != nil && s.known.tools != nil {
		_ = s.known.tools.program.Close()
	}
	s.known = nil
	s.mu.Unlock()
	s.standIns.close()
}
