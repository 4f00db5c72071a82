//go:build unix

package settings

import "os"

// syncDir makes a rename durable.
func syncDir(dir string) error {
	h, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	return h.Sync()
}
