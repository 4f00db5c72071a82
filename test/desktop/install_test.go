//go:build window

package desktop

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoveLeavesOnlyTheDesk: removing left the web view's data and cache and the notifications' buttons behind.
// What is the owner's stays, and is told of; while an agent still calls the programs they are not taken away under
// it.
func TestRemoveLeavesOnlyTheDesk(t *testing.T) {
	d := newDesk(t, "")
	home := filepath.Join(filepath.Dir(d.project), "account")
	d.home = ""
	d.more = []string{"HOME=" + home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "CLAUDE_CONFIG_DIR="}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	script := func(args ...string) (string, error) {
		cmd := exec.Command("../../build/linux/install.sh", args...)
		cmd.Env = d.env()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := script("--autostart"); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	d.start().inbox()
	trayWaits(t, trayItem(t), "0 waiting")
	keeps := filepath.Join(home, ".local/share/countersign-desk")
	comes(t, "the web view keeps something", func() bool { _, err := os.Stat(keeps); return err == nil })
	d.quits()

	claude := filepath.Join(home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(claude), 0o700); err != nil {
		t.Fatal(err)
	}
	d.write(claude, `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"`+home+`/.local/bin/countersign hook claude"}]}]}}`)
	if out, err := script("--remove"); err == nil || !strings.Contains(out, "disconnect claude") {
		t.Errorf("with an agent connected: %v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Dir(claude)); err != nil {
		t.Fatal(err)
	}
	out, err := script("--remove")
	if err != nil {
		t.Fatalf("remove: %v\n%s", err, out)
	}
	state, config := filepath.Join(home, ".local/state/countersign"), filepath.Join(home, ".config/countersign")
	if !strings.Contains(out, state) {
		t.Errorf("it does not say where the desk stays:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(state, "state.db")); err != nil {
		t.Errorf("the owner's desk: %v", err)
	}
	if err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if path == state || path == config {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			t.Errorf("left behind: %s", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// account is a home of its own with programs to install; no desktop is there to register anything with.
func account(t *testing.T) (home string, script func(args ...string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, bin := filepath.Join(dir, "home"), filepath.Join(dir, "built")
	for _, name := range []string{home, bin} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"countersign", "countersign-desk", "countersign-tray", "countersign-init"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home, func(args ...string) string {
		t.Helper()
		cmd := exec.Command("../../build/linux/install.sh", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BIN=" + bin}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("install.sh %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
}

// TestInstallFollowsNoLink: the copy was written through a link that stood in its place, into whatever it led to.
func TestInstallFollowsNoLink(t *testing.T) {
	home, script := account(t)
	bin, mine := filepath.Join(home, ".local/bin"), filepath.Join(home, "mine")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mine, filepath.Join(bin, "countersign.new")); err != nil {
		t.Fatal(err)
	}
	script()
	script() // over what it installed
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("what the link led to: %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(bin, "countersign")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program: %v, %v", info, err)
	}
	script("--remove")
	left, err := os.ReadDir(bin)
	if err != nil || len(left) != 1 || left[0].Name() != "countersign.new" {
		t.Errorf("left in its directory: %v, %v", left, err)
	}
}

// TestRemoveTrustsNoList: the list can be written by anybody in the account; a line that was added to it removed the
// file it named, also when a newer version was installed.
func TestRemoveTrustsNoList(t *testing.T) {
	home, script := account(t)
	script("--autostart")
	var mine []string
	for _, name := range []string{"important", ".local/share/important", ".local/share/../../countersign-notes", ".config/countersign/config.toml"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		mine = append(mine, home+"/"+name)
	}
	add := func() {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(home, ".local/share/countersign/installed"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if _, err := f.WriteString(strings.Join(mine, "\n") + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{nil, {"--remove"}} {
		add()
		out := script(args...)
		for _, path := range mine {
			if _, err := os.Stat(path); err != nil || !strings.Contains(out, path) {
				t.Errorf("install.sh %q: %v\n%s", args, err, out)
			}
		}
	}
	for _, path := range []string{".local/bin/countersign", ".local/share/countersign/installed", ".config/autostart/dev.countersign.Desk.desktop"} {
		if _, err := os.Lstat(filepath.Join(home, path)); err == nil {
			t.Errorf("left behind: %s", path)
		}
	}
}
