package pathid

import (
	"errors"
	"io/fs"
	"testing"
)

func TestOpenRoot(t *testing.T) {
	tree := newMemory(Linux, "/w/", "/w/p/", "/w/link -> p", "/w/file", "/w/p/.git/", "/w/p/a/", "/w/p/a/b/", "/w/sub/", "/w/sub/.git")
	tree.entries["/w/unknown"] = entry{mode: fs.ModeDir}
	tests := []struct {
		name, in, want string
		err            error
	}{
		{"directory", "/w/p", "/w/p", nil},
		{"link", "/w/link", "/w/p", nil},
		{"file", "/w/file", "", ErrNotDirectory},
		{"missing", "/w/no", "", ErrNotDirectory},
		{"relative", "w", "", ErrRelative},
		{"no identity", "/w/unknown", "", ErrNoIdentity},
		{"error", "/w/file/x", "", ErrNotDirectory},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := OpenRoot(tree, tt.in)
			if !errors.Is(err, tt.err) || got.Path != tt.want {
				t.Fatalf("got %+v, %v", got, err)
			}
			if err == nil && got.Verify(tree) != nil {
				t.Errorf("Verify: %v", got.Verify(tree))
			}
		})
	}
}

func TestVerifyNoticesReplacement(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *memory)
	}{
		{"another directory", func(m *memory) { m.entries["/w/p"] = entry{mode: fs.ModeDir, inode: 99} }},
		{"a link", func(m *memory) { m.entries["/w/p"] = entry{mode: fs.ModeSymlink, target: "/w/q"} }},
		{"a link to the same place's twin", func(m *memory) {
			m.entries["/w/q"] = m.entries["/w/p"]
			m.entries["/w/p"] = entry{mode: fs.ModeSymlink, target: "/w/q"}
		}},
		{"a file", func(m *memory) { m.entries["/w/p"] = entry{inode: 3} }},
		{"nothing", func(m *memory) { delete(m.entries, "/w/p") }},
		{"a parent that is a link", func(m *memory) { m.entries["/w"] = entry{mode: fs.ModeSymlink, target: "/v"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := newMemory(Linux, "/w/", "/w/p/", "/w/q/", "/w/p/c/")
			w, err := OpenWorkspace(Linux, tree, "/w/p", "/w/p/c")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Verify(tree); err != nil {
				t.Fatalf("unchanged: %v", err)
			}
			tt.change(tree)
			if err := w.Verify(tree); !errors.Is(err, ErrReplaced) {
				t.Errorf("Verify = %v", err)
			}
		})
	}
}

func TestVerifyNoticesAnotherCwd(t *testing.T) {
	tree := newMemory(Linux, "/w/", "/w/c/")
	w, err := OpenWorkspace(Linux, tree, "/w", "/w/c")
	if err != nil {
		t.Fatal(err)
	}
	tree.entries["/w/c"] = entry{mode: fs.ModeDir, inode: 77}
	if err := w.Verify(tree); !errors.Is(err, ErrReplaced) {
		t.Errorf("Verify = %v", err)
	}
}

func TestOpenWorkspace(t *testing.T) {
	tree := newMemory(Linux, "/w/", "/w/p/", "/w/p/c/", "/w/p-other/", "/w/p/out -> /w/p-other", "/w/in -> /w/p/c")
	tests := []struct {
		name, root, cwd string
		err             error
	}{
		{"inside", "/w/p", "/w/p/c", nil},
		{"the root itself", "/w/p", "/w/p", nil},
		{"link into the root", "/w/p", "/w/in", nil},
		{"prefix only", "/w/p", "/w/p-other", ErrOutside},
		{"link out of the root", "/w/p", "/w/p/out", ErrOutside},
		{"relative root", "w", "/w/p", ErrRelative},
		{"relative cwd", "/w", "p", ErrRelative},
		{"parent in root", "/w/../w", "/w", ErrParent},
		{"parent in cwd", "/w", "/w/p/..", ErrParent},
		{"missing root", "/no", "/w", ErrNotDirectory},
		{"missing cwd", "/w", "/w/no", ErrNotDirectory},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := OpenWorkspace(Linux, tree, tt.root, tt.cwd); !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
		})
	}
	windows := newMemory(Windows, `C:\w\`, `C:\w\c\`)
	if _, err := OpenWorkspace(Windows, windows, `C:\w`, `c:/W/c`); err != nil {
		t.Errorf("windows: %v", err)
	}
	if _, err := OpenWorkspace(Windows, windows, `C:\w`, `C:\w\c\..\c`); !errors.Is(err, ErrParent) {
		t.Errorf("windows parent: %v", err)
	}
}

func TestRepositoryRoot(t *testing.T) {
	tree := newMemory(Linux, "/w/", "/w/.git/", "/w/a/", "/w/a/b/", "/w/sub/", "/w/sub/.git", "/w/sub/x/", "/w/l/", "/w/l/.git -> ../.git", "/o/")
	windows := newMemory(Windows, `C:\w\`, `C:\w\.git\`, `C:\w\a\`)
	tests := []struct {
		fs       FS
		in, want string
		ok       bool
	}{
		{tree, "/w", "/w", true},
		{tree, "/w/a/b", "/w", true},
		{tree, "/w/sub/x", "/w/sub", true},
		{tree, "/w/l", "/w/l", true},
		{tree, "/o", "", false},
		{tree, "w", "", false},
		{windows, `C:\w\a`, `C:\w`, true},
		{windows, `C:\`, "", false},
	}
	for _, tt := range tests {
		if got, ok := RepositoryRoot(tt.fs, tt.in); got != tt.want || ok != tt.ok {
			t.Errorf("RepositoryRoot(%q) = %q, %v", tt.in, got, ok)
		}
	}
}

func TestIdentitySame(t *testing.T) {
	a := Identity{Device: 1, Inode: 2}
	if !a.Same(a) || a.Same(Identity{Device: 1, Inode: 3}) || (Identity{}).Same(Identity{}) {
		t.Error("Same is wrong")
	}
}
