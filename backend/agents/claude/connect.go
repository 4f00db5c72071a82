package claude

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/agents/settings"
)

// ConnectOptions says what is to be connected.
type ConnectOptions struct {
	Settings string      // Claude's settings file (SettingsPath)
	State    string      // our state directory, where the journal is kept
	Command  HookCommand // what Claude is to run
	Mode     Mode        // "": ModeStrict
	DryRun   bool        // say what would change, and change nothing
	Now      time.Time
}

// Change is what Connect or Disconnect did, or would do.
type Change struct {
	File    string   `json:"file"`             // as asked for
	Target  string   `json:"target"`           // the file that is edited
	Linked  bool     `json:"linked,omitempty"` // File is reached through a link
	Changed bool     `json:"changed"`
	Removed bool     `json:"removed,omitempty"` // the file was ours alone and is deleted
	Exact   bool     `json:"exact,omitempty"`   // Disconnect: the bytes are those from before Connect
	Backup  string   `json:"backup,omitempty"`
	Diff    string   `json:"diff,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Import is what Claude's own rules say, for our rules: Claude no longer sees a command's original text.
	Import Imported `json:"import"`
}

// Connect puts our hooks into the settings file, once: what is there already in the same words stays, entries of another
// installation of ours are replaced. The order is journal, then file: after a crash between the two, the journal tells
// of a change that did not happen, and the next Connect or Disconnect sees by the digests that it did not.
func Connect(o ConnectOptions) (Change, error) {
	if o.Mode == "" {
		o.Mode = ModeStrict
	}
	if o.Mode != ModeStrict && o.Mode != ModeQuiet {
		return Change{}, fmt.Errorf("connect: mode %q is neither %q nor %q", o.Mode, ModeStrict, ModeQuiet)
	}
	f, journal, err := load(o.Settings, o.State)
	if err != nil {
		return Change{}, err
	}
	entry, known := journal.Find(Name, f.Target)
	original, err := withoutOurs(f, entry, known)
	if err != nil {
		return Change{}, located(f, err)
	}
	edited, err := AddHooks(original, Wanted{Command: o.Command, Mode: o.Mode})
	if err != nil {
		return Change{}, located(f, err)
	}
	change := describe(f, edited.Data)
	change.Notes = append(change.Notes, notes(edited)...)
	if change.Import, err = ImportRules(original); err != nil {
		return Change{}, located(f, err)
	}
	next := settings.Entry{
		Agent: Name, Path: f.Path, Target: f.Target, After: settings.Digest(edited.Data), Changes: edited.Changes,
		Added: edited.Added, At: o.Now,
	}
	if f.Exists && !(known && entry.Before == "" && len(bytes.TrimSpace(original)) == 0) {
		next.Before = settings.Digest(original)
	}
	if o.DryRun || !change.Changed && known && entry.After == next.After && entry.Before == next.Before {
		return change, nil
	}
	if err := f.Writable(); err != nil {
		return Change{}, err
	}
	if change.Changed {
		if change.Backup, err = f.Backup(); err != nil {
			return Change{}, fmt.Errorf("keep a backup: %w", err)
		}
	}
	if err := journal.With(next).Write(o.State); err != nil {
		return Change{}, fmt.Errorf("write the journal: %w", err)
	}
	if !change.Changed {
		return change, nil
	}
	if err := f.Replace(edited.Data); err != nil {
		return Change{}, errors.Join(err, journal.Write(o.State))
	}
	return change, nil
}

// Disconnect takes our hooks out of the settings file again. When nothing else changed since Connect the file is what
// it was, byte for byte; otherwise only what is ours goes, and the difference says so.
func Disconnect(o ConnectOptions) (Change, error) {
	f, journal, err := load(o.Settings, o.State)
	if err != nil {
		return Change{}, err
	}
	entry, known := journal.Find(Name, f.Target)
	data, err := withoutOurs(f, entry, known)
	if err != nil {
		return Change{}, located(f, err)
	}
	change := describe(f, data)
	change.Exact = known && (change.Changed && settings.Digest(f.Data) == entry.After || settings.Digest(data) == entry.Before)
	if !change.Changed {
		change.Notes = append(change.Notes, "Nothing of ours stands in this file.")
	} else if !change.Exact {
		change.Notes = append(change.Notes, "The file was changed since it was connected, so only our own entries were taken out.")
		if !known {
			change.Notes = append(change.Notes, "No journal tells which permissions.ask rules are ours, so they were left.")
		}
	}
	change.Removed = f.Exists && known && entry.Before == "" && nothingIn(data)
	if o.DryRun {
		return change, nil
	}
	switch {
	case change.Removed:
		err = f.Remove()
	case change.Changed:
		err = f.Replace(data)
	}
	if err != nil {
		return Change{}, err
	}
	if known {
		if err := journal.Without(Name, f.Target).Write(o.State); err != nil {
			return Change{}, fmt.Errorf("the file is disconnected, but the journal could not be written: %w", err)
		}
	}
	return change, nil
}

func load(path, state string) (settings.File, settings.Journal, error) {
	f, err := settings.Load(path)
	if err != nil {
		return settings.File{}, settings.Journal{}, err
	}
	journal, err := settings.ReadJournal(state)
	return f, journal, err
}

// withoutOurs is the file's text without anything of ours: the very bytes from before, when nothing changed since.
func withoutOurs(f settings.File, entry settings.Entry, known bool) ([]byte, error) {
	if known {
		if original, err := entry.Undo(f.Data); err == nil {
			return original, nil
		}
	}
	removed, err := RemoveHooks(f.Data, entry.Added)
	if err != nil {
		return nil, err
	}
	return removed.Data, nil
}

// nothingIn reports whether text holds no setting at all.
func nothingIn(data []byte) bool {
	doc, err := jsonedit.Parse(data, jsonedit.Options{Comments: true})
	return err == nil && !doc.Comments && (doc.Root == nil || doc.Root.Kind == jsonedit.Object && len(doc.Root.Members) == 0)
}

func describe(f settings.File, next []byte) Change {
	c := Change{File: f.Path, Target: f.Target, Linked: f.Linked, Changed: !bytes.Equal(f.Data, next), Diff: settings.Diff(f.Data, next)}
	if f.Linked {
		c.Notes = append(c.Notes, "The settings are reached through a link; the file it leads to is edited: "+f.Target)
	}
	return c
}

func notes(e Edited) []string {
	if !e.Comments {
		return nil
	}
	return []string{"The file holds comments. They were kept, but Claude Code does not load a settings file with comments, so nothing is gated until they are removed."}
}

// located adds the file to an error about its text.
func located(f settings.File, err error) error {
	var syntax *jsonedit.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s: %w; nothing was written", f.Target, err)
	}
	return err
}
