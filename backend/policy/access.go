package policy

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"countersign/backend/pathid"
)

// access is one path that a call reads or writes.
type access struct {
	text        string // as written
	write       bool
	remove      bool   // deletes or moves away
	recursive   bool   // reaches what is below
	skipHidden  bool   // and leaves out hidden names there
	redirect    bool   // a redirection of the shell, which an allow rule for the command does not cover
	lexical     string // absolute; "" when it cannot be told
	resolved    string // after every link; "" when it cannot be told
	keys        []string
	pattern     string // absolute pattern, for a word that the shell expands
	globbed     bool
	dynamic     bool // the path is not, or not wholly, known
	assumed     bool // relies on HOME or PWD
	denyOnly    bool
	exists      bool
	isDir       bool
	inside      bool   // in the roots, lexically and after links
	refused     string // why it must not be touched: remote, device, magic_link …
	odd         string // pathid.Suspicious
	oddRead     bool   // odd matters for a read too: on this platform the path may be another file
	dangerous   string // the dangerous file or directory it names
	secret      string // the secret material it names
	reach       []string
	reachMore   bool     // reach is not all
	reachKeys   []string // of reach, as match keys
	reachSecret string   // the first secret material in reach, or ""
	command     int      // or -1
}

// Limits of what is looked at on the filesystem during one examination.
const (
	maxAccesses  = 1024
	maxGlobNames = 256
	maxGlobDir   = 4096
	maxReach     = 10000
	maxEntries   = 4 * maxReach // directory entries in all: what is over them is not known
)

// looked remembers what one examination saw on the filesystem, so that a text that names one place a thousand times
// looks once. It assumes nothing about what happens later: the same place gives the same answer within one
// examination only.
type looked struct {
	entries int // directory entries so far
	git     map[string]string
	token   bool // a repository's configuration holds an address with a password
	trees   map[treeName]*tree
	globs   map[string]*globbed
}

type treeName struct {
	dir        string
	skipHidden bool
}

// tree is the files below a directory.
type tree struct {
	files, keys []string
	more        bool   // files is not all
	secret      string // the first secret material among them
}

type globbed struct {
	names    []string
	complete bool
}

// locate fills in where the path name leads from the directory base.
func (x *analysis) locate(a *access, base, name string) {
	a.odd = pathid.Suspicious(name)
	a.oddRead = x.platform.IsWindows() || a.odd == pathid.SuspiciousControl
	abs, err := pathid.Abs(x.platform, base, name)
	if err != nil {
		a.refused = refusalOf(err)
		x.compareRefused(a, base, name)
		return
	}
	if x.platform != pathid.Windows && (a.odd == pathid.SuspiciousUNC || a.odd == pathid.SuspiciousDevicePrefix) &&
		strings.HasPrefix(name, "//") {
		a.odd = pathid.Suspicious(abs) // doubled slashes are one slash here
	}
	a.lexical = abs
	a.keys = append(a.keys, matchKey(x.platform, abs))
	if bare := pathid.WithoutStreams(x.platform, abs); bare != abs {
		a.keys = append(a.keys, matchKey(x.platform, bare)) // a stream belongs to its file
	}
	roots := x.f.call.Roots
	// The directory base is resolved, so what the system opens is the path as written from there: ".." after a link
	// leaves the link's target, which Abs cannot know.
	written := name
	if !pathid.IsAbs(x.platform, name) {
		written = pathid.Join(x.platform, base, name)
	}
	resolved, err := pathid.Resolve(x.platform, x.view, written)
	if err != nil {
		a.refused = refusalOf(err)
	} else {
		a.resolved, a.exists, a.isDir = resolved.Path, resolved.Exists, resolved.Exists && resolved.Info.Mode.IsDir()
		if key := matchKey(x.platform, resolved.Path); key != a.keys[0] {
			a.keys = append(a.keys, key)
		}
		a.inside = insideAny(x.platform, roots, abs) && insideAny(x.platform, roots, resolved.Path)
	}
	for _, path := range [...]string{abs, a.resolved} {
		if path == "" {
			continue
		}
		x.judgeNames(a, roots, path)
		if path == a.resolved {
			break // both are the same
		}
	}
	if a.recursive && a.resolved != "" {
		if !a.isDir && a.exists {
			a.recursive = false
			return
		}
		t := x.tree(a.resolved, a.skipHidden)
		a.reach, a.reachMore, a.reachKeys, a.reachSecret = t.files, t.more, t.keys, t.secret
	}
}

