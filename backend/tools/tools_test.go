package tools

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

	"countersign/backend/winlock"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func scratch(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func take(t *testing.T, dir, name string) winlock.Snapshot {
	t.Helper()
	s, err := winlock.Take(filepath.Join(dir, name), []string{dir})
	must(t, err)
	return s
}

func args(t *testing.T, members map[string]any) []byte {
	t.Helper()
	raw, err := json.Marshal(members)
	must(t, err)
	return raw
}

func TestSelect(t *testing.T) {
	const file = "one\ntwo\r\nthree\nfour"
	tests := []struct {
		name   string
		a      ReadArgs
		file   string
		want   string
		first  int
		lines  int
		totals int
	}{
		{"all", ReadArgs{}, file, file, 1, 4, 4},
		{"from the second", ReadArgs{Offset: 2}, file, "two\r\nthree\nfour", 2, 3, 4},
		{"first two", ReadArgs{Limit: 2}, file, "one\ntwo\r\n", 1, 2, 4},
		{"one in the middle", ReadArgs{Offset: 3, Limit: 1}, file, "three\n", 3, 1, 4},
		{"last", ReadArgs{Offset: 4, Limit: 9}, file, "four", 4, 1, 4},
		{"behind the end", ReadArgs{Offset: 5}, file, "", 0, 0, 4},
		{"empty file", ReadArgs{}, "", "", 0, 0, 0},
		{"one newline", ReadArgs{}, "\n", "\n", 1, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.a.Select([]byte(tt.file))
			want := ReadResult{Content: []byte(tt.want), FirstLine: tt.first, Lines: tt.lines, Total: tt.totals}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadTool(t *testing.T) {
	dir := scratch(t)
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("one\ntwo\n"), 0o644))
	admitted, err := winlock.Look(filepath.Join(dir, "a"), []string{dir})
	must(t, err)
	o := winlock.ReadOptions{Roots: []string{dir}}
	got, err := ReadTool(args(t, map[string]any{"path": "a", "offset": 2}), dir, admitted, o)
	must(t, err)
	if string(got.Content) != "two\n" || got.Total != 2 || got.Snapshot.Digest != winlock.DigestOf([]byte("one\ntwo\n")) {
		t.Errorf("ReadTool = %+v", got)
	}
	for _, tt := range []struct {
		name string
		raw  []byte
		cwd  string
		o    winlock.ReadOptions
		err  error
	}{
		{"other file", args(t, map[string]any{"path": "b"}), dir, o, ErrOtherFile},
		{"other directory", args(t, map[string]any{"path": "a"}), filepath.Dir(dir), o, ErrOtherFile},
		{"bad arguments", []byte(`{"path":1}`), dir, o, ErrArguments},
		{"no roots", args(t, map[string]any{"path": "a"}), dir, winlock.ReadOptions{}, winlock.ErrOutsideRoots},
		{"relative directory", args(t, map[string]any{"path": "a"}), "x", o, errAny},
	} {
		if _, err := ReadTool(tt.raw, tt.cwd, admitted, tt.o); !matches(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		}
	}
}

// errAny stands for some error in a table.
var errAny = errors.New("any error")

func matches(err, want error) bool {
	if want == errAny {
		return err != nil
	}
	return errors.Is(err, want)
}

// A path that became a link to another file since the admission is not followed there.
func TestToolsDoNotFollowANewLink(t *testing.T) {
	dir := scratch(t)
	path := filepath.Join(dir, "a")
	must(t, os.WriteFile(path, []byte("old"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "b"), []byte("old"), 0o644))
	admitted := take(t, dir, "a")
	must(t, os.Remove(path))
	if err := os.Symlink("b", path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	o := winlock.Options{Roots: []string{dir}}
	if _, err := ReadTool(args(t, map[string]any{"path": "a"}), dir, admitted, winlock.ReadOptions{Roots: o.Roots}); !errors.Is(err, ErrOtherFile) {
		t.Errorf("read: %v", err)
	}
	if _, err := EditTool(context.Background(), editArgs("old", "new", false), dir, admitted, o); !errors.Is(err, ErrOtherFile) {
		t.Errorf("edit: %v", err)
	}
	if _, err := WriteTool(context.Background(), args(t, map[string]any{"path": "a", "content": "new"}), dir, admitted, o); !errors.Is(err, winlock.ErrLink) {
		t.Errorf("write: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(data) != "old" {
		t.Errorf("b holds %q, %v", data, err)
	}
}

func TestEditTool(t *testing.T) {
	dir := scratch(t)
	path := filepath.Join(dir, "a")
	must(t, os.WriteFile(path, []byte("\ufeffone\r\ntwo\r\n"), 0o600))
	o := winlock.Options{Roots: []string{dir}}
	admitted := take(t, dir, "a")
	got, err := EditTool(context.Background(), editArgs("one\n", "1\n", false), dir, admitted, o)
	must(t, err)
	const want = "\ufeff1\r\ntwo\r\n"
	data, err := os.ReadFile(path)
	must(t, err)
	if string(data) != want || got.Matches != 1 || got.Published.NewDigest != winlock.DigestOf([]byte(want)) ||
		got.Published.OldDigest != admitted.Digest {
		t.Errorf("%q, %+v", data, got)
	}
	// The approval was for the content before: a second edit with it is refused.
	if _, err := EditTool(context.Background(), editArgs("two", "2", false), dir, admitted, o); !errors.Is(err, winlock.ErrChanged) || Code(err) != "file_changed" {
		t.Errorf("with an old snapshot: %v", err)
	}
	now := take(t, dir, "a")
	missing := take(t, dir, "none")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		raw  []byte
		cwd  string
		at   winlock.Snapshot
		o    winlock.Options
		err  error
	}{
		{"no match", context.Background(), editArgs("three", "3", false), dir, now, o, ErrNoMatch},
		{"bad arguments", context.Background(), []byte(`{"path":"a"}`), dir, now, o, ErrArguments},
		{"other file", context.Background(), editArgs("two", "2", false), filepath.Join(dir, "sub"), now, o, ErrOtherFile},
		{"outside", context.Background(), editArgs("two", "2", false), dir, now, winlock.Options{}, winlock.ErrOutsideRoots},
		{"cancelled", cancelled, editArgs("two", "2", false), dir, now, o, context.Canceled},
		{"missing", context.Background(), []byte(strings.Replace(string(editArgs("two", "2", false)), `"a"`, `"none"`, 1)), dir, missing, o, fs.ErrNotExist},
	} {
		if _, err := EditTool(tt.ctx, tt.raw, tt.cwd, tt.at, tt.o); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("a refused edit left %q, %v", data, err)
	}
}

func TestWriteTool(t *testing.T) {
	dir := scratch(t)
	o := winlock.Options{Roots: []string{dir}}
	raw := args(t, map[string]any{"file_path": filepath.Join(dir, "sub", "a"), "content": "hello\r\n"})
	admitted := take(t, dir, filepath.Join("sub", "a"))
	got, err := WriteTool(context.Background(), raw, dir, admitted, o)
	must(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "sub", "a"))
	must(t, err)
	if string(data) != "hello\r\n" || got.Published.OldDigest != "" {
		t.Errorf("%q, %+v", data, got)
	}
	if _, err := WriteTool(context.Background(), raw, dir, admitted, o); !errors.Is(err, winlock.ErrAppeared) {
		t.Errorf("again: %v", err)
	}
	admitted = take(t, dir, filepath.Join("sub", "a"))
	if _, err := WriteTool(context.Background(), raw, dir, take(t, dir, "other"), o); !errors.Is(err, ErrOtherFile) {
		t.Errorf("other file: %v", err)
	}
	if _, err := WriteTool(context.Background(), []byte(`{"path":"a"}`), dir, admitted, o); !errors.Is(err, ErrArguments) {
		t.Errorf("bad arguments: %v", err)
	}
	if _, err := WriteTool(context.Background(), raw, dir, admitted, o); err != nil {
		t.Errorf("over the file: %v", err)
	}
}

func TestWritePlan(t *testing.T) {
	got, err := WritePlan([]byte(`{"path":"a","content":"\ufeffx"}`))
	if err != nil || string(got) != "\ufeffx" {
		t.Errorf("WritePlan = %q, %v", got, err)
	}
	if _, err := WritePlan([]byte(`{}`)); !errors.Is(err, ErrArguments) {
		t.Errorf("WritePlan: %v", err)
	}
	if _, err := (WriteArgs{Path: "a", Content: strings.Repeat("a", MaxResult+1)}).Plan(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if Code(nil) != "" {
		t.Error("nil has a code")
	}
}
