package desk

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/winlock"
	"countersign/backend/wire"
)

// Limits of what is looked at to bind a command to the workspace files it runs.
const (
	maxRunFiles     = 64
	maxRunWords     = 512 // words of the text that are looked at
	maxRunBases     = 8   // directories that words are looked up in
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
	Digest string `json:"digest"` // see fileDigest
}

// binding is the digest of everything that was approved and is about to run.
func binding(c approval.Call) string {
	return capability.Digest(struct {
		ID, Session, Principal, Tool, AgentTool, Cwd string
		CwdIdentity                                  pathid.Identity
		Args, Preconditions                          any
		Roots                                        []string
		Environment                                  map[string]string
		Here                                         bool
		Boundary                                     policy.Boundary
		Script                                       string
		Capability                                   *capability.Snapshot
	}{c.ID, c.Session, c.Principal.ID, c.Tool, c.AgentTool, c.Cwd, c.CwdIdentity, c.Args, c.Preconditions, c.Roots, c.Environment, c.Here, c.Boundary, c.Script, c.Capability})
}

// manifests are the files that runners read from the working directory to learn what to execute.
var manifests = []string{
	"Makefile", "makefile", "GNUmakefile", "package.json", "justfile", "Justfile", "Taskfile.yml", "Taskfile.yaml", "Rakefile",
	"build.rs", "Cargo.toml", "tox.ini", "conftest.py", "pyproject.toml", "setup.py", "build.gradle", "pom.xml", "CMakeLists.txt",
}

// scripts are the extensions of files that are executed as text.
var scripts = map[string]bool{
	".sh": true, ".bash": true, ".zsh": true, ".py": true, ".js": true, ".mjs": true, ".cjs": true, ".ts": true, ".rb": true,
	".pl": true, ".php": true, ".lua": true, ".awk": true, ".sed": true, ".mk": true, ".ps1": true, ".bat": true, ".cmd": true,
}

// interpreters are programs whose operands are executed, whatever they are called.
var interpreters = map[string]bool{
	"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "python": true, "python3": true, "node": true, "deno": true, "bun": true,
	"ruby": true, "perl": true, "php": true, "lua": true, "awk": true, "gawk": true, "sed": true, "source": true, ".": true, "make": true,
	"gmake": true, "just": true, "task": true, "rake": true, "npm": true, "npx": true, "pnpm": true, "yarn": true, "xargs": true, "env": true,
	"pytest": true, "go": true, "cargo": true, "tox": true, "gradle": true, "mvn": true, "cmake": true,
}

// runFiles names the files of the workspace that a command may run, to be compared when it runs. It looks generously: every
// word of the text, also inside quotes and after operators, against the working directory and every directory that the
// text names. A word is bound when it is executable, a script by its extension, or anything at all beside an interpreter;
// runners bring their manifests. What is not found here is only not bound: the boundary does not depend on it.
func runFiles(p pathid.Platform, fsys pathid.FS, facts *policy.Facts, cwd string, roots []string) []runFile {
	if !policy.IsCommandTool(facts.Tool()) {
		return nil
	}
	words := strings.FieldsFunc(facts.Command(), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`;|&()<>{}"'=,`+"`", r)
	})
	words = words[:min(len(words), maxRunWords)]
	interpreted := false
	bases := []string{cwd}
	for _, word := range words {
		interpreted = interpreted || interpreters[filepath.Base(word)]
		abs, err := pathid.Abs(p, cwd, word)
		if err != nil || len(bases) >= maxRunBases || !inAny(p, roots, abs) {
			continue
		}
		if r, err := pathid.Resolve(p, fsys, abs); err == nil && r.Exists && r.Info.Mode.IsDir() && r.Path != cwd {
			bases = append(bases, abs)
		}
	}
	if interpreted {
		words = append(words, manifests...)
	}
	var found []runFile
	seen := map[string]bool{}
	for _, base := range bases {
		for _, word := range words {
			abs, err := pathid.Abs(p, base, word)
			if err != nil || seen[abs] || len(found) >= maxRunFiles || !inAny(p, roots, abs) {
				continue
			}
			r, err := pathid.Resolve(p, fsys, abs)
			if err != nil || !r.Exists || !r.Info.Mode.IsRegular() {
				continue
			}
			if interpreted || r.Info.Mode&0o111 != 0 || scripts[filepath.Ext(abs)] {
				seen[abs] = true
				found = append(found, runFile{Path: abs, Digest: fileDigest(p, fsys, abs)})
			}
		}
	}
	return found
}

func inAny(p pathid.Platform, roots []string, path string) bool {
	for _, root := range roots {
		if pathid.Contains(p, root, path) {
			return true
		}
	}
	return false
}

// fileDigest says what the file that name leads to holds now: the digest of its content, or for a large one its identity,
// size and time. What cannot be told matches nothing, not even itself.
func fileDigest(p pathid.Platform, fsys pathid.FS, name string) string {
	resolved, err := pathid.Resolve(p, fsys, name)
	switch {
	case err != nil:
		return ""
	case !resolved.Exists:
		return "missing"
	}
	info := resolved.Info
	if info.Size > maxRunFileBytes {
		return fmt.Sprintf("large:%d:%d:%d:%d:%d", info.Identity.Device, info.Identity.High, info.Identity.Inode, info.Size, info.ModTime.UnixNano())
	}
	data, err := fsys.ReadFile(resolved.Path, maxRunFileBytes)
	if err != nil {
		return ""
	}
	return capability.DigestBytes(data)
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
		if now := fileDigest(d.platform, d.fsys, f.Path); now == "" || now != f.Digest {
			return mismatch(f.Path)
		}
	}
	return nil
}
