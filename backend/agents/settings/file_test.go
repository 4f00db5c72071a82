package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/backend/agents/jsonedit"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func loaded(t *testing.T, path string) File {
	t.Helper()
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReplaceKeepsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, "old", 0o640)
	if err := loaded(t, path).Replace([]byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded(t, path); string(got.Data) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, mode %v", got.Data, info.Mode())
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReplaceMakesAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "settings.json")
	f := loaded(t, path)
	if f.Exists {
		t.Fatal("it does not exist")
	}
	if backup, err := f.Backup(); backup != "" || err != nil {
		t.Errorf("backup of nothing: %q, %v", backup, err)
	}
	if err := f.Replace([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestReplaceRefusesWhatChanged(t *testing.T) {
	for _, tc := range []struct {
		name   string
		before string // "-" means: no file
		change func(path string) error
	}{
		{"other content", "old", func(p string) error { return os.WriteFile(p, []byte("theirs"), 0o600) }},
		{"gone", "old", os.Remove},
		{"appeared", "-", func(p string) error { return os.WriteFile(p, []byte("theirs"), 0o600) }},
		{"became a link", "old", func(p string) error {
			other := p + ".other"
			return errors.Join(os.WriteFile(other, []byte("old"), 0o600), os.Remove(p), os.Symlink(other, p))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings.json")
			if tc.before != "-" {
				write(t, path, tc.before, 0o600)
			}
			f := loaded(t, path)
			if err := tc.change(path); err != nil {
				t.Fatal(err)
			}
			if err := f.Replace([]byte("ours")); !errors.Is(err, ErrChanged) {
				t.Errorf("got %v, want ErrChanged", err)
			}
			if data, err := os.ReadFile(path); err == nil && string(data) == "ours" {
				t.Error("it was overwritten")
			}
		})
	}
}

func TestLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "dotfiles", "claude.json"), filepath.Join(dir, "settings.json")
	write(t, target, "old", 0o600)
	if err := os.Symlink(target, path); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	f := loaded(t, path)
	if !f.Linked || filepath.Base(f.Target) != "claude.json" {
		t.Errorf("%+v", f)
	}
	backup, err := f.Backup()
	if err != nil || filepath.Dir(backup) != filepath.Dir(f.Target) {
		t.Errorf("backup %q, %v", backup, err)
	}
	if err := f.Replace([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	dangling, directory, large := filepath.Join(dir, "dangling"), filepath.Join(dir, "directory"), filepath.Join(dir, "large")
	if err := os.Symlink(filepath.Join(dir, "nothing"), dangling); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, large, strings.Repeat(" ", MaxSize+1), 0o600)
	for path, want := range map[string]error{dangling: ErrDangling, directory: ErrNotRegular, large: ErrTooLarge} {
		if _, err := Load(path); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", filepath.Base(path), err, want)
		}
	}
	if _, err := Load("settings.json"); err == nil {
		t.Error("a relative path was taken")
	}
}

func TestReadOnlyIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, "old", 0o444)
	if err := loaded(t, path).Replace([]byte("new")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v", err)
	}
}

func TestFirstBackupIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, "first", 0o600)
	for _, text := range []string{"first", "second"} {
		write(t, path, text, 0o600)
		backup, err := loaded(t, path).Backup()
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(backup); err != nil || string(data) != "first" {
			t.Errorf("backup holds %q, %v", data, err)
		}
	}
}

func TestJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	j, err := ReadJournal(dir)
	if err != nil || len(j.Entries) != 0 {
		t.Fatal(j, err)
	}
	e := Entry{
		Agent: "claude", Target: "/x", Before: Digest([]byte("abc")), After: Digest([]byte("aXXbc!")),
		Changes: []Change{jsonedit.Splice{At: 1, Inserted: "XX"}, {At: 5, Inserted: "!"}},
	}
	if err := j.With(e).With(Entry{Agent: "claude", Target: "/y"}).With(e).Write(dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, JournalName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if j, err = ReadJournal(dir); err != nil || len(j.Entries) != 2 {
		t.Fatal(j, err)
	}
	found, ok := j.Find("claude", "/x")
	if !ok {
		t.Fatal("the entry is gone")
	}
	if back, err := found.Undo([]byte("aXXbc!")); err != nil || string(back) != "abc" {
		t.Errorf("undone: %q, %v", back, err)
	}
	if _, err := found.Undo([]byte("aXXbc")); !errors.Is(err, ErrChanged) {
		t.Errorf("another text was undone: %v", err)
	}
	write(t, filepath.Join(dir, JournalName), `{"version": 9}`, 0o600)
	if _, err := ReadJournal(dir); !errors.Is(err, ErrJournal) {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(dir, JournalName), `{`, 0o600)
	if _, err := ReadJournal(dir); !errors.Is(err, ErrJournal) {
		t.Errorf("got %v", err)
	}
}

func TestDiff(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	after := "1\n2\n3\n4\nnew\n5\n6\n7\n8\n9\nend"
	want := "@@ -2 +2 @@\n 2\n 3\n 4\n+new\n 5\n 6\n 7\n 8\n 9\n+end\n"
	if got := Diff([]byte(before), []byte(after)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := Diff([]byte("a"), []byte("a")); got != "" {
		t.Error(got)
	}
	if got := Diff(nil, []byte("a\n")); got != "@@ -1 +1 @@\n+a\n" {
		t.Error(got)
	}
}
