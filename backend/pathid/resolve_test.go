package pathid

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestResolve(t *testing.T) {
	tree := newMemory(Linux,
		"/w/", "/w/file", "/w/dir/", "/w/dir/deep",
		"/w/abs -> /etc/passwd", "/w/rel -> dir/deep", "/w/up -> ../etc", "/w/dirlink -> dir", "/w/dangling -> nowhere/x",
		"/w/loop -> loop", "/w/a -> b", "/w/b -> a", "/w/slash -> dir/", "/w/root -> /",
		"/etc/", "/etc/passwd", "/w/empty -> ", "/w/nul -> a\x00b", "/w/long -> "+strings.Repeat("x", MaxPath+1),
		"/dev/", "/dev/stdin -> /proc/self/fd/0",
		"/proc/", "/proc/self -> 42", "/proc/thread-self -> 42/task/42", "/proc/mounts -> self/mounts", "/proc/net -> self/net",
		"/proc/42/", "/proc/42/root -> /", "/proc/42/cwd -> /w", "/proc/42/environ", "/proc/42/fd/", "/proc/42/fd/3 -> /w/file",
		"/proc/42/task/", "/proc/42/task/43/", "/proc/42/task/43/cwd -> /w", "/proc/42/link -> /w/file", "/proc/42/task/43/x -> /w",
	)
	tests := []struct {
		name, in, want string
		exists         bool
		links          int
		err            error
	}{
		{"root", "/", "/", true, 0, nil},
		{"file", "/w/file", "/w/file", true, 0, nil},
		{"dots", "/w/./dir//deep", "/w/dir/deep", true, 0, nil},
		{"absolute link", "/w/abs", "/etc/passwd", true, 1, nil},
		{"relative link", "/w/rel", "/w/dir/deep", true, 1, nil},
		{"link in the middle", "/w/dirlink/deep", "/w/dir/deep", true, 1, nil},
		{"parent of a link's target", "/w/dirlink/../file", "/w/file", true, 1, nil},
		{"leaves through a link", "/w/up/passwd", "/etc/passwd", true, 1, nil},
		{"parent after leaving", "/w/up/../etc", "/etc", true, 1, nil},
		{"dangling", "/w/dangling", "/w/nowhere/x", false, 1, nil},
		{"below dangling", "/w/dangling/y", "/w/nowhere/x/y", false, 1, nil},
		{"missing", "/w/no/such", "/w/no/such", false, 0, nil},
		{"out of missing onto a link", "/w/no/../abs", "/etc/passwd", true, 1, nil},
		{"out of missing", "/w/no/..", "/w", true, 0, nil},
		{"above the root", "/../../w", "/w", true, 0, nil},
		{"link with a slash", "/w/slash", "/w/dir", true, 1, nil},
		{"link to the root", "/w/root", "/", true, 1, nil},
		{"through the root", "/w/root/w/rel", "/w/dir/deep", true, 2, nil},
		{"process file by number", "/proc/42/environ", "/proc/42/environ", true, 0, nil},
		{"ordinary link in procfs", "/proc/42/link", "/w/file", true, 1, nil},
		{"ordinary link of a thread", "/proc/42/task/43/x", "/w", true, 1, nil},

		{"relative", "w", "", false, 0, ErrRelative},
		{"nul", "/w\x00", "", false, 0, ErrNUL},
		{"too long", "/" + strings.Repeat("a", MaxPath), "", false, 0, ErrTooLong},
		{"loop", "/w/loop", "", false, 0, ErrTooManyLinks},
		{"two-step loop", "/w/a/x", "", false, 0, ErrTooManyLinks},
		{"file as a directory", "/w/file/x", "", false, 0, ErrNotDirectory},
		{"file and parent", "/w/file/../dir", "", false, 0, ErrNotDirectory},
		{"empty link", "/w/empty", "", false, 0, ErrEmpty},
		{"nul in a link", "/w/nul", "", false, 0, ErrNUL},
		{"long link", "/w/long", "", false, 0, ErrTooLong},
		{"self", "/proc/self/environ", "", false, 0, ErrMagicLink},
		{"self itself", "/proc/self", "", false, 0, ErrMagicLink},
		{"thread-self", "/proc/thread-self/comm", "", false, 0, ErrMagicLink},
		{"root of a process", "/proc/42/root/etc/passwd", "", false, 0, ErrMagicLink},
		{"cwd of a process", "/proc/42/cwd", "", false, 0, ErrMagicLink},
		{"descriptor", "/proc/42/fd/3", "", false, 0, ErrMagicLink},
		{"cwd of a thread", "/proc/42/task/43/cwd", "", false, 0, ErrMagicLink},
		{"through a device link", "/dev/stdin", "", false, 0, ErrMagicLink},
		{"mounts", "/proc/mounts", "", false, 0, ErrMagicLink},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Resolve(Linux, tree, tt.in)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if got.Path != tt.want || got.Exists != tt.exists || got.Links != tt.links {
				t.Errorf("got %+v, want %q exists %v links %d", got, tt.want, tt.exists, tt.links)
			}
			if got.Exists && got.Info.Identity == (Identity{}) {
				t.Errorf("%q exists without a description", got.Path)
			}
		})
	}
}

