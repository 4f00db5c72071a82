package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"countersign/backend/capability"
	"countersign/backend/policy"
)

// Constraints are what an administrator locks. They only tighten; the zero value locks nothing.
type Constraints struct {
	// Modes are the permission modes that may be chosen; empty is all. ModeAsk always may.
	Modes []policy.Mode `json:"modes,omitempty"`
	// ManagedAllowOnly lets only the allow rules of the managed file count.
	ManagedAllowOnly bool `json:"managed_allow_only,omitempty"`
	// SandboxRequired refuses every command that would not run inside the boundary.
	SandboxRequired bool `json:"sandbox_required,omitempty"`
	// NoSavedRules lets an answer allow one call only: no allow rule can be saved.
	NoSavedRules bool `json:"no_saved_rules,omitempty"`
}

// Mode returns the mode itself where it may be chosen, otherwise ModeAsk.
func (c Constraints) Mode(m policy.Mode) policy.Mode {
	if len(c.Modes) == 0 || slices.Contains(c.Modes, m) {
		return m
	}
	return policy.ModeAsk
}

// managedFile is the administrator's file as it was read.
type managedFile struct {
	stamp       string
	set         policy.RuleSet
	constraints Constraints
	ignored     []Ignored
}

// managedContent is the file's form. It is strict: a key that means nothing may be a restriction that was misspelled.
type managedContent struct {
	Deny        []string `toml:"deny"`
	Ask         []string `toml:"ask"`
	Allow       []string `toml:"allow"`
	Constraints struct {
		Modes            []string `toml:"modes"`
		ManagedAllowOnly bool     `toml:"managed_allow_only"`
		SandboxRequired  bool     `toml:"sandbox_required"`
		NoSavedRules     bool     `toml:"no_saved_rules"`
	} `toml:"constraints"`
}

// errNotManaged says that somebody else than the administrator could have written the managed file.
var errNotManaged = errors.New("it could have been written by somebody else than the administrator, so only its restrictions count, and everything asks until it is mended")

// readManaged reads the administrator's file. One that others can write keeps its restrictions and loses its allow rules;
// it, and one that cannot be read, makes everything ask.
func readManaged(path string) managedFile {
	unreadable := func(err error) policy.UnreadableSource {
		return policy.UnreadableSource{Source: policy.SourceManaged, Where: path, Err: err.Error()}
	}
	data, foreign, err := openManaged(path)
	if errors.Is(err, fs.ErrNotExist) {
		return managedFile{}
	}
	if err != nil {
		return managedFile{stamp: "unreadable: " + err.Error(), set: policy.RuleSet{Unreadable: []policy.UnreadableSource{unreadable(err)}}}
	}
	out := managedFile{stamp: fmt.Sprintf("%s %v", capability.DigestBytes(data), foreign)}
	var content managedContent
	decoder := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := decoder.Decode(&content); err != nil {
		out.set.Unreadable = append(out.set.Unreadable, unreadable(err))
		return out
	}
	out.set = FromFile(policy.SourceManaged, path, content.Deny, content.Ask, content.Allow)
	c := content.Constraints
	out.constraints = Constraints{ManagedAllowOnly: c.ManagedAllowOnly, SandboxRequired: c.SandboxRequired, NoSavedRules: c.NoSavedRules}
	for _, text := range c.Modes {
		mode, err := policy.ParseMode(text)
		if err != nil {
			out.set.Unreadable = append(out.set.Unreadable, unreadable(fmt.Errorf("constraints.modes: %w", err)))
			continue
		}
		out.constraints.Modes = append(out.constraints.Modes, mode)
	}
	if len(c.Modes) > 0 && len(out.constraints.Modes) == 0 {
		out.constraints.Modes = []policy.Mode{policy.ModeAsk}
	}
	if foreign != nil {
		out.set.Unreadable = append(out.set.Unreadable, unreadable(fmt.Errorf("%w (%w)", errNotManaged, foreign)))
		out.set.Rules = slices.DeleteFunc(out.set.Rules, func(r policy.SourcedRule) bool {
			if r.List != policy.ListAllow {
				return false
			}
			out.ignored = append(out.ignored, Ignored{Source: policy.SourceManaged, Where: path, Text: r.Rule.String(), Why: WhyNotManaged})
			return true
		})
	}
	return out
}

// openManaged reads the file through one descriptor. foreign says why others than the administrator could have written it.
func openManaged(path string) (data []byte, foreign, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("it is not a regular file")
	}
	if data, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, nil, err
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return data, foreignFile(f, path), nil
}

// Constraints returns what the administrator locks now.
func (b *Book) Constraints() Constraints { return readManaged(b.o.Managed).constraints }
