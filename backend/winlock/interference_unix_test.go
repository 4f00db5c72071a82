//go:build linux || darwin

package winlock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// interference is what another program does inside a write, at a step of it.
type interference struct {
	name   string
	target string
	at     step
	do     func(f *field)
	err    error
	want   string // what stands at the target afterwards; "-" for nothing
}

var interferences = []interference{
	{"in place before the lock is checked", "dir/a", stepLocked, func(f *field) { f.write("dir/a", "theirs") }, ErrChanged, "theirs"},
	{"in place after the check", "dir/a", stepVerified, func(f *field) { f.write("dir/a", "theirs") }, ErrChanged, "theirs"},
	{"in place, same size, after the last look", "dir/a", stepChecked, func(f *field) { f.write("dir/a", "OLD") }, ErrChanged, "OLD"},
	{"in place after publishing, through the old file", "dir/a", stepPublished, nil, ErrChanged, "OLD"}, // do is set below
	{"rename before the last look", "dir/a", stepStaged, func(f *field) { f.renameOver("theirs") }, ErrReplaced, "theirs"},
	{"rename after the last look", "dir/a", stepChecked, func(f *field) { f.renameOver("theirs") }, ErrReplaced, "theirs"},
	{"rename after publishing", "dir/a", stepPublished, func(f *field) { f.renameOver("theirs") }, ErrReplaced, "theirs"},
	{"deleted before the last look", "dir/a", stepStaged, func(f *field) { must(f.t, os.Remove(f.path("dir/a"))) }, ErrDeleted, "-"},
	{"deleted after the last look", "dir/a", stepChecked, func(f *field) { must(f.t, os.Remove(f.path("dir/a"))) }, ErrDeleted, "-"},
	{"second name after the last look", "dir/a", stepChecked, func(f *field) {
		must(f.t, os.Link(f.path("dir/a"), filepath.Join(f.outside, "second")))
	}, ErrSeveralLinks, "old"},
	{"link after the last look", "dir/a", stepChecked, func(f *field) {
		must(f.t, os.Remove(f.path("dir/a")))
		must(f.t, os.WriteFile(filepath.Join(f.outside, "victim"), []byte("victim"), 0o644))
		must(f.t, os.Symlink(filepath.Join(f.outside, "victim"), f.path("dir/a")))
	}, ErrReplaced, "victim"},
	{"directory moved out after the last look", "dir/a", stepChecked, func(f *field) { f.moveDirOut() }, ErrParentChanged, "decoy"},
	{"directory moved out after publishing", "dir/a", stepPublished, func(f *field) { f.moveDirOut() }, ErrParentChanged, "decoy"},
	{"directory moved out before staging", "dir/a", stepOpened, func(f *field) { f.moveDirOut() }, ErrParentChanged, "decoy"},
	{"new: appeared after the last look", "dir/new", stepChecked, func(f *field) { f.write("dir/new", "theirs") }, ErrAppeared, "theirs"},
	{"new: link after the last look", "dir/new", stepChecked, func(f *field) {
		must(f.t, os.Symlink(filepath.Join(f.outside, "victim"), f.path("dir/new")))
	}, ErrAppeared, "-"},
	{"new: directory moved out after the last look", "dir/new", stepChecked, func(f *field) { f.moveDirOut() }, ErrParentChanged, "-"},
	{"new: directory moved out after publishing", "dir/new", stepPublished, func(f *field) { f.moveDirOut() }, ErrParentChanged, "-"},
	{"new: replaced after publishing", "dir/new", stepPublished, func(f *field) {
		f.write("dir/theirs", "theirs")
		must(f.t, os.Rename(f.path("dir/theirs"), f.path("dir/new")))
	}, ErrReplaced, "theirs"},
	{"new: directory appears in time", "x/new", stepOpened, func(f *field) { must(f.t, os.Mkdir(f.path("x"), 0o755)) }, nil, "new"},
	{"new: linked directory appears", "x/new", stepOpened, func(f *field) {
		must(f.t, os.Symlink(filepath.Join(f.outside, "dir"), f.path("x")))
	}, ErrParentChanged, "decoy"},
}

func (f *field) renameOver(content string) {
	f.write("dir/other", content)
	must(f.t, os.Rename(f.path("dir/other"), f.path("dir/a")))
}

// moveDirOut moves the target's directory outside and puts a link to a decoy there, which holds a file of the same name.
func (f *field) moveDirOut() {
	must(f.t, os.Rename(f.path("dir"), filepath.Join(f.outside, "moved")))
	must(f.t, os.Symlink(filepath.Join(f.outside, "dir"), f.path("dir")))
}