func TestResolveWindows(t *testing.T) {
	tree := newMemory(Windows, `C:\w\`, `C:\w\dir\`, `C:\w\dir\f`, `C:\w\link -> dir`, `C:\w\other -> D:\data`,
		`C:\w\unc -> \\srv\share`, `C:\w\volume -> \\?\Volume{1}\`, `D:\data\`, `C:\w\rooted -> \w\dir\f`)
	tests := []struct {
		name, in, want string
		exists         bool
		err            error
	}{
		{"plain", `C:\w\dir\f`, `C:\w\dir\f`, true, nil},
		{"forward slashes", `c:/w/dir`, `C:\w\dir`, true, nil},
		{"link", `C:\w\link\f`, `C:\w\dir\f`, true, nil},
		{"parent is lexical", `C:\w\link\..\dir\f`, `C:\w\dir\f`, true, nil},
		{"other drive", `C:\w\other\x`, `D:\data\x`, false, nil},
		{"rooted target", `C:\w\rooted`, `C:\w\dir\f`, true, nil},
		{"git bash drive", `/c/w/dir`, `C:\w\dir`, true, nil},
		{"target on another machine", `C:\w\unc\x`, "", false, ErrRemote},
		{"volume target", `C:\w\volume`, "", false, ErrDevice},
		{"unc", `\\srv\share`, "", false, ErrRemote},
		{"relative", `w`, "", false, ErrRelative},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Resolve(Windows, tree, tt.in)
			if !errors.Is(err, tt.err) || got.Path != tt.want || got.Exists != tt.exists {
				t.Errorf("got %+v, %v; want %q, %v, %v", got, err, tt.want, tt.exists, tt.err)
			}
		})
	}
}

func TestResolveReturnsTheFilesystemsErrors(t *testing.T) {
	tree := newMemory(Linux, "/w/", "/w/l -> x", "/w/d/", "/w/d/e/")
	tree.fail["/w/secret"] = fs.ErrPermission
	tree.fail["readlink /w/l"] = fs.ErrPermission
	for _, name := range []string{"/w/secret/x", "/w/l"} {
		if _, err := Resolve(Linux, tree, name); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Resolve(%q): %v", name, err)
		}
	}
	// After a "..", what is left is looked at again; by then it may be gone or closed.
	tree.fail["/w"] = nil
	gone := &vanishing{memory: tree, path: "/w/d", err: fs.ErrPermission}
	if _, err := Resolve(Linux, gone, "/w/d/e/.."); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("closed meanwhile: %v", err)
	}
	gone = &vanishing{memory: tree, path: "/w/d", err: fs.ErrNotExist}
	if r, err := Resolve(Linux, gone, "/w/d/e/.."); err != nil || r.Exists {
		t.Errorf("gone meanwhile: %+v, %v", r, err)
	}
}

// vanishing describes path once and then returns err.
type vanishing struct {
	*memory
	path string
	err  error
	seen bool
}

func (v *vanishing) Lstat(name string) (Info, error) {
	if name == v.path {
		if v.seen {
			return Info{}, v.err
		}
		v.seen = true
	}
	return v.memory.Lstat(name)
}

// A chain of MaxLinks links is followed, one more is refused, and links that multiply stay bounded.
func TestResolveBounds(t *testing.T) {
	var lines []string
	for i := range MaxLinks + 2 {
		lines = append(lines, fmt.Sprintf("/l%d -> /l%d", i, i+1))
	}
	tree := newMemory(Linux, lines...)
	if _, err := Resolve(Linux, tree, fmt.Sprintf("/l%d", 2)); err != nil {
		t.Errorf("%d links: %v", MaxLinks, err)
	}
	if _, err := Resolve(Linux, tree, "/l1"); !errors.Is(err, ErrTooManyLinks) {
		t.Errorf("%d links: %v", MaxLinks+1, err)
	}
	wide := newMemory(Linux, "/x -> "+strings.Repeat("y/", 16_000)+"x")
	if r, err := Resolve(Linux, wide, "/x"); err != nil || r.Exists || len(r.Path) < 32_000 {
		t.Errorf("long target that is missing: %d bytes, %v", len(r.Path), err)
	}
	if _, err := Resolve(Linux, wide, "/x/"+strings.Repeat("z/", 1_000)); !errors.Is(err, ErrTooLong) {
		t.Errorf("path that grows too long: %v", err)
	}
	wide = newMemory(Linux, "/x -> "+strings.Repeat("./", 16_000)+"x")
	if _, err := Resolve(Linux, wide, "/x"); !errors.Is(err, ErrTooManyLinks) {
		t.Errorf("long loop: %v", err)
	}
	deep := newMemory(Linux, "/"+strings.Repeat("a", MaxPath-2)+"/")
	if _, err := Resolve(Linux, deep, "/"+strings.Repeat("a", MaxPath-2)+"/b"); !errors.Is(err, ErrTooLong) {
		t.Errorf("too deep: %v", err)
	}
	link := newMemory(Linux, "/l -> "+strings.Repeat("a", 100), "/"+strings.Repeat("a", 100)+"/")
	if _, err := Resolve(Linux, link, "/l/"+strings.Repeat("b", MaxPath-50)); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long behind a link: %v", err)
	}
}

// What Resolve returns contains no link, and resolving it again changes nothing.
func TestResolveProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"a", "b", "c", "..", ".", "a/b", "/a", "/b/c", "../a", "c/../b"})
		var lines []string
		for _, dir := range []string{"", "/a", "/b", "/a/b"} {
			for _, name := range []string{"a", "b", "c"} {
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0:
					lines = append(lines, dir+"/"+name+"/")
				case 1:
					lines = append(lines, dir+"/"+name)
				case 2:
					lines = append(lines, dir+"/"+name+" -> "+names.Draw(t, "target"))
				}
			}
		}
		tree := newMemory(Linux, lines...)
		name := "/" + strings.Join(rapid.SliceOfN(names, 1, 4).Draw(t, "path"), "/")
		got, err := Resolve(Linux, tree, name)
		if err != nil {
			return
		}
		again, err := Resolve(Linux, tree, got.Path)
		if err != nil {
			if errors.Is(err, ErrNotDirectory) && !got.Exists {
				return
			}
			t.Fatalf("%v: %q resolves to %q, and then: %v", lines, name, got.Path, err)
		}
		if again.Path != got.Path || again.Exists != got.Exists || again.Links != 0 {
			t.Fatalf("%v: %q resolves to %+v, and then to %+v", lines, name, got, again)
		}
		if diff := cmp.Diff(got.Info, again.Info); diff != "" {
			t.Fatal(diff)
		}
	})
}
