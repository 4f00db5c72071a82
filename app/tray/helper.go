package tray

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"countersign/backend/sandbox"
)

// IconsFlag names the directory for icon files, which the helper's library needs on some systems. It is the parent's: a
// helper that is killed cannot clear it.
const IconsFlag = "--icons"

// helper is the real process.
type helper struct {
	*sandbox.Helper
	icons string
}

func startHelper(program string) (process, error) {
	icons, err := os.MkdirTemp(iconsParent(os.Getenv), "countersign-tray-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for icons: %w", err)
	}
	h, err := sandbox.StartHelper(program, []string{IconsFlag, icons}, environment(thisSystem, os.LookupEnv))
	if err != nil {
		_ = os.Remove(icons)
		return nil, err
	}
	return &helper{h, icons}, nil
}

// iconsParent prefers the directory that goes away with the session. A panel reads the icon as a file, so it must be a
// place that a panel of this user can read.
func iconsParent(env func(string) string) string {
	if dir := env("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return os.TempDir()
}

func (h *helper) streams() (io.Writer, io.Reader) { return h.Stdin, h.Stdout }
func (h *helper) wait() (int, string)             { return h.Wait() }

func (h *helper) close() {
	_ = h.Close()
	_ = os.RemoveAll(h.icons)
}
