package policy

import "strings"

// harmlessAssignments is the short list of names and constants that an allow rule need not spell. A value list restricts
// the values; a program restricts where it may stand. Each row has a test.
var harmlessAssignments = []struct {
	names   string // space-separated; a trailing * is a prefix
	values  string // space-separated; "" any constant
	program string // base names, space-separated; "" any
}{
	{"LANG LANGUAGE LC_*", "", ""},
	{"TZ", "", ""},
	{"CI", "", ""},
	{"NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM", "", ""},
	{"TERM", "dumb xterm xterm-256color linux vt100", ""},
	{"COLUMNS LINES", "", ""},
	{"PAGER GIT_PAGER GH_PAGER MANPAGER SYSTEMD_PAGER AWS_PAGER BAT_PAGER", "cat", ""},
	{"GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_LITERAL_PATHSPECS", "0 1", ""},
	{"GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR", "true :", ""},
	{"GH_TOKEN GITHUB_TOKEN GH_REPO GH_PROMPT_DISABLED GH_NO_UPDATE_NOTIFIER", "", "gh"},
	{"NODE_ENV", "test development production", ""},
	{"RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR", "", ""},
	{"GOOS GOARCH GOARM GOAMD64 GO111MODULE CGO_ENABLED", "", ""},
	{"PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED", "", ""},
	{"DEBIAN_FRONTEND", "noninteractive", ""},
	{"DEBUG VERBOSE", "0 1 true false", ""},
	{"NEXT_TELEMETRY_DISABLED DO_NOT_TRACK HOMEBREW_NO_AUTO_UPDATE DISABLE_TELEMETRY", "", ""},
	{"LESSSECURE", "1", ""},
}

// harmless reports whether the assignment need not be spelled by an allow rule for this program.
func (a assignment) harmless(program string) bool {
	if !a.known || a.append || strings.ContainsAny(a.value, "\n$`\\") {
		return false
	}
	if a.single && localName(a.name) {
		return true
	}
	for _, row := range harmlessAssignments {
		if row.program != "" && !listed(row.program, program) {
			continue
		}
		if row.values != "" && !listed(row.values, a.value) {
			continue
		}
		for name := range strings.FieldsSeq(row.names) {
			prefix, wild := strings.CutSuffix(name, "*")
			if a.name == name || wild && strings.HasPrefix(a.name, prefix) {
				return true
			}
		}
	}
	return false
}

// localName reports whether a name is one that no program reads from its environment: a shell variable of the text's own.
// Statements that set such a name change nothing else.
func localName(name string) bool {
	if name == "" || strings.ToLower(name) != name || strings.HasSuffix(name, "_proxy") || strings.HasPrefix(name, "npm_") ||
		strings.HasPrefix(name, "_") || strings.Contains(name, "config") {
		return false
	}
	switch name {
	case "histchars", "auto_resume", "path", "cdpath", "fpath", "manpath", "prompt", "argv", "status", "home", "term",
		"shell", "ps1", "module_path", "rvm_path":
		return false
	}
	return true
}
