package tools

import (
	"context"
	"io/fs"

	"countersign/backend/winlock"
)

// WriteArgs are the arguments of write.
type WriteArgs struct {
	Path    string
	Content string
}

// ParseWrite reads {path or file_path, content}. The content may be empty, but it must be given.
func ParseWrite(raw []byte) (WriteArgs, error) {
	a, err := parseArguments(raw)
	if err != nil {
		return WriteArgs{}, err
	}
	var out WriteArgs
	if out.Path, err = a.path(); err != nil {
		return WriteArgs{}, err
	}
	if out.Content, err = a.text("content"); err != nil {
		return WriteArgs{}, err
	}
	if err := a.finish(); err != nil {
		return WriteArgs{}, err
	}
	return out, nil
}

// WritePlan returns the content that write would leave: exactly the bytes of the argument.
func WritePlan(raw []byte) ([]byte, error) {
	args, err := ParseWrite(raw)
	if err != nil {
		return nil, err
	}
	return args.Plan()
}

// Plan is WritePlan for arguments that were read already.
func (a WriteArgs) Plan() ([]byte, error) {
	if len(a.Content) > MaxResult {
		return nil, ErrTooLarge
	}
	return []byte(a.Content), nil
}

// WriteTool performs an admitted write: it replaces exactly the file of the snapshot, or creates it where the snapshot
// says that nothing stood there, or changes nothing.
func WriteTool(ctx context.Context, raw []byte, cwd string, admitted winlock.Snapshot, o winlock.Options) (WriteResult, error) {
	args, err := ParseWrite(raw)
	if err != nil {
		return WriteResult{}, err
	}
	if err := sameFile(args.Path, cwd, admitted); err != nil {
		return WriteResult{}, err
	}
	content, err := args.Plan()
	if err != nil {
		return WriteResult{}, err
	}
	done, err := winlock.WriteChecked(ctx, admitted, content, o)
	if err != nil {
		return WriteResult{}, err
	}
	return WriteResult{Published: done}, nil
}

func fileError(s winlock.Snapshot, err error) error {
	return &fs.PathError{Op: "edit", Path: s.Path, Err: err}
}
