package desk

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"

	"countersign/backend/approval"
	"countersign/backend/policy"
	"countersign/backend/tools"
	"countersign/backend/winlock"
	"countersign/backend/wire"
)

// Limits of what is worked out about a call's changes.
const (
	maxChangeBytes = 1 << 20 // of one side of a file that is compared line by line
	maxDiffLines   = 4000    // of one file, with what is around the changes
	// maxChangesBytes is what all files together may take in the reply, escaped.
	maxChangesBytes = wire.MaxMessage / 2
	// maxEdits is how many edits of one call are followed.
	maxEdits = 256
)

// problemUnknownChange is the problem of a call that says in a form of its own what it will change.
const problemUnknownChange = "change_unknown"

// changes works out what a question's call would change, from the files as they are now. Only the files that the call itself
// names are looked at. Of a call that the agent executes itself this is what the call says, and nothing more is known.
func (d *Desk) changes(_ context.Context, _ *exchange, in wire.GetChanges) (wire.Changes, error) {
	out := wire.Changes{Files: []wire.FileChange{}}
	q, err := d.calls.Question(in.Question)
	if err != nil || q.Call == "" {
		return out, err
	}
	c, err := d.calls.Get(q.Call)
	if err != nil || !policy.IsWriteTool(c.Tool) {
		return out, err
	}
	var card Card
	if err := json.Unmarshal(q.Detail, &card); err != nil {
		return out, d.bug(err)
	}
	var pre preconditions
	if err := json.Unmarshal(c.Preconditions, &pre); err != nil {
		return out, d.bug(err)
	}
	size := 0
	for _, target := range card.Targets {
		change := wire.FileChange{Path: target, Kind: wire.ChangeFailed, Before: -1, After: -1, Problem: problemUnknownChange}
		if len(card.Targets) == 1 {
			change = d.changeOf(c, target, snapshotOf(pre, target))
		}
		if size+encoded(change) > maxChangesBytes && change.Hunks != nil {
			change.Kind, change.Hunks = wire.ChangeLarge, nil
		}
		if size += encoded(change); size > maxChangesBytes {
			return wire.Changes{}, &wire.Error{Code: "too_large", Args: map[string]string{"limit": itoa(maxChangesBytes) + " bytes"}}
		}
		out.Files = append(out.Files, change)
	}
	return out, nil
}

// encoded is what a change takes in a message.
func encoded(change wire.FileChange) int {
	data, err := json.Marshal(change)
	if err != nil {
		return maxChangesBytes
	}
	return len(data) + 1
}

// snapshotOf is the state of the file that is part of what is approved, nil where the agent writes it by itself.
func snapshotOf(pre preconditions, path string) *winlock.Snapshot {
	for i := range pre.Files {
		if pre.Files[i].Path == path {
			return &pre.Files[i]
		}
	}
	return nil
}

// changeOf works out the change of the only file of a call.
func (d *Desk) changeOf(c approval.Call, target string, approved *winlock.Snapshot) wire.FileChange {
	out := wire.FileChange{Path: target, Kind: wire.ChangeEdit, Before: -1, After: -1}
	failed := func(code string) wire.FileChange {
		out.Kind, out.Problem = wire.ChangeFailed, code
		return out
	}
	asked := target
	if approved != nil {
		asked = approved.Asked
	}
	before, now, err := winlock.ReadChecked(asked, winlock.ReadOptions{Roots: rootsFor(target, c.Roots), Limit: maxChangeBytes})
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
		out.Stale = approved != nil && !approved.Missing
	case errors.Is(err, winlock.ErrTooLarge):
		return d.largeChange(c, out, approved)
	case err != nil:
		out.Stale = approved != nil
		return failed(tools.Code(err))
	case now.Path != target:
		out.Stale = true
		return failed(tools.Code(tools.ErrOtherFile))
	default:
		out.Before = now.Size
		out.Stale = approved != nil && (approved.Missing || approved.Digest != now.Digest)
	}
	after, err := planned(c, before, missing)
	if err != nil {
		return failed(tools.Code(err))
	}
	out.After = int64(len(after))
	if missing {
		out.Kind = wire.ChangeCreate
	}
	switch {
	case len(after) > maxChangeBytes:
		out.Kind = wire.ChangeLarge
	case !isText(before) || !isText(after):
		out.Kind = wire.ChangeBinary
	default:
		out.Hunks, out.Added, out.Removed = hunks(before, after)
		if lines(out.Hunks) > maxDiffLines {
			out.Kind, out.Hunks = wire.ChangeLarge, nil
		}
	}
	return out
}

// largeChange tells the sizes of a file that is too large to be read for a card.
func (d *Desk) largeChange(c approval.Call, out wire.FileChange, approved *winlock.Snapshot) wire.FileChange {
	out.Kind = wire.ChangeLarge
	if info, err := d.fsys.Lstat(out.Path); err == nil {
		out.Before = info.Size
		out.Stale = approved != nil && (!info.Identity.Same(approved.Identity) || info.Size != approved.Size || !info.ModTime.Equal(approved.ModTime))
	}
	if c.Tool == policy.ToolWrite {
		if after, err := tools.WritePlan(c.Args); err == nil {
			out.After = int64(len(after))
		}
	}
	return out
}

// planned is the content that the call would leave.
func planned(c approval.Call, before []byte, missing bool) ([]byte, error) {
	switch {
	case c.Tool == policy.ToolWrite:
		return tools.WritePlan(c.Args)
	case c.Tool != policy.ToolEdit:
		return nil, &tools.ArgumentError{Problem: "the change is in a form that is not known"}
	case missing:
		return nil, fs.ErrNotExist
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &args); err != nil || args["edits"] == nil {
		after, _, err := tools.EditPlan(c.Args, before)
		return after, err
	}
	return editedInTurn(args, before)
}

// editedInTurn applies the list of edits of one file, each to what the one before it left, as agents do.
func editedInTurn(args map[string]json.RawMessage, content []byte) ([]byte, error) {
	var edits []map[string]json.RawMessage
	if err := json.Unmarshal(args["edits"], &edits); err != nil || len(edits) == 0 || len(edits) > maxEdits {
		return nil, &tools.ArgumentError{Argument: "edits", Problem: "is not a list of edits"}
	}
	shared := maps.Clone(args)
	delete(shared, "edits")
	for _, edit := range edits {
		one := maps.Clone(shared)
		maps.Copy(one, edit)
		raw, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		if content, _, err = tools.EditPlan(raw, content); err != nil {
			return nil, err
		}
		if len(content) > maxChangeBytes {
			return nil, tools.ErrTooLarge
		}
	}
	return content, nil
}
