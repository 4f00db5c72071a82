package pathid

import (
	"errors"
	"io/fs"
)

// The reasons a path is refused. They reach the caller inside a *fs.PathError that carries the path.
var (
	ErrRemote       = errors.New("path names another machine")
	ErrDevice       = errors.New("path names a device or uses a device prefix")
	ErrNUL          = errors.New("path contains a NUL byte")
	ErrTooLong      = errors.New("path is too long")
	ErrEmpty        = errors.New("path is empty")
	ErrRelative     = errors.New("path is not absolute")
	ErrParent       = errors.New("path contains a parent reference")
	ErrAmbiguous    = errors.New("path component is read differently by different programs")
	ErrMagicLink    = errors.New("path goes through a magic link of the process filesystem")
	ErrTooManyLinks = errors.New("path goes through too many symbolic links")
	ErrNotDirectory = errors.New("not a directory")
	ErrNoIdentity   = errors.New("the filesystem does not tell the identity of the file")
	ErrReplaced     = errors.New("another file stands at the path")
	ErrOutside      = errors.New("path lies outside its root")
	ErrNotRegular   = errors.New("not a regular file")
	ErrTooLarge     = errors.New("file is larger than the limit")
	ErrUnsupported  = errors.New("not supported on this platform")
)

func refuse(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}
