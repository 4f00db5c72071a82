package claude

import (
	"path/filepath"
	"runtime"

	"countersign/backend/agents/settings"
)

// SettingsPath is Claude's settings file of a user.
func SettingsPath(userHome string) string {
	return filepath.Join(userHome, ".claude", "settings.json")
}

// OwnPaths lists the files of a user that hold our hook entries or could switch them off for all projects; no agent may
// write them. A project's own settings lie in a directory that asks in every mode.
func OwnPaths(userHome string) []string {
	path := SettingsPath(userHome)
	paths := []string{path, path + settings.BackupSuffix, filepath.Join(userHome, ".claude", "settings.local.json")}
	if resolved, err := filepath.EvalSymlinks(path); err == nil && resolved != path {
		paths = append(paths, resolved, resolved+settings.BackupSuffix)
	}
	dir := managedDir(runtime.GOOS)
	return append(paths, filepath.Join(dir, managedFile), filepath.Join(dir, managedDropIns))
}

// Names of an administrator's settings, as Claude Code 2.1.332 looks for them.
const (
	managedFile    = "managed-settings.json"
	managedDropIns = "managed-settings.d"
)

func managedDir(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}