// compareRefused fills in what a path that must not be touched is compared as, for rules that restrain and for what
// it is dangerous to write: \\?\C:\x is C:\x. The refusal stays, so no rule allows it.
func (x *analysis) compareRefused(a *access, base, name string) {
	if share, ok := pathid.Share(x.platform, name); ok {
		// As a rule writes a share (//server/share), and with a drive that does not exist, so that rules for any
		// depth match.
		a.keys = append(a.keys, matchKey(x.platform, "/"+share), matchKey(x.platform, "@:/"+share))
		x.judgeNames(a, nil, `Z:\`+strings.ReplaceAll(share, "/", `\`))
	}
	path, ok := pathid.Comparable(x.platform, base, name)
	if !ok {
		return
	}
	a.lexical = path
	a.keys = append(a.keys, matchKey(x.platform, path))
	if bare := pathid.WithoutStreams(x.platform, path); bare != path {
		a.keys = append(a.keys, matchKey(x.platform, bare))
	}
	x.judgeNames(a, x.f.call.Roots, path)
}

// judgeNames looks for dangerous and secret names in a path.
func (x *analysis) judgeNames(a *access, roots []string, path string) {
	names := plainNames(x.platform, roots, path)
	if a.dangerous == "" {
		a.dangerous = dangerousIn(names)
	}
	if a.secret == "" {
		a.secret = secretIn(x.platform, names)
	}
}

func refusalOf(err error) string {
	for _, known := range [...]struct {
		err  error
		name string
	}{
		{pathid.ErrRemote, "remote"}, {pathid.ErrDevice, "device"}, {pathid.ErrMagicLink, "magic_link"},
		{pathid.ErrTooManyLinks, "too_many_links"}, {pathid.ErrNotDirectory, "not_a_directory"},
		{pathid.ErrAmbiguous, "ambiguous"}, {pathid.ErrTooLong, "too_long"}, {fs.ErrPermission, "unreadable"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return "unresolved"
}

// matchKey is the form in which paths and path rules are compared: folded where the platform folds, with slashes.
func matchKey(p pathid.Platform, path string) string {
	key := pathid.Key(p, path)
	if p.IsWindows() {
		key = strings.ReplaceAll(key, `\`, "/")
	}
	return key
}

// absolutePattern anchors a shell pattern at a directory.
func (x *analysis) absolutePattern(base, pattern string) string {
	switch {
	case x.platform.IsWindows() && isDrive(pattern): // C:/x/* is absolute
	case !strings.HasPrefix(pattern, "/"):
		pattern = escapePattern(matchSlash(x.platform, base)) + "/" + pattern
	}
	for strings.Contains(pattern, "/./") {
		pattern = strings.ReplaceAll(pattern, "/./", "/")
	}
	return pattern
}

func matchSlash(p pathid.Platform, path string) string {
	if p.IsWindows() {
		return strings.ReplaceAll(path, `\`, "/")
	}
	return path
}

// expandGlob lists what a shell pattern matches now. complete is false when there may be more.
func (x *analysis) expandGlob(pattern string) (names []string, complete bool) {
	if g := x.looked.globs[pattern]; g != nil {
		return g.names, g.complete
	}
	if x.looked.globs == nil {
		x.looked.globs = map[string]*globbed{}
	}
	names, complete = x.listGlob(pattern)
	x.looked.globs[pattern] = &globbed{names, complete}
	return names, complete
}

func (x *analysis) listGlob(pattern string) (names []string, complete bool) {
	parts := strings.Split(strings.Trim(pattern, "/"), "/")
	current := []string{"/"}
	if x.platform.IsWindows() {
		current, parts = []string{strings.ToUpper(parts[0]) + `\`}, parts[1:]
	}
	for i, part := range parts {
		var next []string
		if part == ".." || strings.Contains(part, "**") {
			return names, false
		}
		plain := !strings.ContainsAny(strings.NewReplacer(`\*`, "", `\?`, "", `\[`, "").Replace(part), "*?[")
		for _, dir := range current {
			if plain {
				next = append(next, pathid.Join(x.platform, dir, unescapePattern(part)))
				continue
			}
			entries, err := x.view.ReadDir(dir, maxGlobDir)
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				return names, false
			}
			if x.looked.entries += len(entries); len(entries) >= maxGlobDir || x.looked.entries > maxEntries {
				return names, false
			}
			for _, entry := range entries {
				if strings.HasPrefix(entry, ".") && !strings.HasPrefix(part, ".") && !strings.HasPrefix(part, "[") {
					continue
				}
				if ok, err := doublestar.Match(matchKey(x.platform, part), matchKey(x.platform, entry)); err == nil && ok {
					next = append(next, pathid.Join(x.platform, dir, entry))
				}
				if len(next) > maxGlobNames {
					return names, false
				}
			}
		}
		current = next
		if i == len(parts)-1 {
			for _, path := range current {
				if _, err := x.view.Lstat(path); err == nil {
					names = append(names, path)
				}
			}
		}
	}
	return names, true
}

func unescapePattern(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// tree returns what below lists, once for each directory.
func (x *analysis) tree(dir string, skipHidden bool) *tree {
	name := treeName{dir, skipHidden}
	if t := x.looked.trees[name]; t != nil {
		return t
	}
	t := &tree{}
	t.files, t.more = x.below(dir, skipHidden)
	t.keys = make([]string, len(t.files))
	for i, path := range t.files {
		t.keys[i] = matchKey(x.platform, path)
		if t.secret == "" {
			t.secret = secretPath(x.platform, x.f.call.Roots, path)
		}
	}
	if x.looked.trees == nil {
		x.looked.trees = map[treeName]*tree{}
	}
	x.looked.trees[name] = t
	return t
}

// below lists the files under dir, nearest first, up to maxReach. Links are not followed.
func (x *analysis) below(dir string, skipHidden bool) (files []string, more bool) {
	queue := []string{dir}
	seen := 0
	for len(queue) > 0 {
		here := queue[0]
		queue = queue[1:]
		entries, err := x.view.ReadDir(here, maxReach+1)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return files, true
		}
		for _, entry := range entries {
			if skipHidden && strings.HasPrefix(entry, ".") {
				continue
			}
			seen++
			if x.looked.entries++; seen > maxReach || x.looked.entries > maxEntries {
				return files, true
			}
			path := pathid.Join(x.platform, here, entry)
			info, err := x.view.Lstat(path)
			switch {
			case err != nil:
				return files, true
			case info.Mode.IsDir():
				queue = append(queue, path)
			default:
				files = append(files, path)
			}
		}
	}
	return files, false
}
