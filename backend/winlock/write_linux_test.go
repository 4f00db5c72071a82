package winlock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// asNobody runs fn with an ordinary user's rights to files: as we are, or on a thread of its own when we are root.
func asNobody(t *testing.T, f *field, fn func()) {
	if os.Getuid() != 0 {
		fn()
		return
	}
	top := filepath.Dir(f.root)
	must(t, filepath.WalkDir(top, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	for dir := filepath.Dir(top); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	withRightsOf(t, nobody, fn)
}

const nobody = 65534

// withRightsOf runs fn on a thread whose rights to files are the user's.
func withRightsOf(t *testing.T, id int, fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := errors.Join(unix.Setfsgid(id), unix.Setfsuid(id)); err != nil {
			t.Error(err)
			return
		}
		fn()
	}()
	<-done
}

func TestReadOnly(t *testing.T) {
	tests := []struct {
		name, target string
		prepare      func(f *field)
		err          error
	}{
		{"file", "dir/a", func(f *field) { must(f.t, os.Chmod(f.path("dir/a"), 0o444)) }, ErrReadOnly},
		{"directory", "dir/a", func(f *field) { must(f.t, os.Chmod(f.path("dir"), 0o555)) }, ErrReadOnly},
		{"directory of a new file", "dir/new", func(f *field) { must(f.t, os.Chmod(f.path("dir"), 0o555)) }, ErrReadOnly},
		{"directory of a new directory", "x/new", func(f *field) { must(f.t, os.Chmod(f.root, 0o555)) }, ErrReadOnly},
		{"directory that cannot be listed", "dir/a", func(f *field) { must(f.t, os.Chmod(f.path("dir"), 0o300)) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newField(t)
			f.write("dir/a", "old")
			want := f.take(tt.target)
			tt.prepare(f)
			var before map[string]string
			if tt.err != nil {
				before = f.tree()
			}
			asNobody(t, f, func() {
				if _, err := WriteChecked(context.Background(), want, []byte("new"), f.options()); !errors.Is(err, tt.err) {
					t.Errorf("error %v, want %v", err, tt.err)
				}
			})
			must(t, errors.Join(os.Chmod(f.root, 0o755), os.Chmod(f.path("dir"), 0o755)))
			if tt.err == nil {
				return
			}
			if diff := cmp.Diff(before, f.tree()); diff != "" && os.Getuid() == 0 {
				t.Error(diff)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	f := newField(t)
	must(t, os.Chmod(f.write("dir/a", "secret"), 0))
	asNobody(t, f, func() {
		if _, _, err := ReadChecked(f.path("dir/a"), ReadOptions{Roots: []string{f.root}}); !errors.Is(err, os.ErrPermission) || Code(err) != "file_permission" {
			t.Errorf("ReadChecked: %v", err)
		}
		if _, err := Take(f.path("dir/a"), []string{f.root}); !errors.Is(err, os.ErrPermission) {
			t.Errorf("Take: %v", err)
		}
	})
}

// A file that anybody may write to but that belongs to somebody else would change its owner.
func TestOwnerThatCannotBeKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("giving a file to somebody else needs root")
	}
	f := newField(t)
	path := f.write("dir/a", "old")
	must(t, os.Chmod(path, 0o666))
	want := f.take("dir/a")
	asNobody(t, f, func() {})
	must(t, os.Chown(path, 0, 0))
	before := f.tree()
	withRightsOf(t, nobody, func() {
		if _, err := WriteChecked(context.Background(), want, []byte("new"), f.options()); !errors.Is(err, ErrMetadata) {
			t.Errorf("error %v", err)
		}
	})
	if diff := cmp.Diff(before, f.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestNoSpace(t *testing.T) {
	f := newField(t)
	if err := unix.Mount("tmpfs", f.path("dir"), "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no small filesystem can be mounted here: %v", err)
	}
	defer unix.Unmount(f.path("dir"), 0)
	f.write("dir/a", "old")
	for _, name := range []string{"dir/a", "dir/new", "dir/x/new"} {
		want := f.take(name)
		before := f.tree()
		if _, err := WriteChecked(context.Background(), want, make([]byte, 1<<20), f.options()); !errors.Is(err, ErrNoSpace) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, f.tree()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if _, err := WriteChecked(context.Background(), f.take("dir/a"), []byte("new"), f.options()); err != nil {
		t.Errorf("on another filesystem: %v", err)
	}
}

// What is done where openat2 is missing finds the same directories and follows no link either.
func TestWalkDir(t *testing.T) {
	f := newField(t)
	must(t, os.MkdirAll(f.path("dir/deep"), 0o755))
	must(t, os.Symlink("dir", f.path("link")))
	f.write("file", "")
	root, err := openRootDir(f.root)
	must(t, err)
	defer unix.Close(root)
	for rel, want := range map[string]error{
		"": nil, ".": nil, "dir": nil, "dir/deep": nil, "link": unix.ENOTDIR, "link/deep": unix.ENOTDIR, "file": unix.ENOTDIR, "none": unix.ENOENT,
	} {
		walked, err := walkDir(root, rel, unix.O_RDONLY)
		if !errors.Is(err, want) {
			t.Errorf("walkDir(%q) = %v", rel, err)
		}
		opened, errOpen := openDirBeneath(root, rel)
		if (err == nil) != (errOpen == nil) {
			t.Errorf("openDirBeneath(%q) = %v", rel, errOpen)
		}
		if err != nil || errOpen != nil {
			continue
		}
		a, errA := identityOf(walked)
		b, errB := identityOf(opened)
		if errA != nil || errB != nil || a != b {
			t.Errorf("%q: %v and %v", rel, a, b)
		}
		must(t, errors.Join(unix.Close(walked), unix.Close(opened)))
	}
	if _, err := openDirBeneath(root, "../outside"); !errors.Is(err, unix.EXDEV) {
		t.Errorf("out of the root: %v", err)
	}
}

// Filesystems without unnamed files, links or exchange get the same content by other means.
func TestFallbacks(t *testing.T) {
	open := func(f *field, name string) *anchor {
		a, err := openAnchor(f.take(name).place())
		must(t, err)
		return a
	}
	t.Run("named temporary file", func(t *testing.T) {
		f := newField(t)
		a := open(f, "dir/new")
		defer a.close()
		temp, err := a.createTemp(newFileMode)
		must(t, err)
		defer temp.discard()
		must(t, temp.fill(nil, []byte("new")))
		how, err := a.publishNew(temp)
		if err != nil || how != HowLink || f.content("dir/new") != "new" {
			t.Errorf("%q, %v", how, err)
		}
		f.onlyFiles("dir/new")
		second, err := a.createTemp(newFileMode)
		must(t, err)
		must(t, second.fill(nil, []byte("second")))
		if _, err := a.publishNew(second); !errors.Is(err, unix.EEXIST) {
			t.Errorf("over an existing file: %v", err)
		}
		if err := renameNew(a.fd(), second.name, a.name); !errors.Is(err, unix.EEXIST) {
			t.Errorf("rename over an existing file: %v", err)
		}
		second.discard()
		f.onlyFiles("dir/new")
	})
	t.Run("rename", func(t *testing.T) {
		f := newField(t)
		f.write("dir/a", "old")
		a := open(f, "dir/a")
		defer a.close()
		old, _, err := a.open(unix.O_RDWR)
		must(t, err)
		defer old.Close()
		temp, err := a.stage(old, []byte("new"))
		must(t, err)
		defer temp.discard()
		must(t, a.publishByRename(temp, Options{}))
		if f.content("dir/a") != "new" {
			t.Error("not written")
		}
		f.onlyFiles("dir/a")
	})
	t.Run("taken back although the directory closed", func(t *testing.T) {
		f := newField(t)
		f.write("dir/a", "old")
		a := open(f, "dir/a")
		defer a.close()
		temp, err := a.createTemp(0o600)
		must(t, err)
		defer temp.discard()
		must(t, os.Remove(f.path("dir/a")))
		must(t, a.takeBack(temp)) // the name is gone: nothing to take back
	})
}

func TestHoldersIn(t *testing.T) {
	const table = `1: FLOCK  ADVISORY  WRITE 123 08:01:42 0 EOF
1: -> FLOCK  ADVISORY  WRITE 124 08:01:42 0 EOF
2: POSIX  ADVISORY  READ 7 08:01:42 0 EOF
3: FLOCK  ADVISORY  WRITE 9 08:01:43 0 EOF
4: OFDLCK ADVISORY  WRITE -1 08:01:42 0 EOF
garbage
`
	if diff := cmp.Diff([]int{123, 7}, holdersIn(table, "08:01:42")); diff != "" {
		t.Error(diff)
	}
	f, err := os.Open(os.DevNull)
	must(t, err)
	must(t, f.Close())
	if got := lockHolders(f); got != nil {
		t.Errorf("holders of a closed file: %v", got)
	}
}
