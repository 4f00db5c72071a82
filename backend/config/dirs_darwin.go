package config

import "path/filepath"

// places returns the directories of macOS (File System Programming Guide, "The Library Directory").
func places(home string, _ func(string) string) Dirs {
	base := filepath.Join(home, "Library", "Application Support", titleName)
	return apart(filepath.Join(base, "state"), base)
}
