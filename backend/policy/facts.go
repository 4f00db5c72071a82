package policy

import (
	"errors"
	"io/fs"

	"countersign/backend/pathid"
)

// Facts is what an examination found about one call. It is immutable and holds everything Decide needs.
type Facts struct {
	call      Call
	agentTool string
	tool      string // canonical
	cwd       string // resolved
	paths     pathContext

	text     string // of a command tool
	script   bool   // text is one text for bash, and cwd the directory it starts in
	opaque   []string
	commands []*command
	accesses []access
	possible []possible // what programs nobody here knows may read or write
	carries  string     // what in the text is code in another form than a command, or ""
	distinct []int      // accesses without repetitions; nil is all of them

	possibleMore bool // possible is not all
	forkBomb     bool
	outside      bool // the working directory does not lie inside the roots

	targets    int    // paths that a path tool names
	noTarget   bool   // a write tool without a usable target
	patch      bool   // at least one target of a patch is empty
	strange    string // what in the arguments is not understood, so that nothing about the call is sure; ""
	hosts      []string
	badHost    bool // a URL whose host programs could disagree about
	mcp        []mcpName
	subject    string
	hasSubject bool
	reads      readTool
}

// readTool is what a reading tool asks for beside its target.
type readTool struct {
	filter string // a file name pattern that names secret material
}

// Examine looks at one call: it makes the tool canonical, parses a command, and resolves every path it finds through
// view. It never fails: what cannot be understood is recorded as such. A nil view is an empty filesystem.
func Examine(call Call, view pathid.FS) *Facts {
	if view == nil {
		view = emptyFS{}
	}
	if call.Platform == "" {
		call.Platform = pathid.Host()
	}
	f := &Facts{call: call, agentTool: call.Tool, tool: CanonicalTool(call.Tool), cwd: call.Cwd}
	f.paths = pathContext{platform: call.Platform}
	for _, root := range call.Roots {
		f.paths.roots = append(f.paths.roots, matchKey(call.Platform, root))
	}
	if call.Home != "" {
		f.paths.home = matchKey(call.Platform, call.Home)
	}
	x := &analysis{
		f: f, platform: call.Platform, view: view, vars: newVariables(), defined: map[string]bool{},
	}
	if r, err := pathid.Resolve(call.Platform, view, call.Cwd); err == nil {
		f.cwd = r.Path
	}
	f.outside = len(call.Roots) > 0 && !x.insideRoots(f.cwd)
	x.dirs = places{list: []place{{logical: call.Cwd, physical: f.cwd}}}
	x.arguments()
	return f
}

// emptyFS is a filesystem in which nothing exists.
type emptyFS struct{}

func (emptyFS) Lstat(name string) (pathid.Info, error) { return pathid.Info{}, missing("lstat", name) }
func (emptyFS) Readlink(name string) (string, error)   { return "", missing("readlink", name) }
func (emptyFS) ReadFile(name string, _ int64) ([]byte, error) {
	return nil, missing("open", name)
}
func (emptyFS) ReadDir(name string, _ int) ([]string, error) { return nil, missing("open", name) }

func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// notExist reports whether a read failed only because nothing is there.
func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Tool returns the canonical tool.
func (f *Facts) Tool() string { return f.tool }

// AgentTool returns the tool as the agent sent it.
func (f *Facts) AgentTool() string { return f.agentTool }

// Command returns the command text of a command tool, else "".
func (f *Facts) Command() string { return f.text }

// Script returns the text that bash must be given to run what was judged, in the directory Dir. It is false where there is
// no such text: for another shell or tool, for no or several commands, and where the call's words leave open in which
// directory they start.
func (f *Facts) Script() (text string, ok bool) {
	if !f.script {
		return "", false
	}
	return f.text, true
}

// Dir returns the directory that the call starts in, resolved: its payload's own where that names one.
func (f *Facts) Dir() string { return f.cwd }

// Opaque says why the command could not be understood, or "".
func (f *Facts) Opaque() string {
	if len(f.opaque) == 0 {
		return ""
	}
	return f.opaque[0]
}

// Hosts returns the hosts a fetch names, in lower case.
func (f *Facts) Hosts() []string { return append([]string(nil), f.hosts...) }

// Reads returns the paths the call is known to read, Writes those it is known to write: absolute, resolved where that
// was possible, without duplicates.
func (f *Facts) Reads() []string { return f.accessed(false) }

// Writes is documented at Reads.
func (f *Facts) Writes() []string { return f.accessed(true) }

func (f *Facts) accessed(write bool) []string {
	var out []string
	seen := map[string]bool{}
	for i := range f.accesses {
		a := &f.accesses[i]
		path := a.resolved
		if path == "" {
			path = a.lexical
		}
		if path == "" {
			path = a.text
		}
		if a.write != write || a.denyOnly || path == "" || seen[path] || a.globbed {
			continue
		}
		seen[path] = true
		out = append(out, path)
	}
	return out
}
