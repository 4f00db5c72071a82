package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"countersign/backend/config"
)

// lockName is the file that one window per desk holds locked. A core that still waits for its keyring answers nobody, and
// every call of a hook would open another window meanwhile.
const lockName = "window.lock"

// errHeld means that another window of this desk holds the lock.
var errHeld = errors.New("held by another window")

// lockWindow takes the lock of this desk's window. The system drops it with the process, however that ends.
func lockWindow(dirs config.Dirs) (unlock func(), err error) {
	if err := os.MkdirAll(dirs.Runtime, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dirs.Runtime, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return func() { _ = f.Close() }, nil // nothing was written to it
}
