package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"countersign/backend/approval"
)

const (
	// StoreFile is the name of the store in the state directory.
	StoreFile = "state.db"

	// lockTimeout is how long Open waits for a core that is just ending. A client waits 3 s for a core it started, so
	// the loser of a race must give up well before.
	lockTimeout = time.Second
	lockRetry   = 20 * time.Millisecond
)

// Options says how to open a store. The zero value is what the core uses.
type Options struct {
	// LockTimeout is how long to wait while another core has the store. Zero: one second.
	LockTimeout time.Duration
	// AcceptOlder opens a store whose newest header is unreadable in the state before its last commit. That may undo
	// what was acknowledged, so it is for the owner's explicit word only.
	AcceptOlder bool
	// Now is the clock that names copies. Nil: time.Now.
	Now func() time.Time
}

// Store is the durable state of one desk: an approval.Store on one bbolt file. It is safe for concurrent use; there is
// one writer at a time. A View must not be waited for inside an Update, nor an Update inside either.
type Store struct {
	dir  string
	db   *bolt.DB
	file *os.File // of db: closing it releases the lock even when bbolt is stuck

	writer  sync.Mutex // one Update at a time, its look after a failed commit included
	stopped atomic.Pointer[stop]
	closing sync.Once
}

// stop is why a store does nothing any more.
type stop struct{ err error }

var _ approval.Store = (*Store)(nil)

// Open opens the store of the state directory dir, making both on the first start. The errors are ErrLocked,
// ErrDamaged, ErrNewerSchema, ErrNoSpace, ErrInsecure (each with a Hint), and those of the file system. A file that
// cannot be used is never replaced.
func Open(dir string, o Options) (*Store, error) {
	return open(dir, o, migrations)
}

func open(dir string, o Options, steps []migration) (*Store, error) {
	if o.LockTimeout == 0 {
		o.LockTimeout = lockTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := privateDir(dir); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	path := filepath.Join(dir, StoreFile)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path, steps); err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
	}
	s := &Store{dir: dir}
	if err := s.openFile(path, o); err != nil {
		s.abandon()
		return nil, fmt.Errorf("open store: %w", fault("open", path, mapDisk(err)))
	}
	if err := s.migrate(steps, o.Now); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

// create puts an empty store of the newest schema at path, in one step. When another core was faster, its file stays.
func create(path string, steps []migration) error {
	temp, err := os.MkdirTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return mapDisk(err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	image := filepath.Join(temp, StoreFile)
	err = guarded(func() error {
		db, err := bolt.Open(image, fileMode, &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType})
		if err != nil {
			return err
		}
		err = db.Update(func(tx *bolt.Tx) error { return writeSchema(tx, newest(steps)) })
		return errors.Join(err, db.Close())
	})
	if err != nil {
		return mapDisk(err)
	}
	f, err := os.Open(image)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	err = createPrivate(path, func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// openFile opens, locks, checks and only then maps the file.
func (s *Store) openFile(path string, o Options) error {
	return guarded(func() error {
		db, err := bolt.Open(path, fileMode, &bolt.Options{
			// We hold the lock already; the limit is for a foreign program that took only bbolt's own.
			Timeout: o.LockTimeout,
			// The free list stays synced (no NoFreelistSync): the check below accounts for every page with it.
			FreelistType: bolt.FreelistMapType,
			OpenFile: func(name string, _ int, _ os.FileMode) (*os.File, error) {
				f, err := openPrivate(name, os.O_RDWR)
				if err != nil {
					return nil, err
				}
				if err := lockAndCheck(f, o); err != nil {
					_ = f.Close()
					return nil, err
				}
				s.file = f
				return f, nil
			},
		})
		if errors.Is(err, berrors.ErrTimeout) {
			return ErrLocked
		}
		if errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrChecksum) || errors.Is(err, berrors.ErrVersionMismatch) {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		s.db = db
		return err
	})
}

// lockAndCheck waits for the lock and checks the file under it.
func lockAndCheck(f *os.File, o Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.LockTimeout)
	defer cancel()
	for {
		ok, err := tryLock(f)
		if err != nil {
			return err
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return ErrLocked
		case <-time.After(lockRetry):
		}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkFile(f, info.Size(), o.AcceptOlder, func(bucket, key, value []byte) error {
		_, err := unseal(string(bucket), string(key), value)
		return err
	})
}

// Dir returns the state directory.
func (s *Store) Dir() string { return s.dir }

// Err returns why the store stopped, or nil while it works.
func (s *Store) Err() error {
	if st := s.stopped.Load(); st != nil {
		return st.err
	}
	return nil
}

// halt makes every later call fail with err, unless something else did already: after damage or a failed disk nothing
// read from the mapped file can be trusted.
func (s *Store) halt(err error) error {
	s.stopped.CompareAndSwap(nil, &stop{err})
	return err
}

// call runs one call into bbolt and halts the store if it turns out to be damaged.
func (s *Store) call(fn func() error) error {
	err := guarded(fn)
	if errors.Is(err, ErrDamaged) {
		return s.halt(fault("use", filepath.Join(s.dir, StoreFile), err))
	}
	return err
}

// View runs fn in a reading transaction.
func (s *Store) View(fn func(approval.Tx) error) error {
	tx, err := s.begin(false)
	if err != nil {
		return err
	}
	defer tx.rollback()
	return fn(tx)
}

// Update runs fn in the one writing transaction and commits it durably (fdatasync) before it returns nil. When fn or
// the commit fails, nothing changed; the one exception is ErrInterrupted, where only a restart shows it. A panic in fn
// changes nothing and goes on to the caller.
func (s *Store) Update(fn func(approval.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	tx, err := s.begin(true)
	if err != nil {
		return err
	}
	defer tx.rollback() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	return tx.commit()
}

// Close waits for open transactions and closes the store. Closing twice is harmless.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		healthy := s.Err() == nil
		s.stopped.Store(&stop{ErrClosed})
		if !healthy {
			s.abandon()
			return
		}
		if err = guarded(s.db.Close); err != nil {
			s.abandon()
		}
	})
	return err
}

// abandon lets go of the file and its lock without asking bbolt, which may hold its own locks for ever after a panic.
// The mapping stays until the process ends.
func (s *Store) abandon() {
	if s.file != nil {
		unlock(s.file)
		_ = s.file.Close()
	}
}
