package winlock

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/windows"

	"countersign/backend/pathid"
)

// longForm makes CreateFile take a cleaned absolute path as it is: longer than 260 characters, without rewriting.
func longForm(path string) (*uint16, error) { return windows.UTF16PtrFromString(`\\?\` + path) }

// properPath gives the existing part of the path the names that the system reports, without 8.3 names and in the case
// they are stored in.
func properPath(path string) (string, error) {
	rest := ""
	for at := path; ; {
		final, err := finalPath(at)
		if err == nil {
			return strings.TrimSuffix(final, `\`) + `\` + rest, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == pathid.Dir(pathid.Windows, at) {
			return "", err
		}
		rest = strings.TrimSuffix(pathid.Base(pathid.Windows, at)+`\`+rest, `\`)
		at = pathid.Dir(pathid.Windows, at)
	}
}

func finalPath(path string) (string, error) {
	name, err := longForm(path)
	if err != nil {
		return "", err
	}
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, shareAll, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	return handlePath(h)
}

// handlePath returns the path under which the system knows the open file. A file on another machine has none here.
func handlePath(h windows.Handle) (string, error) {
	for size := uint32(512); size <= pathid.MaxPath*2; {
		buf := make([]uint16, size)
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], size, 0)
		if err != nil {
			return "", err
		}
		if n > size {
			size = n
			continue
		}
		path, ok := strings.CutPrefix(windows.UTF16ToString(buf[:n]), `\\?\`)
		if !ok || strings.HasPrefix(path, `UNC\`) {
			return "", pathid.ErrRemote
		}
		return path, nil
	}
	return "", pathid.ErrTooLong
}

// readFault names what only Windows does: a byte range that another program locked cannot be read.
func readFault(err error) error {
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return because(&LockedError{}, err)
	}
	return err
}
