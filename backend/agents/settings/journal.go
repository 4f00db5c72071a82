package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"countersign/backend/agents/jsonedit"
)

// JournalName is the journal's file in our state directory.
const JournalName = "connect.json"

const journalVersion = 1

// ErrJournal means that the journal cannot be read: nothing is guessed from it and it is not overwritten.
var ErrJournal = errors.New("the journal of connected agents cannot be read; move it away to start a new one")

// Journal says what we changed in which settings file.
type Journal struct {
	Version int     `json:"version"`
	Entries []Entry `json:"entries"`
}

// Entry is one connected settings file.
type Entry struct {
	Agent   string    `json:"agent"`
	Path    string    `json:"path"`    // as asked for
	Target  string    `json:"target"`  // the file that was edited
	Before  string    `json:"before"`  // digest of the file before, "" when there was none
	After   string    `json:"after"`   // digest of the file after
	Changes []Change  `json:"changes"` // in the order they were made
	At      time.Time `json:"at"`
	// Added is what the adapter added, in its own words, to be found again when something else changed since.
	Added Added `json:"added"`
}

// Change is one splice, relative to the text as the changes before it left it.
type Change = jsonedit.Splice

// Added is what an adapter put into a settings file.
type Added struct {
	Containers []string `json:"containers,omitempty"` // objects and arrays that were made for it, as dotted paths
	Ask        []string `json:"ask,omitempty"`        // native ask rules
	Command    string   `json:"command"`              // the hook's command line
	Mode       string   `json:"mode,omitempty"`
}

// ReadJournal reads the journal in a state directory; a missing one is empty.
func ReadJournal(dir string) (Journal, error) {
	path := filepath.Join(dir, JournalName)
	data, _, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Journal{Version: journalVersion}, nil
	}
	if err != nil {
		return Journal{}, err
	}
	var j Journal
	if err := json.Unmarshal(data, &j); err != nil {
		return Journal{}, &fs.PathError{Op: "read journal", Path: path, Err: fmt.Errorf("%w: %w", ErrJournal, err)}
	}
	if j.Version != journalVersion {
		return Journal{}, &fs.PathError{Op: "read journal", Path: path, Err: fmt.Errorf("%w: version %d", ErrJournal, j.Version)}
	}
	return j, nil
}

// Find returns the entry of a settings file.
func (j Journal) Find(agent, target string) (Entry, bool) {
	for _, e := range j.Entries {
		if e.Agent == agent && e.Target == target {
			return e, true
		}
	}
	return Entry{}, false
}

// With returns the journal with an entry put in or replaced.
func (j Journal) With(e Entry) Journal {
	out := j.Without(e.Agent, e.Target)
	out.Entries = append(out.Entries, e)
	return out
}

// Without returns the journal without the entry of a settings file.
func (j Journal) Without(agent, target string) Journal {
	out := Journal{Version: journalVersion}
	for _, e := range j.Entries {
		if e.Agent != agent || e.Target != target {
			out.Entries = append(out.Entries, e)
		}
	}
	return out
}

// Write stores the journal, durably, readable by the owner only: it holds text of settings files.
func (j Journal) Write(dir string) error {
	j.Version = journalVersion
	data, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, JournalName)
	temp, err := writeTemp(path, append(data, '\n'), 0o600)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return syncDir(dir)
}

// Undo takes the changes of the entry back. It fails unless data is exactly what the change left and the result is
// exactly what it began with.
func (e Entry) Undo(data []byte) ([]byte, error) {
	if Digest(data) != e.After {
		return nil, ErrChanged
	}
	for i := len(e.Changes) - 1; i >= 0; i-- {
		var err error
		if data, err = e.Changes[i].Undo().Apply(data); err != nil {
			return nil, err
		}
	}
	if e.Before != "" && Digest(data) != e.Before {
		return nil, ErrChanged
	}
	return data, nil
}
