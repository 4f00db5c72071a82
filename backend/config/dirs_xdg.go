//go:build unix && !darwin

package config

import "path/filepath"

// places returns the directories of the XDG Base Directory Specification 0.8.
func places(home string, env func(string) string) Dirs {
	return apart(
		filepath.Join(xdg(env("XDG_STATE_HOME"), filepath.Join(home, ".local", "state")), unixName),
		filepath.Join(xdg(env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), unixName))
}
