//go:build linux || darwin

package winlock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"countersign/backend/pathid"
)

var unixChanges = []change{
	{"link to the same content", "dir/a", func(f *field) {
		must(f.t, os.Rename(f.path("dir/a"), f.path("dir/b")))
		must(f.t, os.Symlink("b", f.path("dir/a")))
	}, ErrLink},
	{"link to outside", "dir/a", func(f *field) {
		must(f.t, os.WriteFile(filepath.Join(f.outside, "a"), []byte("old"), 0o644))
		must(f.t, os.Remove(f.path("dir/a")))
		must(f.t, os.Symlink(filepath.Join(f.outside, "a"), f.path("dir/a")))
	}, ErrLink},
	{"directory is a link to outside", "dir/a", func(f *field) {
		must(f.t, os.Rename(f.path("dir"), filepath.Join(f.outside, "moved")))
		must(f.t, os.Symlink(filepath.Join(f.outside, "moved"), f.path("dir")))
	}, ErrParentChanged},
	{"directory of a new file is a link", "dir/new", func(f *field) {
		must(f.t, os.Rename(f.path("dir"), f.path("moved")))
		must(f.t, os.Symlink(filepath.Join(f.outside, "dir"), f.path("dir")))
	}, ErrParentChanged},
	{"missing directory became a link", "x/y/new", func(f *field) {
		must(f.t, os.Symlink(filepath.Join(f.outside, "dir"), f.path("x")))
	}, ErrParentChanged},
	{"missing directory became a file", "x/y/new", func(f *field) { f.write("x", "") }, ErrParentChanged},
	{"fifo", "dir/a", func(f *field) {
		must(f.t, os.Remove(f.path("dir/a")))
		must(f.t, unix.Mkfifo(f.path("dir/a"), 0o644))
	}, ErrNotRegular},
	{"dangling link appeared", "dir/new", func(f *field) { must(f.t, os.Symlink("nowhere", f.path("dir/new"))) }, ErrLink},
	{"root is a link to itself moved", "dir/a", func(f *field) {
		must(f.t, os.Rename(f.root, f.root+"-moved"))
		must(f.t, os.Symlink(f.root+"-moved", f.root))
	}, ErrOutsideRoots},
}

func TestWriteNoticesUnixChanges(t *testing.T) {
	for _, tt := range unixChanges {
		t.Run(tt.name, func(t *testing.T) { checkNoticed(t, tt) })
	}
}

