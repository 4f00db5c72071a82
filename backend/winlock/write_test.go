//go:build linux || darwin || windows

package winlock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// field is a scratch directory with a root and a place outside it.
type field struct {
	t             *testing.T
	root, outside string
}

func newField(t *testing.T) *field {
	t.Helper()
	dir, err := properDir(t.TempDir())
	must(t, err)
	f := &field{t: t, root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "outside")}
	must(t, os.MkdirAll(filepath.Join(f.root, "dir"), 0o755))
	must(t, os.MkdirAll(filepath.Join(f.outside, "dir"), 0o755))
	return f
}

func properDir(dir string) (string, error) {
	r, err := resolve(dir)
	return r.Path, err
}

func (f *field) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *field) write(name, content string) string {
	f.t.Helper()
	path := f.path(name)
	must(f.t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (f *field) take(name string) Snapshot {
	f.t.Helper()
	s, err := Take(f.path(name), []string{f.root})
	must(f.t, err)
	return s
}

func (f *field) options() Options { return Options{Roots: []string{f.root}, Wait: -1} }

func (f *field) content(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(f.path(name))
	must(f.t, err)
	return string(data)
}

// tree lists everything below root and outside with its content, to see that nothing changed and nothing was left.
func (f *field) tree() map[string]string {
	f.t.Helper()
	out := map[string]string{}
	for _, top := range []string{f.root, f.outside} {
		must(f.t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			text := d.Type().String()
			switch {
			case d.Type().IsRegular():
				data, err := os.ReadFile(path)
				if err != nil {
					text += " unreadable"
				}
				text += " " + DigestOf(data)
			case d.Type()&fs.ModeSymlink != 0:
				target, _ := os.Readlink(path)
				text += " " + target
			}
			out[path] = text
			return nil
		}))
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriteKeepsBytes(t *testing.T) {
	tests := []struct{ name, old, new string }{
		{"text", "old\n", "new\n"},
		{"same content", "same", "same"},
		{"to nothing", "old", ""},
		{"from nothing", "", "new"},
		{"nothing to nothing", "", ""},
		{"NUL bytes", "a\x00b", "\x00\x00"},
		{"CRLF", "a\r\nb\r\n", "c\r\nd\r\n"},
		{"BOM", "\ufeffa", "\ufeffb"},
		{"invalid UTF-8", "\xff\xfe", "\xc3("},
		{"longer than a buffer", strings.Repeat("a", 300_000), strings.Repeat("b", 700_001)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newField(t)
			f.write("dir/a", tt.old)
			want := f.take("dir/a")
			if want.Digest != DigestOf([]byte(tt.old)) || want.Size != int64(len(tt.old)) || want.Missing {
				t.Fatalf("snapshot %+v", want)
			}
			got, err := WriteChecked(context.Background(), want, []byte(tt.new), f.options())
			must(t, err)
			if f.content("dir/a") != tt.new {
				t.Error("another content")
			}
			now := f.take("dir/a")
			expect := Published{Path: want.Path, OldDigest: want.Digest, NewDigest: DigestOf([]byte(tt.new)),
				Before: want.Identity, After: now.Identity, How: got.How}
			if diff := cmp.Diff(expect, got); diff != "" {
				t.Error(diff)
			}
			if now.Identity.Same(want.Identity) {
				t.Error("the file was changed in place")
			}
			f.onlyFiles("dir/a")
		})
	}
}

// onlyFiles fails when anything but the named files is there: temporary files above all.
func (f *field) onlyFiles(names ...string) {
	f.t.Helper()
	want := map[string]bool{}
	for _, name := range names {
		want[f.path(name)] = true
	}
	for path, text := range f.tree() {
		if strings.HasPrefix(text, "d") {
			continue
		}
		if !want[path] {
			f.t.Errorf("%s was left", path)
		}
	}
}

func TestWriteNewFile(t *testing.T) {
	for _, name := range []string{"new", "dir/new", "dir/a/b/new", "x/y z/новый"} {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			want := f.take(name)
			if !want.Missing || want.Digest != "" {
				t.Fatalf("snapshot %+v", want)
			}
			got, err := WriteChecked(context.Background(), want, []byte("hello"), f.options())
			must(t, err)
			now := f.take(name)
			expect := Published{Path: want.Path, NewDigest: DigestOf([]byte("hello")), After: now.Identity, How: got.How}
			if diff := cmp.Diff(expect, got); diff != "" {
				t.Error(diff)
			}
			if got.How != HowLink && got.How != HowRename {
				t.Errorf("how %q", got.How)
			}
			if f.content(name) != "hello" {
				t.Error("another content")
			}
			f.onlyFiles(name)
			// The same approval is good for one write only.
			before := f.tree()
			if _, err := WriteChecked(context.Background(), want, []byte("again"), f.options()); !errors.Is(err, ErrAppeared) {
				t.Errorf("second write: %v", err)
			}
			if diff := cmp.Diff(before, f.tree()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// change is something another program does between approval and write.
type change struct {
	name   string
	target string // of the approval
	do     func(f *field)
	err    error
}

var changes = []change{
	{"content", "dir/a", func(f *field) { f.write("dir/a", "different") }, ErrChanged},
	{"content of the same size", "dir/a", func(f *field) { f.write("dir/a", "OLD") }, ErrChanged},
	{"truncated", "dir/a", func(f *field) { f.write("dir/a", "") }, ErrChanged},
	{"deleted", "dir/a", func(f *field) { must(f.t, os.Remove(f.path("dir/a"))) }, ErrDeleted},
	{"same content, other file", "dir/a", func(f *field) {
		f.write("dir/b", "old")
		must(f.t, os.Rename(f.path("dir/b"), f.path("dir/a")))
	}, ErrReplaced},
	{"a directory", "dir/a", func(f *field) {
		must(f.t, os.Remove(f.path("dir/a")))
		must(f.t, os.Mkdir(f.path("dir/a"), 0o755))
	}, ErrNotRegular},
	{"second name", "dir/a", func(f *field) { must(f.t, os.Link(f.path("dir/a"), f.path("dir/b"))) }, ErrSeveralLinks},
	{"appeared", "dir/new", func(f *field) { f.write("dir/new", "theirs") }, ErrAppeared},
	{"directory appeared", "dir/new", func(f *field) { must(f.t, os.Mkdir(f.path("dir/new"), 0o755)) }, ErrAppeared},
	{"other directory", "dir/a", func(f *field) {
		must(f.t, os.Rename(f.path("dir"), f.path("moved")))
		must(f.t, os.Mkdir(f.path("dir"), 0o755))
		must(f.t, os.Link(f.path("moved/a"), f.path("dir/a")))
		must(f.t, os.Remove(f.path("moved/a")))
	}, ErrParentChanged},
	{"directory gone", "dir/a", func(f *field) { must(f.t, os.RemoveAll(f.path("dir"))) }, ErrParentChanged},
	{"directory of a new file gone", "dir/new", func(f *field) { must(f.t, os.RemoveAll(f.path("dir"))) }, ErrParentChanged},
	{"root replaced", "dir/a", func(f *field) {
		must(f.t, os.Rename(f.root, f.root+"-old"))
		must(f.t, os.MkdirAll(f.path("dir"), 0o755))
		f.write("dir/a", "old")
	}, ErrParentChanged},
}

func TestWriteNoticesChanges(t *testing.T) {
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) { checkNoticed(t, tt) })
	}
}

func checkNoticed(t *testing.T, c change) {
	f := newField(t)
	f.write("dir/a", "old")
	want := f.take(c.target)
	c.do(f)
	before := f.tree()
	_, err := WriteChecked(context.Background(), want, []byte("new"), f.options())
	if !errors.Is(err, c.err) {
		t.Errorf("error %v, want %v", err, c.err)
	}
	var pe *fs.PathError
	if !errors.As(err, &pe) || pe.Path != want.Path || pe.Op != "write" {
		t.Errorf("error %#v names no path", err)
	}
	if Code(err) == "file_error" {
		t.Errorf("no code for %v", err)
	}
	if diff := cmp.Diff(before, f.tree()); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
}

func TestWriteStaysInsideTheRoots(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "old")
	must(t, os.WriteFile(filepath.Join(f.outside, "dir", "a"), []byte("old"), 0o644))
	want := f.take("dir/a")
	before := f.tree()
	for name, roots := range map[string][]string{
		"none": nil, "elsewhere": {f.outside}, "beside": {f.root + "-other"}, "deeper": {f.path("dir/sub")}, "relative": {"root"},
		"the file itself": {f.path("dir/a")},
	} {
		if _, err := Take(f.path("dir/a"), roots); !errors.Is(err, ErrOutsideRoots) {
			t.Errorf("Take with roots %s: %v", name, err)
		}
		if _, _, err := ReadChecked(f.path("dir/a"), ReadOptions{Roots: roots}); !errors.Is(err, ErrOutsideRoots) {
			t.Errorf("ReadChecked with roots %s: %v", name, err)
		}
		if _, err := WriteChecked(context.Background(), want, nil, Options{Roots: roots}); !errors.Is(err, ErrOutsideRoots) {
			t.Errorf("WriteChecked with roots %s: %v", name, err)
		}
	}
	if s, err := Take(f.path("dir/a"), []string{f.root, f.path("dir"), f.outside}); err != nil || s.Root.Path != f.path("dir") {
		t.Errorf("innermost root: %+v, %v", s.Root, err)
	}
	if _, err := Take(filepath.Join(f.root, "..", "outside", "dir", "a"), []string{f.root}); !errors.Is(err, ErrOutsideRoots) {
		t.Errorf("through a parent: %v", err)
	}
	if diff := cmp.Diff(before, f.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteIsCancelled(t *testing.T) {
	for _, at := range []step{"", stepOpened, stepVerified, stepStaged} {
		for _, name := range []string{"dir/a", "x/new"} {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				f := newField(t)
				f.write("dir/a", "old")
				want := f.take(name)
				before := f.tree()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				o := f.options()
				o.step = func(s step) {
					if s == at {
						cancel()
					}
				}
				if at == "" {
					cancel()
				}
				if _, err := WriteChecked(ctx, want, []byte("new"), o); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				if diff := cmp.Diff(before, f.tree()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
