package tools

import (
	"bytes"

	"countersign/backend/winlock"
)

// ReadArgs are the arguments of read.
type ReadArgs struct {
	Path   string
	Offset int // first line, from 1; 0 when not given
	Limit  int // number of lines; 0 when not given: all
}

// ParseRead reads {path or file_path, offset, limit}.
func ParseRead(raw []byte) (ReadArgs, error) {
	a, err := parseArguments(raw)
	if err != nil {
		return ReadArgs{}, err
	}
	var out ReadArgs
	if out.Path, err = a.path(); err != nil {
		return ReadArgs{}, err
	}
	if out.Offset, _, err = a.count("offset"); err != nil {
		return ReadArgs{}, err
	}
	if out.Limit, _, err = a.count("limit"); err != nil {
		return ReadArgs{}, err
	}
	if err := a.finish(); err != nil {
		return ReadArgs{}, err
	}
	return out, nil
}

// ReadResult is what read gives back. The bytes are the file's own.
type ReadResult struct {
	Content   []byte // the lines asked for, with their line endings
	FirstLine int    // number of the first line in Content, from 1; 0 when there is none
	Lines     int    // lines in Content
	Total     int    // lines in the file
	Snapshot  winlock.Snapshot
}

// Select returns the lines that the arguments ask for. Lines end at "\n"; a last line without one counts.
func (a ReadArgs) Select(content []byte) ReadResult {
	first := max(a.Offset, 1)
	var out ReadResult
	start, end := len(content), len(content)
	for pos := 0; pos < len(content); {
		next := len(content)
		if i := bytes.IndexByte(content[pos:], '\n'); i >= 0 {
			next = pos + i + 1
		}
		out.Total++
		if out.Total >= first && (a.Limit == 0 || out.Lines < a.Limit) {
			if out.Lines == 0 {
				start, out.FirstLine = pos, out.Total
			}
			out.Lines++
			end = next
		}
		pos = next
	}
	out.Content = content[start:end]
	return out
}

// ReadTool performs an admitted read: the arguments must name the file of the snapshot, relative to cwd, and what is
// read is the file that path leads to, if it is still the same place. Its content may have changed since.
func ReadTool(raw []byte, cwd string, admitted winlock.Snapshot, o winlock.ReadOptions) (ReadResult, error) {
	args, err := ParseRead(raw)
	if err != nil {
		return ReadResult{}, err
	}
	if err := sameFile(args.Path, cwd, admitted); err != nil {
		return ReadResult{}, err
	}
	content, now, err := winlock.ReadChecked(admitted.Asked, o)
	if err != nil {
		return ReadResult{}, err
	}
	if now.Path != admitted.Path {
		return ReadResult{}, ErrOtherFile
	}
	out := args.Select(content)
	out.Snapshot = now
	return out, nil
}

// sameFile refuses a path that does not mean the path of the snapshot.
func sameFile(path, cwd string, admitted winlock.Snapshot) error {
	asked, err := winlock.Locate(cwd, path)
	if err != nil {
		return err
	}
	if asked != admitted.Asked {
		return ErrOtherFile
	}
	return nil
}
