//go:build linux || darwin

package pathid

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// resolved returns a temporary directory by its real name: on macOS it lies behind a link.
func resolved(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOS(t *testing.T) {
	dir := resolved(t)
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("hello"), 0o640))
	must(t, os.Symlink("file", filepath.Join(dir, "link")))
	must(t, os.Link(file, filepath.Join(dir, "hard")))
	must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))

	info, err := OS().Lstat(file)
	must(t, err)
	if info.Size != 5 || info.Links != 2 || info.Mode != 0o640 || info.Identity == (Identity{}) {
		t.Errorf("Lstat = %+v", info)
	}
	other, err := OS().Lstat(filepath.Join(dir, "hard"))
	must(t, err)
	if !other.Identity.Same(info.Identity) {
		t.Error("two names of one file have two identities")
	}
	if link, err := OS().Lstat(filepath.Join(dir, "link")); err != nil || !isLink(link) {
		t.Errorf("Lstat of a link = %+v, %v", link, err)
	}
	if target, err := OS().Readlink(filepath.Join(dir, "link")); err != nil || target != "file" {
		t.Errorf("Readlink = %q, %v", target, err)
	}
	data, err := OS().ReadFile(file, 5)
	must(t, err)
	if diff := cmp.Diff("hello", string(data)); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		name  string
		limit int64
		err   error
	}{
		{file, 4, ErrTooLarge},
		{dir, 10, ErrNotRegular},
		{filepath.Join(dir, "fifo"), 10, ErrNotRegular},
		{filepath.Join(dir, "link"), 10, unix.ELOOP},
		{filepath.Join(dir, "none"), 10, fs.ErrNotExist},
		{"file", 10, ErrRelative},
		{"/a\x00", 10, ErrNUL},
	} {
		if _, err := OS().ReadFile(tt.name, tt.limit); !errors.Is(err, tt.err) {
			t.Errorf("ReadFile(%q) = %v, want %v", tt.name, err, tt.err)
		}
	}
	names, err := OS().ReadDir(dir, 100)
	must(t, err)
	slices.Sort(names)
	if diff := cmp.Diff([]string{"fifo", "file", "hard", "link"}, names); diff != "" {
		t.Error(diff)
	}
	if names, err := OS().ReadDir(dir, 2); err != nil || len(names) != 2 {
		t.Errorf("ReadDir with a limit = %v, %v", names, err)
	}
	if names, err := OS().ReadDir(dir, 0); err != nil || names != nil {
		t.Errorf("ReadDir with no limit = %v, %v", names, err)
	}
	must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	if names, err := OS().ReadDir(filepath.Join(dir, "empty"), 2); err != nil || len(names) != 0 {
		t.Errorf("ReadDir of an empty directory = %v, %v", names, err)
	}
	for _, bad := range []string{"x", "", "/none/at/all"} {
		_, errDir := OS().ReadDir(bad, 1)
		_, errLink := OS().Readlink(bad)
		_, errStat := OS().Lstat(bad)
		if errDir == nil || errLink == nil || errStat == nil {
			t.Errorf("%q: %v, %v, %v", bad, errDir, errLink, errStat)
		}
	}
}

// ReadFile is bounded even where a file says it has no size.
func TestOSReadFileBoundsProcessFiles(t *testing.T) {
	const name = "/proc/cpuinfo"
	if _, err := os.Stat(name); err != nil {
		t.Skip("no procfs here")
	}
	if _, err := OS().ReadFile(name, 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestOSWorkspace(t *testing.T) {
	dir := resolved(t)
	must(t, os.MkdirAll(filepath.Join(dir, "p", "c"), 0o755))
	w, err := OpenWorkspace(Host(), OS(), filepath.Join(dir, "p"), filepath.Join(dir, "p", "c"))
	must(t, err)
	must(t, w.Verify(OS()))
	must(t, os.Rename(filepath.Join(dir, "p"), filepath.Join(dir, "old")))
	must(t, os.MkdirAll(filepath.Join(dir, "p", "c"), 0o755))
	if err := w.Verify(OS()); !errors.Is(err, ErrReplaced) {
		t.Errorf("Verify = %v", err)
	}
}

// Resolve agrees with the system's own resolution.
func TestResolveAgreesWithTheSystem(t *testing.T) {
	dir := resolved(t)
	must(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "a", "b", "f"), nil, 0o600))
	must(t, os.Symlink("a/b", filepath.Join(dir, "l")))
	must(t, os.Symlink("../../l/f", filepath.Join(dir, "a", "b", "m")))
	must(t, os.Symlink(filepath.Join(dir, "l"), filepath.Join(dir, "a", "n")))
	for _, name := range []string{"l/f", "l/../b/f", "a/b/m", "a/n/m", "a/n/../b", "l/../../l/m"} {
		want, err := filepath.EvalSymlinks(dir + "/" + name)
		must(t, err)
		got, err := Resolve(Host(), OS(), dir+"/"+name)
		if err != nil || got.Path != want || !got.Exists {
			t.Errorf("Resolve(%q) = %+v, %v; want %q", name, got, err, want)
		}
	}
	if Host() == Linux {
		for _, name := range []string{"/proc/self/cwd", "/dev/stdin", "/proc/1/root"} {
			if _, err := os.Lstat(name); err != nil {
				continue
			}
			if got, err := Resolve(Linux, OS(), name); !errors.Is(err, ErrMagicLink) {
				t.Errorf("Resolve(%q) = %+v, %v", name, got, err)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
