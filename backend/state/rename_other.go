//go:build unix && !linux && !darwin

package state

import "os"

// renameNew gives from the second name to and fails with fs.ErrExist when to is there; the caller removes from.
func renameNew(from, to string) error { return os.Link(from, to) }
