package desk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/winlock"
	"countersign/backend/wire"
)

// Limits of what is looked at to bind a command to the workspace files it runs.
const (
	maxRunFiles     = 32
	maxRunFileBytes = 8 << 20
)

// preconditions is what must still hold when a call runs. It is stored with the call and never refreshed.
type preconditions struct {
	Files []winlock.Snapshot `json:"files,omitempty"`
	Runs  []runFile          `json:"runs,omitempty"`
}

// runFile is a file of the workspace that the command runs, with what it held when the call was admitted.
type runFile struct {
	Path   string `json:"path"`
	Digest string `json:"digest"` // "missing" when there was none, "unread" when it was too large or could not be read
}

// binding is the digest of everything that was approved and is about to run.
func binding(c approval.Call) string {
	return capability.Digest(struct {
		ID, Session, Principal, Tool, AgentTool, Cwd string
		CwdIdentity                                  pathid.Identity
		Args, Preconditions                          any
		Roots                                        []string
		Environment                                  map[string]string
		Boundary                                     policy.Boundary
		Capability                                   *capability.Snapshot
	}{c.ID, c.Session, c.Principal.ID, c.Tool, c.AgentTool, c.Cwd, c.CwdIdentity, c.Args, c.Preconditions, c.Roots, c.Environment, c.Boundary, c.Capability})
}

// manifests are the files that a runner reads from the working directory to learn what to execute.
var manifests = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "gmake": {"Makefile", "makefile", "GNUmakefile"},
	"npm": {"package.json"}, "npx": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"},
	"just": {"justfile", "Justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"}, "rake": {"Rakefile"},
	"cargo": {"build.rs", "Cargo.toml"}, "tox": {"tox.ini"}, "pytest": {"conftest.py"},
}

// runFiles names the files of the workspace that a command runs, as far as its words show: programs and scripts named
// by path, the first files among an interpreter's arguments, and the manifests of known runners. A file found late is
// only not bound; the boundary the command runs in does not depend on it.
func runFiles(p pathid.Platform, fsys pathid.FS, facts *policy.Facts, cwd string, roots []string) []runFile {
	var found []runFile
	seen := map[string]bool{}
	add := func(name string) {
		abs, err := pathid.Abs(p, cwd, name)
		if err != nil || seen[abs] || len(found) >= maxRunFiles {
			return
		}
		inside := false
		for _, root := range roots {
			inside = inside || pathid.Contains(p, root, abs)
		}
		if !inside {
			return
		}
		seen[abs] = true
		found = append(found, runFile{Path: abs, Digest: fileDigest(p, fsys, abs)})
	}
	for _, part := range facts.Parts() {
		for i, word := range part.Words {
			if i == 0 {
				for _, m := range manifests[filepath.Base(word)] {
					add(m)
				}
			}
			if word == "" || strings.HasPrefix(word, "-") {
				continue
			}
			if i == 0 && !strings.Contains(word, "/") {
				continue
			}
			if abs, err := pathid.Abs(p, cwd, word); err == nil {
				if info, err := fsys.Lstat(abs); err == nil && !info.Mode.IsDir() && (i <= 2 || info.Mode&0o111 != 0) {
					add(word)
				}
			}
		}
	}
	return found
}

// fileDigest digests the file that name leads to now.
func fileDigest(p pathid.Platform, fsys pathid.FS, name string) string {
	resolved, err := pathid.Resolve(p, fsys, name)
	if err != nil || !resolved.Exists {
		return "missing"
	}
	data, err := fsys.ReadFile(resolved.Path, maxRunFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	if err != nil {
		return "unread"
	}
	return capability.Digest(data)
}

// checkBinding compares what is about to run with what was approved. A difference is never repaired: the call must be
// proposed again.
func (d *Desk) checkBinding(c approval.Call, pre preconditions) error {
	mismatch := func(what string) error {
		return &wire.Error{Code: "approval_mismatch", Args: map[string]string{"call": c.ID, "what": what}}
	}
	if now := binding(c); now == "" || now != c.Digest {
		return mismatch("the stored call")
	}
	root, err := pathid.OpenRoot(d.fsys, c.Cwd)
	if err != nil || root.Path != c.Cwd || !root.Identity.Same(c.CwdIdentity) {
		return mismatch(c.Cwd)
	}
	for _, f := range pre.Runs {
		if now := fileDigest(d.platform, d.fsys, f.Path); now != f.Digest {
			return mismatch(f.Path)
		}
	}
	return nil
}
