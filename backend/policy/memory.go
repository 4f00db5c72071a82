package policy

import (
	"io/fs"
	"sort"
	"strings"

	"countersign/backend/pathid"
)

// MemoryFS is a described filesystem: what a case says exists, and nothing else. It judges Windows paths on Linux and
// makes a case independent of the machine it runs on. It implements pathid.FS and must not be changed while it is used.
type MemoryFS struct {
	platform pathid.Platform
	nodes    map[string]memoryNode // by match key
}

type memoryNode struct {
	path    string
	mode    fs.FileMode
	content string
	target  string // of a link
	id      uint64
}

// NewMemoryFS returns an empty filesystem with the rules of the platform. Its root exists.
func NewMemoryFS(p pathid.Platform) *MemoryFS {
	return &MemoryFS{platform: p, nodes: map[string]memoryNode{}}
}

// Dir adds a directory and its parents.
func (m *MemoryFS) Dir(path string) { m.put(path, memoryNode{mode: fs.ModeDir | 0o755}) }

// File adds a regular file and its parents.
func (m *MemoryFS) File(path, content string) { m.put(path, memoryNode{mode: 0o644, content: content}) }

// Link adds a symbolic link and the parents of its name.
func (m *MemoryFS) Link(path, target string) {
	m.put(path, memoryNode{mode: fs.ModeSymlink | 0o777, target: target})
}

func (m *MemoryFS) put(path string, node memoryNode) {
	for dir := pathid.Dir(m.platform, path); dir != path; {
		key := matchKey(m.platform, dir)
		if _, ok := m.nodes[key]; !ok {
			m.nodes[key] = memoryNode{path: dir, mode: fs.ModeDir | 0o755, id: uint64(len(m.nodes) + 1)}
		}
		next := pathid.Dir(m.platform, dir)
		if next == dir {
			break
		}
		dir = next
	}
	node.path = path
	key := matchKey(m.platform, path)
	node.id = uint64(len(m.nodes) + 1)
	if old, ok := m.nodes[key]; ok {
		node.id = old.id
	}
	m.nodes[key] = node
}

func (m *MemoryFS) find(op, name string) (memoryNode, error) {
	if node, ok := m.nodes[matchKey(m.platform, name)]; ok {
		return node, nil
	}
	if pathid.Dir(m.platform, name) == name {
		return memoryNode{path: name, mode: fs.ModeDir | 0o755, id: 1 << 32}, nil
	}
	return memoryNode{}, missing(op, name)
}

// Lstat implements pathid.FS.
func (m *MemoryFS) Lstat(name string) (pathid.Info, error) {
	node, err := m.find("lstat", name)
	if err != nil {
		return pathid.Info{}, err
	}
	return pathid.Info{
		Mode: node.mode, Size: int64(len(node.content)), Links: 1, Identity: pathid.Identity{Device: 1, Inode: node.id},
	}, nil
}

// Readlink implements pathid.FS.
func (m *MemoryFS) Readlink(name string) (string, error) {
	node, err := m.find("readlink", name)
	if err == nil && node.mode&fs.ModeSymlink == 0 {
		err = &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return node.target, err
}

// ReadFile implements pathid.FS.
func (m *MemoryFS) ReadFile(name string, limit int64) ([]byte, error) {
	node, err := m.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case !node.mode.IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: pathid.ErrNotRegular}
	case int64(len(node.content)) > limit:
		return nil, &fs.PathError{Op: "open", Path: name, Err: pathid.ErrTooLarge}
	}
	return []byte(node.content), nil
}

// ReadDir implements pathid.FS.
func (m *MemoryFS) ReadDir(name string, limit int) ([]string, error) {
	node, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	if !node.mode.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: pathid.ErrNotDirectory}
	}
	var out []string
	want := matchKey(m.platform, name)
	for _, n := range m.nodes {
		if dir := pathid.Dir(m.platform, n.path); dir != n.path && matchKey(m.platform, dir) == want {
			out = append(out, pathid.Base(m.platform, n.path))
		}
	}
	sort.Strings(out)
	return out[:min(len(out), limit)], nil
}

// abs makes a name of a case absolute: relative names lie under base.
func (m *MemoryFS) abs(base, home, name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		name = home + rest
	}
	if path, err := pathid.Abs(m.platform, base, name); err == nil {
		return path
	}
	return base
}