// Whatever another program does at whatever moment: its work stays, ours does not, and nothing is left over.
func TestInterference(t *testing.T) {
	for _, tt := range interferences {
		t.Run(tt.name, func(t *testing.T) {
			f := newField(t)
			path := f.write("dir/a", "old")
			for _, name := range []string{"a", "x-new"} {
				must(t, os.WriteFile(filepath.Join(f.outside, "dir", name), []byte("decoy"), 0o644))
			}
			if tt.target == "x/new" {
				must(t, os.WriteFile(filepath.Join(f.outside, "dir", "new"), []byte("decoy"), 0o644))
			}
			want := f.take(tt.target)
			held, err := os.OpenFile(path, os.O_RDWR, 0)
			must(t, err)
			defer held.Close()
			if tt.do == nil {
				tt.do = func(f *field) {
					_, err := held.WriteAt([]byte("OLD"), 0)
					must(f.t, err)
				}
			}
			o := f.options()
			o.step = func(s step) {
				if s == tt.at {
					tt.do(f)
				}
			}
			_, err = WriteChecked(context.Background(), want, []byte("new"), o)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			got, err := os.ReadFile(f.path(tt.target))
			if errors.Is(err, fs.ErrNotExist) {
				got, err = []byte("-"), nil
			}
			must(t, err)
			if string(got) != tt.want {
				t.Errorf("%q stands there, want %q", got, tt.want)
			}
			for path, text := range f.tree() {
				if strings.Contains(path, tempPrefix) {
					t.Errorf("%s was left", path)
				}
				if tt.err != nil && strings.HasSuffix(text, DigestOf([]byte("new"))) {
					t.Errorf("our content stands at %s", path)
				}
			}
			if moved := filepath.Join(f.outside, "moved", "a"); tt.err == ErrParentChanged {
				if data, err := os.ReadFile(moved); err == nil && string(data) != "old" {
					t.Errorf("%s holds %q", moved, data)
				}
			}
		})
	}
}

// A temporary file that is taken away or swapped before publishing is noticed.
func TestInterferenceWithTheTemporaryFile(t *testing.T) {
	find := func(f *field) string {
		names, err := filepath.Glob(f.path("dir/" + tempPrefix + "*"))
		must(f.t, err)
		if len(names) != 1 {
			f.t.Fatalf("temporary files %q", names)
		}
		return names[0]
	}
	for _, tt := range []struct {
		name string
		do   func(f *field)
	}{
		{"removed", func(f *field) { must(f.t, os.Remove(find(f))) }},
		{"swapped", func(f *field) {
			name := find(f)
			must(f.t, os.Remove(name))
			must(f.t, os.WriteFile(name, []byte("evil"), 0o644))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newField(t)
			f.write("dir/a", "old")
			want := f.take("dir/a")
			o := f.options()
			o.step = func(s step) {
				if s == stepStaged {
					tt.do(f)
				}
			}
			if _, err := WriteChecked(context.Background(), want, []byte("new"), o); !errors.Is(err, ErrReplaced) {
				t.Errorf("error %v", err)
			}
			if got := f.content("dir/a"); got != "old" {
				t.Errorf("%q stands there", got)
			}
		})
	}
}

// The hammer swaps the target and its parents as fast as it can while checked writes run. Every write that succeeds
// replaced exactly what was approved; nothing lands outside the root; nobody's content is lost; no litter is left.
func TestHammer(t *testing.T) {
	const writes = 300
	f := newField(t)
	f.write("dir/a", "original 0")
	must(t, os.WriteFile(filepath.Join(f.outside, "dir", "a"), []byte("outside"), 0o644))
	outsideBefore := DigestOf([]byte("outside"))

	stop := make(chan struct{})
	var hammer sync.WaitGroup
	defer func() { hammer.Wait() }()
	hammer.Go(func() {
		dir, moved := f.path("dir"), f.path("moved")
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if n%8 == 0 {
				time.Sleep(2 * time.Millisecond) // let some writes through
			}
			switch n % 4 {
			case 0: // another program's atomic save
				_ = os.WriteFile(filepath.Join(dir, "save"), fmt.Appendf(nil, "save %d", n), 0o644)
				_ = os.Rename(filepath.Join(dir, "save"), filepath.Join(dir, "a"))
			case 1: // the target is a link to outside for a moment
				_ = os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "aside"))
				_ = os.Symlink(filepath.Join(f.outside, "dir", "a"), filepath.Join(dir, "a"))
				_ = os.Rename(filepath.Join(dir, "aside"), filepath.Join(dir, "a"))
			case 2: // the parent is a link to outside for a moment
				_ = os.Rename(dir, moved)
				_ = os.Symlink(filepath.Join(f.outside, "dir"), dir)
				_ = os.Remove(dir)
				_ = os.Rename(moved, dir)
			case 3: // a change in place
				if file, err := os.OpenFile(filepath.Join(dir, "a"), os.O_WRONLY|unix.O_NOFOLLOW, 0); err == nil {
					_, _ = file.WriteAt(fmt.Appendf(nil, "place %d", n), 0)
					file.Close()
				}
			}
		}
	})

	done, refused := 0, map[string]int{}
	for n := 0; n < writes || done == 0 && n < 20*writes; n++ {
		want, err := Take(f.path("dir/a"), []string{f.root})
		if err == nil {
			var got Published
			got, err = WriteChecked(context.Background(), want, fmt.Appendf(nil, "write %d", n), f.options())
			if err == nil {
				done++
				if got.OldDigest != want.Digest || got.Before != want.Identity {
					t.Errorf("write %d replaced something else", n)
				}
			}
		}
		if err != nil {
			refused[Code(err)]++
			if code := Code(err); code == "file_error" {
				t.Errorf("write %d: %v", n, err)
			}
		}
	}
	close(stop)
	hammer.Wait()
	t.Logf("%d written, refused: %v", done, refused)
	data, err := os.ReadFile(filepath.Join(f.outside, "dir", "a"))
	must(t, err)
	if DigestOf(data) != outsideBefore {
		t.Errorf("outside holds %q", data)
	}
	for path := range f.tree() {
		if strings.HasPrefix(path, f.outside) && filepath.Base(path) != "a" && filepath.Base(path) != "dir" && path != f.outside {
			t.Errorf("%s landed outside", path)
		}
		if strings.Contains(path, tempPrefix) {
			t.Errorf("%s was left", path)
		}
	}
}
