package tray

import "runtime"

// passed are the variables that a program needs to find its desktop, by system. What can load code into it (GTK_MODULES,
// LD_PRELOAD, GIO_EXTRA_MODULES …) and everything secret stays out.
var passed = map[string][]string{
	"linux": {
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE",
		"HOME", "LANG",
	},
	"darwin":  {"HOME", "LANG", "TMPDIR", "__CF_USER_TEXT_ENCODING"},
	"windows": {"SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP"},
}

// environment composes what the helper gets. It starts nothing, so its PATH is the least one.
func environment(system string, lookup func(string) (string, bool)) []string {
	var env []string
	for _, name := range passed[system] {
		if value, ok := lookup(name); ok && value != "" {
			env = append(env, name+"="+value)
		}
	}
	if system == "linux" {
		env = append(env, "PATH=/usr/bin:/bin", "NO_AT_BRIDGE=1") // the menu is the panel's; our side has nothing to read aloud
	}
	return env
}

const thisSystem = runtime.GOOS
