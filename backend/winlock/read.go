package winlock

import (
	"io"
	"io/fs"
	"os"

	"countersign/backend/pathid"
)

// DefaultReadLimit is the limit of ReadChecked, in bytes, where none is given: 64 MiB.
const DefaultReadLimit = 64 << 20

// ReadOptions says what may be read.
type ReadOptions struct {
	Roots []string // absolute; the path must lead into one of them
	Limit int64    // largest file in bytes; 0 means DefaultReadLimit
}

// ReadChecked reads the regular file that the absolute path leads to, through one handle that was opened without
// following any link, and describes it as a Snapshot that can be given to WriteChecked. It takes no lock: a file that
// another program changes while it is read is read again, and if it keeps changing the error is ErrChanged. A missing
// file is fs.ErrNotExist. On Windows another program's lock on the first byte is ErrLocked.
func ReadChecked(path string, o ReadOptions) ([]byte, Snapshot, error) {
	at, err := locate(path, o.Roots)
	if err == nil && at.missing {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, Snapshot{}, refuse("read", path, err)
	}
	content, s, err := at.read(o.limit())
	if err != nil {
		return nil, Snapshot{}, refuse("read", path, err)
	}
	return content, s, nil
}

func (o ReadOptions) limit() int64 {
	if o.Limit > 0 {
		return o.Limit
	}
	return DefaultReadLimit
}

func (p place) read(limit int64) ([]byte, Snapshot, error) {
	f, info, err := openRead(p)
	if err != nil {
		return nil, Snapshot{}, err
	}
	defer f.Close()
	content, err := readStable(f, &info, limit)
	if err != nil {
		return nil, Snapshot{}, err
	}
	s := p.snapshot()
	s.Digest, s.Size, s.ModTime = DigestOf(content), info.Size, info.ModTime.UTC().Round(0)
	s.Identity, s.Mode = info.Identity, info.Mode
	return content, s, nil
}

// readStable reads the whole file as it stood at one moment.
func readStable(f *os.File, info *pathid.Info, limit int64) ([]byte, error) {
	for range stableTries {
		content, err := io.ReadAll(io.NewSectionReader(f, 0, limit+1))
		if err != nil {
			return nil, readFault(err)
		}
		if int64(len(content)) > limit || info.Size > limit {
			return nil, ErrTooLarge
		}
		now, err := describe(f)
		if err != nil {
			return nil, err
		}
		if unchanged(*info, now) && int64(len(content)) == now.Size {
			return content, nil
		}
		*info = now
	}
	return nil, ErrChanged
}
