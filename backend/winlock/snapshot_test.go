//go:build linux || darwin || windows

package winlock

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/pathid"
)

func TestTakeRefuses(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "x")
	f.write("dir/twice", "x")
	must(t, os.Link(f.path("dir/twice"), f.path("dir/thrice")))
	tests := []struct {
		name, path string
		err        error
	}{
		{"relative", "dir/a", pathid.ErrRelative},
		{"empty", "", pathid.ErrRelative},
		{"NUL", f.path("dir") + "/a\x00", pathid.ErrNUL},
		{"invalid UTF-8", f.path("dir") + "/\xff", ErrAmbiguous},
		{"directory", f.path("dir"), ErrNotRegular},
		{"root", f.root, ErrOutsideRoots},
		{"several names", f.path("dir/twice"), ErrSeveralLinks},
		{"below a file", f.path("dir/a/b"), pathid.ErrNotDirectory},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Take(tt.path, []string{f.root})
			var pe *fs.PathError
			if !errors.Is(err, tt.err) || !errors.As(err, &pe) || pe.Op != "snapshot" {
				t.Errorf("Take = %v, want %v", err, tt.err)
			}
		})
	}
	if data, s, err := ReadChecked(f.path("dir/twice"), ReadOptions{Roots: []string{f.root}}); err != nil || string(data) != "x" || s.Size != 1 {
		t.Errorf("a file with several names can be read: %v", err)
	}
}

func TestReadChecked(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "hello")
	roots := []string{f.root}
	data, s, err := ReadChecked(f.path("dir/a"), ReadOptions{Roots: roots})
	must(t, err)
	if string(data) != "hello" {
		t.Errorf("content %q", data)
	}
	if diff := cmp.Diff(f.take("dir/a"), s); diff != "" {
		t.Errorf("not what Take says:\n%s", diff)
	}
	if _, err := WriteChecked(context.Background(), s, []byte("new"), f.options()); err != nil {
		t.Errorf("writing what was read: %v", err)
	}
	for _, tt := range []struct {
		name  string
		path  string
		limit int64
		err   error
	}{
		{"too large", "dir/a", 2, ErrTooLarge},
		{"missing", "dir/no", 0, fs.ErrNotExist},
		{"directory", "dir", 0, ErrNotRegular},
	} {
		if _, _, err := ReadChecked(f.path(tt.path), ReadOptions{Roots: roots, Limit: tt.limit}); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		}
	}
	if _, _, err := ReadChecked(f.path("dir/a"), ReadOptions{Roots: roots, Limit: 3}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
}

func TestSnapshotSurvivesJSON(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "x")
	for _, name := range []string{"dir/a", "dir/none", "no/such/file"} {
		want := f.take(name)
		data, err := json.Marshal(want)
		must(t, err)
		var back Snapshot
		must(t, json.Unmarshal(data, &back))
		if diff := cmp.Diff(want, back); diff != "" {
			t.Error(diff)
		}
		must(t, back.Validate())
		if _, err := WriteChecked(context.Background(), back, []byte("y"), f.options()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSnapshotValidate(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "x")
	present, missing := f.take("dir/a"), f.take("dir/none")
	tests := []struct {
		name   string
		from   Snapshot
		change func(*Snapshot)
	}{
		{"zero", Snapshot{}, func(*Snapshot) {}},
		{"relative path", present, func(s *Snapshot) { s.Path = "a" }},
		{"path that is not clean", present, func(s *Snapshot) { s.Path = s.Root.Path + "/x/../dir/a" }},
		{"path outside its directory", present, func(s *Snapshot) { s.Path = filepath.Join(f.outside, "dir", "a") }},
		{"directory outside its root", present, func(s *Snapshot) {
			s.Path, s.Parent.Path = filepath.Join(f.outside, "dir", "a"), filepath.Join(f.outside, "dir")
		}},
		{"directory that is not the file's", present, func(s *Snapshot) { s.Parent = s.Root }},
		{"no root identity", present, func(s *Snapshot) { s.Root.Identity = pathid.Identity{} }},
		{"no directory identity", present, func(s *Snapshot) { s.Parent.Identity = pathid.Identity{} }},
		{"no identity", present, func(s *Snapshot) { s.Identity = pathid.Identity{} }},
		{"no digest", present, func(s *Snapshot) { s.Digest = "" }},
		{"short digest", present, func(s *Snapshot) { s.Digest = "sha256:00" }},
		{"negative size", present, func(s *Snapshot) { s.Size = -1 }},
		{"missing with a digest", missing, func(s *Snapshot) { s.Digest = present.Digest }},
		{"missing with an identity", missing, func(s *Snapshot) { s.Identity = present.Identity }},
	}
	before := f.tree()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from
			tt.change(&s)
			if _, err := WriteChecked(context.Background(), s, []byte("new"), Options{Roots: []string{f.root, f.outside}}); !errors.Is(err, ErrInvalidSnapshot) {
				t.Errorf("error %v", err)
			}
		})
	}
	if diff := cmp.Diff(before, f.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range codes {
		if seen[c.code] {
			t.Errorf("code %q twice", c.code)
		}
		seen[c.code] = true
		if got := Code(refuse("write", "/x", because(c.err, errors.New("why")))); got != c.code {
			t.Errorf("Code(%v) = %q", c.err, got)
		}
	}
	for _, bad := range badPath {
		if got := Code(bad); got != "file_bad_path" {
			t.Errorf("Code(%v) = %q", bad, got)
		}
	}
	if Code(nil) != "" || Code(errors.New("x")) != "file_error" || Code(&LockedError{}) != "file_locked" {
		t.Error("Code is wrong")
	}
	if text := (&LockedError{Holders: []int{3, 4}}).Error(); !strings.Contains(text, "3 4") {
		t.Errorf("holders: %q", text)
	}
	if got := because(ErrLocked, &LockedError{}); got != ErrLocked {
		t.Errorf("because repeats itself: %v", got)
	}
}

func TestLook(t *testing.T) {
	f := newField(t)
	f.write("dir/a", "x")
	must(t, os.Link(f.path("dir/a"), f.path("dir/b")))
	s, err := Look(f.path("dir/a"), []string{f.root})
	if err != nil || s.Path != f.path("dir/a") || s.Missing || s.Digest != "" {
		t.Errorf("Look = %+v, %v", s, err)
	}
	if _, err := WriteChecked(context.Background(), s, nil, f.options()); !errors.Is(err, ErrInvalidSnapshot) {
		t.Errorf("written with a mere look: %v", err)
	}
	if _, err := Look(f.path("dir/a"), nil); !errors.Is(err, ErrOutsideRoots) {
		t.Errorf("without roots: %v", err)
	}
}

func TestLocate(t *testing.T) {
	f := newField(t)
	got, err := Locate(f.root, "dir/../x")
	if err != nil || got != f.path("x") {
		t.Errorf("Locate = %q, %v", got, err)
	}
	if _, err := Locate("relative", "x"); err == nil {
		t.Error("a relative base was taken")
	}
}
