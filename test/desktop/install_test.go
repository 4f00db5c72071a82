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
