package pathid

import (
	"errors"
	"io/fs"
	"strings"
	"time"
)

// memory is a described filesystem: a path that ends in a slash is a directory, one with a target is a link. It can
// describe a Windows tree on Linux.
type memory struct {
	p       Platform
	entries map[string]entry
	fail    map[string]error
}

type entry struct {
	mode   fs.FileMode
	target string
	inode  uint64
}

func newMemory(p Platform, lines ...string) *memory {
	m := &memory{p: p, entries: map[string]entry{}, fail: map[string]error{}}
	m.entries[m.key(rootOf(p))] = entry{mode: fs.ModeDir, inode: 1}
	for i, line := range lines {
		name, target, link := strings.Cut(line, " -> ")
		e := entry{inode: uint64(i + 2), target: target}
		switch {
		case link:
			e.mode = fs.ModeSymlink
		case strings.HasSuffix(name, "/") || strings.HasSuffix(name, `\`):
			e.mode = fs.ModeDir
		}
		m.entries[m.key(strings.TrimRight(name, `/\`))] = e
	}
	return m
}

func rootOf(p Platform) string {
	if p.IsWindows() {
		return `C:\`
	}
	return "/"
}

func (m *memory) key(name string) string {
	if name == "" {
		name = "/"
	}
	if m.p.FoldsCase() {
		return strings.ToLower(name)
	}
	return name
}

func (m *memory) Lstat(name string) (Info, error) {
	if err := m.fail[name]; err != nil {
		return Info{}, err
	}
	e, ok := m.entries[m.key(name)]
	if !ok {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	info := Info{Mode: e.mode, Links: 1, ModTime: time.Unix(1, 0)}
	if e.inode != 0 {
		info.Identity = Identity{Device: 7, Inode: e.inode}
	}
	return info, nil
}

func (m *memory) Readlink(name string) (string, error) {
	if err := m.fail["readlink "+name]; err != nil {
		return "", err
	}
	e, ok := m.entries[m.key(name)]
	if !ok || e.mode&fs.ModeSymlink == 0 {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return e.target, nil
}

func (m *memory) ReadFile(string, int64) ([]byte, error) { return nil, errors.ErrUnsupported }
func (m *memory) ReadDir(string, int) ([]string, error)  { return nil, errors.ErrUnsupported }
