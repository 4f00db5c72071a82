package tools

import (
	"bytes"
	"context"
	"strings"

	"countersign/backend/winlock"
)

// MaxResult is the largest file, in bytes, that edit and write make: 64 MiB, what read can read again.
const MaxResult = winlock.DefaultReadLimit

// EditArgs are the arguments of edit.
type EditArgs struct {
	Path       string
	Old, New   string
	ReplaceAll bool
}

// ParseEdit reads {path or file_path, old_string, new_string, replace_all}.
func ParseEdit(raw []byte) (EditArgs, error) {
	a, err := parseArguments(raw)
	if err != nil {
		return EditArgs{}, err
	}
	var out EditArgs
	if out.Path, err = a.path(); err != nil {
		return EditArgs{}, err
	}
	if out.Old, err = a.text("old_string"); err != nil {
		return EditArgs{}, err
	}
	if out.New, err = a.text("new_string"); err != nil {
		return EditArgs{}, err
	}
	if out.ReplaceAll, err = a.flag("replace_all"); err != nil {
		return EditArgs{}, err
	}
	if err := a.finish(); err != nil {
		return EditArgs{}, err
	}
	switch {
	case out.Old == "":
		// Some agents mean "create the file" by it; write says that.
		return EditArgs{}, &ArgumentError{"old_string", "is empty"}
	case out.Old == out.New:
		return EditArgs{}, ErrNoChange
	}
	return out, nil
}

// EditPlan returns the content after the edit and how many places it replaced. Without replace_all old_string must fit
// in exactly one place, counting places that overlap; otherwise the error is a *MatchError.
//
// The file's own bytes are kept. Where every line of the file ends in "\r\n" and a string of the arguments knows only
// "\n", its line ends are read as the file's; the other way round only if old_string does not occur as written.
func EditPlan(raw, current []byte) (next []byte, matches int, err error) {
	args, err := ParseEdit(raw)
	if err != nil {
		return nil, 0, err
	}
	return args.Plan(current)
}

// Plan is EditPlan for arguments that were read already.
func (a EditArgs) Plan(current []byte) (next []byte, matches int, err error) {
	before, after := a.adapted(current)
	if len(before) == 0 {
		return nil, 0, &ArgumentError{"old_string", "is empty"}
	}
	if bytes.Equal(before, after) {
		return nil, 0, ErrNoChange
	}
	matches = bytes.Count(current, before)
	if !a.ReplaceAll {
		if matches == 1 && overlaps(current, before) {
			matches = 2
		}
		if matches != 1 {
			return nil, matches, &MatchError{matches}
		}
	}
	if matches == 0 {
		return nil, 0, &MatchError{0}
	}
	if grown := len(after) - len(before); grown > 0 && matches > (MaxResult-min(len(current), MaxResult))/grown {
		return nil, matches, ErrTooLarge
	}
	return bytes.ReplaceAll(current, before, after), matches, nil
}

// overlaps reports whether old fits in a second place that overlaps the first.
func overlaps(current, old []byte) bool {
	first := bytes.Index(current, old)
	return first >= 0 && bytes.Contains(current[first+1:], old)
}

// adapted returns both strings with the line ends of the file.
func (a EditArgs) adapted(current []byte) (before, after []byte) {
	before, after = []byte(a.Old), []byte(a.New)
	ends := bytes.Count(current, []byte("\n"))
	windows := bytes.Count(current, []byte("\r\n"))
	switch {
	case ends == 0:
	case windows == ends:
		before, after = []byte(toCRLF(a.Old)), []byte(toCRLF(a.New))
	case windows == 0 && !bytes.Contains(current, before):
		before, after = []byte(strings.ReplaceAll(a.Old, "\r\n", "\n")), []byte(strings.ReplaceAll(a.New, "\r\n", "\n"))
	}
	return before, after
}

// toCRLF changes line ends only in a text that knows no carriage return: one that has any is meant as written.
func toCRLF(text string) string {
	if strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(text, "\n", "\r\n")
}

// WriteResult is what edit and write give back.
type WriteResult struct {
	Published winlock.Published
	Matches   int // places that edit replaced
}

// EditTool performs an admitted edit on exactly the file and content of the snapshot, or changes nothing.
func EditTool(ctx context.Context, raw []byte, cwd string, admitted winlock.Snapshot, o winlock.Options) (WriteResult, error) {
	args, err := ParseEdit(raw)
	if err != nil {
		return WriteResult{}, err
	}
	if err := sameFile(args.Path, cwd, admitted); err != nil {
		return WriteResult{}, err
	}
	current, now, err := winlock.ReadChecked(admitted.Asked, winlock.ReadOptions{Roots: o.Roots, Limit: MaxResult})
	if err != nil {
		return WriteResult{}, err
	}
	if now.Path != admitted.Path {
		return WriteResult{}, ErrOtherFile
	}
	if now.Digest != admitted.Digest {
		return WriteResult{}, fileError(admitted, winlock.ErrChanged)
	}
	next, matches, err := args.Plan(current)
	if err != nil {
		return WriteResult{}, err
	}
	done, err := winlock.WriteChecked(ctx, admitted, next, o)
	if err != nil {
		return WriteResult{}, err
	}
	return WriteResult{Published: done, Matches: matches}, nil
}
