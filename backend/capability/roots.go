package capability

import (
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/backend/pathid"
)

// rootSet is a set of directories, each standing for everything below it. It is kept minimal (no root lies in another)
// and sorted, so that equal sets are equal values. all stands for the whole filesystem.
type rootSet struct {
	all   bool
	roots []string
}

// platformOf tells whose rules compare a root: a drive means Windows, so that stored Windows capabilities can be read
// on another system.
func platformOf(path string) pathid.Platform {
	if pathid.IsAbs(pathid.Windows, path) {
		return pathid.Windows
	}
	return pathid.Host()
}

func contains(root, path string) bool {
	p := platformOf(root)
	return p == platformOf(path) && pathid.Contains(p, root, path)
}

// checkRoots refuses a path that is not absolute, clean and valid UTF-8.
func checkRoots(what string, paths []string) error {
	if len(paths) > MaxEntries {
		return invalid(what, "", "too many entries")
	}
	for _, path := range paths {
		if err := checkPath(what, path); err != nil {
			return err
		}
	}
	return nil
}

func checkPath(what, path string) error {
	if !utf8.ValidString(path) {
		return invalid(what, path, "not valid UTF-8")
	}
	p := platformOf(path)
	if !pathid.IsAbs(p, path) {
		return invalid(what, path, "not an absolute path")
	}
	clean, err := pathid.Abs(p, "", path)
	if err != nil {
		return invalid(what, path, err.Error())
	}
	if clean != path {
		return invalid(what, path, "not a clean path")
	}
	return nil
}

// minimal drops every root that lies in another and sorts. Of two spellings of one root the smaller stays.
func minimal(roots []string) []string {
	sorted := slices.Clone(roots)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	out := make([]string, 0, len(sorted))
	for i, root := range sorted {
		covered := false
		for j, other := range sorted {
			if i == j || !contains(other, root) {
				continue
			}
			if contains(root, other) && i < j {
				continue // the same directory, spelt otherwise: this one stays
			}
			covered = true
			break
		}
		if !covered {
			out = append(out, root)
		}
	}
	return out
}

func (s rootSet) meet(t rootSet) rootSet {
	switch {
	case s.all:
		return t
	case t.all:
		return s
	}
	both := make([]string, 0, len(s.roots)+len(t.roots))
	for _, root := range s.roots {
		if t.covers(root) {
			both = append(both, root)
		}
	}
	for _, root := range t.roots {
		if s.covers(root) {
			both = append(both, root)
		}
	}
	return rootSet{roots: minimal(both)}
}

func (s rootSet) join(t rootSet) rootSet {
	if s.all || t.all {
		return rootSet{all: true}
	}
	return rootSet{roots: minimal(slices.Concat(s.roots, t.roots))}
}

func (s rootSet) covers(path string) bool {
	return s.all || slices.ContainsFunc(s.roots, func(root string) bool { return contains(root, path) })
}

// firstOutside returns the first root of t that s does not cover.
func (s rootSet) firstOutside(t rootSet) (string, bool) {
	if s.all {
		return "", false
	}
	if t.all {
		return "the whole filesystem", true
	}
	for _, root := range t.roots {
		if !s.covers(root) {
			return root, true
		}
	}
	return "", false
}

// nameSet is a set of names; all stands for every name.
type nameSet struct {
	all   bool
	names []string // sorted
}

func newNameSet(names []string) nameSet {
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	return nameSet{names: slices.Compact(sorted)}
}

func (s nameSet) has(name string) bool {
	if s.all {
		return true
	}
	_, ok := slices.BinarySearch(s.names, name)
	return ok
}

func (s nameSet) meet(t nameSet) nameSet {
	switch {
	case s.all:
		return t
	case t.all:
		return s
	}
	var both []string
	for _, name := range s.names {
		if t.has(name) {
			both = append(both, name)
		}
	}
	return nameSet{names: both}
}

// checkNames refuses environment names that could not be set or would be read as name and value.
func checkNames(names []string) error {
	if len(names) > MaxEntries {
		return invalid("environment", "", "too many entries")
	}
	for _, name := range names {
		switch {
		case name == "":
			return invalid("environment", name, "empty name")
		case len(name) > MaxName:
			return invalid("environment", name[:64], "name too long")
		case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '=' || r < ' ' || r == 0x7f }):
			return invalid("environment", name, "not a name")
		}
	}
	return nil
}