func TestDevice(t *testing.T) {
	if err := unix.Mknod(filepath.Join(t.TempDir(), "null"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err != nil {
		t.Skipf("no device nodes here: %v", err)
	}
	checkNoticed(t, change{"device", "dir/a", func(f *field) {
		must(f.t, os.Remove(f.path("dir/a")))
		must(f.t, unix.Mknod(f.path("dir/a"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
	}, ErrNotRegular})
	if _, err := Take("/dev/null", []string{"/"}); !errors.Is(err, ErrNotRegular) {
		t.Errorf("Take of a device: %v", err)
	}
	if _, _, err := ReadChecked("/dev/zero", ReadOptions{Roots: []string{"/dev"}}); !errors.Is(err, ErrNotRegular) {
		t.Errorf("ReadChecked of a device: %v", err)
	}
}

// A link that is there at admission is resolved, and what it leads to is what is approved and replaced.
func TestLinkAtAdmission(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "old")
	must(t, os.Symlink("dir/a", f.path("link")))
	must(t, os.Symlink(filepath.Join(f.outside, "x"), f.path("out")))
	want := f.take("link")
	if want.Path != f.path("dir/a") || want.Asked != f.path("link") {
		t.Fatalf("snapshot %+v", want)
	}
	if _, err := WriteChecked(context.Background(), want, []byte("new"), f.options()); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(f.path("link")); err != nil || target != "dir/a" || f.content("dir/a") != "new" {
		t.Errorf("the link: %q, %v", target, err)
	}
	if _, err := Take(f.path("out"), []string{f.root}); !errors.Is(err, ErrOutsideRoots) {
		t.Errorf("a link to outside: %v", err)
	}
	want = f.take("link")
	f.write("b", "new")
	must(t, os.Remove(f.path("link")))
	must(t, os.Symlink("b", f.path("link")))
	if _, err := WriteChecked(context.Background(), want, []byte("x"), f.options()); !errors.Is(err, ErrParentChanged) {
		t.Errorf("the link leads elsewhere: %v", err)
	}
}

func TestMagicLinksAreRefused(t *testing.T) {
	if pathid.Host() != pathid.Linux {
		t.Skip("procfs is Linux's")
	}
	f := newField(t)
	path := f.write("dir/a", "x")
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	_, err = Take(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()), []string{"/"})
	if !errors.Is(err, pathid.ErrMagicLink) {
		t.Errorf("error %v", err)
	}
}

func TestStrangeNames(t *testing.T) {
	for _, name := range []string{"new\nline", " leading", "trailing ", "-dash", "a:b", "CON", "...", "é", "e\u0301", strings.Repeat("n", 200)} {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			f.write("dir/"+name, "old")
			_, err := WriteChecked(context.Background(), f.take("dir/"+name), []byte("new"), f.options())
			must(t, err)
			if f.content("dir/"+name) != "new" {
				t.Error("not written")
			}
			f.onlyFiles("dir/" + name)
		})
	}
}

func TestLongPath(t *testing.T) {
	f := newField(t)
	deep := strings.Repeat("a long directory name/", 40) // 880 bytes
	must(t, os.MkdirAll(f.path(deep), 0o755))
	f.write(deep+"f", "old")
	_, err := WriteChecked(context.Background(), f.take(deep+"f"), []byte("new"), f.options())
	must(t, err)
}

func TestMetadataIsKept(t *testing.T) {
	f := newField(t)
	path := f.write("dir/a", "old")
	must(t, os.Chmod(path, 0o751))
	attribute := []byte("value\x00with NUL")
	hasAttribute := unix.Setxattr(path, "user.test", attribute, 0) == nil
	if os.Getuid() == 0 {
		must(t, os.Chown(path, 1234, 2345))
	}
	_, err := WriteChecked(context.Background(), f.take("dir/a"), []byte("new"), f.options())
	must(t, err)
	var st unix.Stat_t
	must(t, unix.Stat(path, &st))
	if st.Mode&0o7777 != 0o751 {
		t.Errorf("mode %o", st.Mode)
	}
	if os.Getuid() == 0 && (st.Uid != 1234 || st.Gid != 2345) {
		t.Errorf("owner %d:%d", st.Uid, st.Gid)
	}
	if !hasAttribute {
		t.Log("no extended attributes on this filesystem: mode and owner only")
		return
	}
	buf := make([]byte, 100)
	n, err := unix.Getxattr(path, "user.test", buf)
	if err != nil || string(buf[:n]) != string(attribute) {
		t.Errorf("attribute %q, %v", buf[:max(n, 0)], err)
	}
}

func TestSpecialBitsAreDropped(t *testing.T) {
	f := newField(t)
	path := f.write("dir/a", "old")
	must(t, unix.Chmod(path, 0o6755))
	_, err := WriteChecked(context.Background(), f.take("dir/a"), []byte("new"), f.options())
	must(t, err)
	var st unix.Stat_t
	must(t, unix.Stat(path, &st))
	if st.Mode&0o7777 != 0o755 {
		t.Errorf("mode %o", st.Mode)
	}
}

func TestNewFileHasTheUsualMode(t *testing.T) {
	f := newField(t)
	plain := f.write("dir/plain", "")
	_, err := WriteChecked(context.Background(), f.take("dir/new"), nil, f.options())
	must(t, err)
	a, err := os.Stat(plain)
	must(t, err)
	b, err := os.Stat(f.path("dir/new"))
	must(t, err)
	if want := a.Mode() | 0o022&b.Mode(); b.Mode() != want {
		t.Errorf("mode %v, want %v", b.Mode(), want)
	}
}

func TestWriteFaults(t *testing.T) {
	for err, want := range map[error]error{
		unix.EACCES: ErrReadOnly, unix.EPERM: ErrReadOnly, unix.EROFS: ErrReadOnly, unix.ENOSPC: ErrNoSpace, unix.EDQUOT: ErrNoSpace,
		unix.ETXTBSY: ErrLocked, unix.EFBIG: ErrTooLarge, unix.EIO: unix.EIO,
	} {
		if got := writeFault(err); !errors.Is(got, want) || !errors.Is(got, err) {
			t.Errorf("writeFault(%v) = %v", err, got)
		}
	}
	for err, want := range map[error]error{unix.ELOOP: ErrLink, unix.ENXIO: ErrNotRegular, unix.EIO: unix.EIO} {
		if got := openFault(err); !errors.Is(got, want) {
			t.Errorf("openFault(%v) = %v", err, got)
		}
	}
}

func TestStandsSeesEveryKind(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "old")
	want := f.take("dir/a")
	a, err := openAnchor(want.place())
	must(t, err)
	defer a.close()
	must(t, a.stands(want))
	must(t, os.Rename(f.path("dir/a"), f.path("dir/b")))
	must(t, os.Symlink("b", f.path("dir/a")))
	if err := a.stands(want); !errors.Is(err, ErrLink) {
		t.Errorf("a link: %v", err)
	}
	if diff := cmp.Diff("old", f.content("dir/a")); diff != "" {
		t.Error(diff)
	}
}
