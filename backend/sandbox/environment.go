package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// baseEnvironment lists the names that a composed environment may hold without a capability naming them. None carries a
// credential or makes a program load code.
var baseEnvironment = []string{
	"CI", "COLORTERM", "COLUMNS", "GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT", "HOME", "LANG", "LC_ALL", "LINES",
	"LOGNAME", "NO_COLOR", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
}

// systemPath is the search path that every environment has, in this order.
var systemPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// EnvOptions are the few things about a process's environment that vary. Everything is optional.
type EnvOptions struct {
	Home       string   // HOME; the broker puts the session's private directory where it is empty
	User       string   // USER and LOGNAME; "agent" when empty
	Term       string   // TERM; "dumb" when empty
	Lang       string   // LANG; "C.UTF-8" when empty
	TimeZone   string   // TZ
	Toolchains []string // directories searched before the system's own; nil means Toolchains()
}

// Environment composes an environment from nothing: no name or value of the caller's own environment is taken over.
func Environment(o EnvOptions) map[string]string {
	or := func(text, otherwise string) string {
		if text == "" || strings.ContainsAny(text, "\x00\n") {
			return otherwise
		}
		return text
	}
	toolchains := o.Toolchains
	if toolchains == nil {
		toolchains = Toolchains()
	}
	var path []string
	for _, dir := range slices.Concat(toolchains, systemPath) {
		if filepath.IsAbs(dir) && !strings.ContainsAny(dir, ":\x00") && !slices.Contains(path, dir) {
			path = append(path, dir)
		}
	}
	user := or(o.User, "agent")
	env := map[string]string{
		"PATH":                strings.Join(path, ":"),
		"SHELL":               shellPath,
		"USER":                user,
		"LOGNAME":             user,
		"TERM":                or(o.Term, "dumb"),
		"LANG":                or(o.Lang, "C.UTF-8"),
		"GIT_TERMINAL_PROMPT": "0", // a boxed git has nobody to ask for a password
	}
	if o.Home != "" {
		env["HOME"] = o.Home
	}
	if tz := or(o.TimeZone, ""); tz != "" {
		env["TZ"] = tz
	}
	return env
}

// environmentList returns NAME=value strings, sorted by name.
func environmentList(env map[string]string) (list, names []string) {
	names = slices.Sorted(maps.Keys(env))
	list = make([]string, 0, len(names))
	for _, name := range names {
		list = append(list, name+"="+env[name])
	}
	return list, names
}
