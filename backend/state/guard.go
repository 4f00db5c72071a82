package state

import (
	"fmt"
	"runtime/debug"
)

// guarded runs fn, which is a call into bbolt and nothing of ours, and turns a panic or a memory fault in it into
// ErrDamaged. bbolt asserts its invariants by panicking, and a page that went bad or a file that was cut off while it
// is mapped is a fault (SIGBUS), which ends the program unless it is asked to panic instead.
//
// This is the second line: the first is the check of the whole file before bbolt sees it (check.go).
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return fn()
}
