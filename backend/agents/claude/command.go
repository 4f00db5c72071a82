package claude

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Name is what this adapter is called on the wire and on command lines.
const Name = "claude"

// HookCommand is the command line that Claude runs for each of our events.
type HookCommand struct {
	Binary string `json:"binary"` // absolute path of the command line program
	Home   string `json:"home"`   // --home
	// NoStart forbids the hook to start a core.
	NoStart bool   `json:"no_start,omitempty"`
	Core    string `json:"core"` // --core: fingerprint of the core it may talk to
}

// String writes the command line for the POSIX shell that Claude hands it to.
func (c HookCommand) String() string {
	line := quote(c.Binary) + " hook " + Name + " --home " + quote(c.Home) + " --agent " + Name + " --core " + quote(c.Core)
	if c.NoStart {
		line += " --no-start"
	}
	return line
}

// Check reports why the command cannot be put into settings.
func (c HookCommand) Check() error {
	switch {
	case !filepath.IsAbs(c.Binary):
		return fmt.Errorf("the program's path %q is not absolute", c.Binary)
	case !filepath.IsAbs(c.Home):
		return fmt.Errorf("the home directory %q is not absolute", c.Home)
	case c.Core == "":
		return errors.New("no core is named: its fingerprint is what a hook recognises it by")
	case !printable(c.Binary) || !printable(c.Home) || !printable(c.Core):
		return errors.New("a path with control characters cannot stand in a settings file")
	}
	return nil
}

// ParseHookCommand recognises a command line of ours, whatever version of us wrote it: "… hook claude …" of a program
// named countersign.
func ParseHookCommand(line string) (HookCommand, bool) {
	w, ok := words(line)
	if !ok || len(w) < 3 || w[1] != "hook" || w[2] != Name {
		return HookCommand{}, false
	}
	base := w[0][strings.LastIndexAny(w[0], `/\`)+1:]
	if !strings.HasPrefix(base, "countersign") {
		// Installed under another name: our arguments tell.
		if !strings.Contains(line, " --agent "+Name) || !strings.Contains(line, " --core ") {
			return HookCommand{}, false
		}
	}
	c := HookCommand{Binary: w[0]}
	for i := 3; i < len(w); i++ {
		if w[i] == "--no-start" {
			c.NoStart = true
			continue
		}
		if i+1 == len(w) {
			break
		}
		switch w[i] {
		case "--home":
			c.Home = w[i+1]
		case "--core":
			c.Core = w[i+1]
		default:
			continue
		}
		i++
	}
	return c, true
}
