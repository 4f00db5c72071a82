package winlock

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"countersign/backend/pathid"
)

// The reasons for which a file is not read or written. They arrive inside a *fs.PathError, and every one of them says
// that nothing was changed.
var (
	ErrChanged         = errors.New("the file's content is not the approved one")
	ErrDeleted         = errors.New("the file was deleted after the approval")
	ErrAppeared        = errors.New("a file appeared after the approval")
	ErrReplaced        = errors.New("another file stands at the path")
	ErrLink            = errors.New("the path is a link or reparse point")
	ErrNotRegular      = errors.New("not a regular file")
	ErrSeveralLinks    = errors.New("the file has several names")
	ErrParentChanged   = errors.New("the directory is not the approved one")
	ErrLocked          = errors.New("the file is locked by another program")
	ErrOutsideRoots    = errors.New("the path lies outside the roots")
	ErrReadOnly        = errors.New("the file or its directory may not be written to")
	ErrNoSpace         = errors.New("no space is left")
	ErrTooLarge        = errors.New("the file is larger than the limit")
	ErrMetadata        = errors.New("owner or attributes of the file cannot be kept")
	ErrAmbiguous       = errors.New("the name is read differently by different programs")
	ErrInvalidSnapshot = errors.New("the snapshot is malformed")
	ErrUnsupported     = errors.New("checked files are not supported on this system")
)

// codes gives each sentinel the word that screens and the wire use.
var codes = []struct {
	err  error
	code string
}{
	{ErrChanged, "file_changed"},
	{ErrDeleted, "file_deleted"},
	{ErrAppeared, "file_appeared"},
	{ErrReplaced, "file_replaced"},
	{ErrLink, "file_link"},
	{ErrNotRegular, "file_not_regular"},
	{ErrSeveralLinks, "file_several_links"},
	{ErrParentChanged, "file_parent_changed"},
	{ErrLocked, "file_locked"},
	{ErrOutsideRoots, "file_outside_roots"},
	{ErrReadOnly, "file_read_only"},
	{ErrNoSpace, "file_no_space"},
	{ErrTooLarge, "file_too_large"},
	{ErrMetadata, "file_metadata"},
	{ErrAmbiguous, "file_ambiguous"},
	{ErrInvalidSnapshot, "file_invalid_snapshot"},
	{ErrUnsupported, "file_unsupported"},
	{pathid.ErrNotDirectory, "file_not_directory"},
	{pathid.ErrMagicLink, "file_magic_link"},
	{pathid.ErrTooManyLinks, "file_link_loop"},
	{fs.ErrNotExist, "file_missing"},
	{fs.ErrPermission, "file_permission"},
}

// Code returns the word by which screens name the error, "file_error" for one that has none, and "" for nil.
func Code(err error) string {
	if err == nil {
		return ""
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	if isBadPath(err) {
		return "file_bad_path"
	}
	return "file_error"
}

// LockedError is ErrLocked with the processes that hold the lock, where the system tells.
type LockedError struct {
	Holders []int // process ids, may be empty
}

// Error implements error.
func (e *LockedError) Error() string {
	if len(e.Holders) == 0 {
		return ErrLocked.Error()
	}
	return fmt.Sprintf("%v (process %s)", ErrLocked, strings.Trim(fmt.Sprint(e.Holders), "[]"))
}

// Unwrap makes the error an ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

func refuse(op, path string, err error) error {
	//nolint:errorlint // only the outermost: a sentinel around a path error must stay
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err // one path is enough; the inner one may name a temporary file
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// badPath are the refusals of pathid that say something about the path as it was written.
var badPath = []error{
	pathid.ErrRemote, pathid.ErrDevice, pathid.ErrNUL, pathid.ErrTooLong, pathid.ErrEmpty, pathid.ErrRelative, pathid.ErrParent,
	pathid.ErrAmbiguous,
}

func isBadPath(err error) bool {
	return slices.ContainsFunc(badPath, func(bad error) bool { return errors.Is(err, bad) })
}

// because keeps the system's own error beside the sentinel.
func because(sentinel, cause error) error {
	if cause == nil || errors.Is(cause, sentinel) {
		return sentinel
	}
	return fmt.Errorf("%w: %w", sentinel, cause)
}
