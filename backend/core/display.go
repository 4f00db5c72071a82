package core

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"countersign/backend/agents"
	"countersign/backend/wire"
)

// Limits of what is taken from the environment of another process.
const (
	maxEnvironment = 256 << 10 // of /proc/PID/environ, in bytes; a longer one is not used
	maxVariable    = 1 << 10   // of one value, in bytes
)

// Display returns the variables with which a window can be opened where the agent in chain runs, and whether it can.
// chain is the caller's own ancestry (server.Self): a hook's environment is the agent's, which a repository's settings
// can set, so nothing of it is believed, nor of anything else at or below an agent. What counts is the environment in
// which the nearest process above every agent was started, and of that a display only if it is one that a person logged
// in to (seen): what an agent left behind to start it again is above it too. Where no agent is in the chain there is
// none. On systems whose windows need no variables, the answer is yes and nothing.
func Display(chain []wire.Process, known agents.Table) (env []string, ok bool) {
	return here().above(chain, known)
}

// OwnDisplay is Display for a command that a person typed: the environment is their own, and so is the display, which
// may be any. It passes the same other checks.
func OwnDisplay(environment []string) (env []string, ok bool) {
	h := here()
	h.listener = nil
	if !h.variables {
		return nil, true
	}
	return h.checked(environment)
}

// surroundings is what the plan asks of the machine. A value so that every system's plan is tested on every system.
type surroundings struct {
	variables bool // windows are found by variables
	uid       int
	// environment returns the environment in which a process of this account was started.
	environment func(wire.Process) ([]string, error)
	// file looks at a file without following a link.
	file func(path string) (fileFacts, bool)
	// listener says who listens on a socket; a path that begins with "@" is a name in the abstract space. nil: nobody
	// asks.
	listener func(path string) (listener, bool)
}

// listener is the process that listens on the socket of a display.
type listener struct {
	uid   int
	input bool // it, or a child of it, holds a keyboard or the like that this account cannot open by itself
	login bool // it was started with a login to a seat by this account
}

// firstPerson is the least number of a person's account, and of those that a person may hand out to their containers.
const firstPerson = 1000

// seen reports whether a person logged in sits before a display: what an agent starts it can also look at and click,
// and a display takes one command to start. Only the system hands out input devices and records logins. Root could make
// all of that up, so nothing is asked for root.
func (s surroundings) seen(path string) bool {
	if s.listener == nil || s.uid == 0 {
		return true
	}
	l, there := s.listener(path)
	return there && (l.uid != s.uid && l.uid < firstPerson || l.uid == s.uid && (l.input || l.login))
}

// seenX is seen for an X server. Programs try the abstract name before the path, and each may be somebody else's.
func (s surroundings) seenX(path string) bool {
	if !s.seen(path) || s.listener == nil {
		return s.seen(path)
	}
	_, there := s.listener("@" + path)
	return !there || s.seen("@"+path)
}

// fileFacts is what matters about a file whose path came from an environment.
type fileFacts struct {
	mode fs.FileMode
	own  bool // it belongs to this account
}

// errNotOurs means that a process cannot be read, is of another account, or is not the one that was meant any more.
var errNotOurs = errors.New("the environment of that process is not to be had")

func (s surroundings) above(chain []wire.Process, known agents.Table) ([]string, bool) {
	if !s.variables {
		return nil, true
	}
	// An agent may run below another one, and then what is between them is the outer one's doing.
	outermost := -1
	for i, p := range chain {
		if _, agent := known.Find([]wire.Process{p}); agent {
			outermost = i
		}
	}
	if outermost < 0 {
		return nil, false
	}
	for _, p := range chain[outermost+1:] {
		environment, err := s.environment(p)
		if err != nil {
			continue
		}
		if env, ok := s.checked(environment); ok {
			return env, true
		}
	}
	return nil, false
}

// The forms of the variables. A display on another machine is none: its socket cannot be looked at.
var (
	localDisplay = regexp.MustCompile(`^:(\d{1,5})(\.\d{1,3})?$`)
	plainName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@:-]{0,99}$`)
)

// checked returns the variables of an environment that may be passed on, sorted, and whether a display is among them
// that somebody still listens on: a terminal multiplexer outlives the desktop it was started from.
func (s surroundings) checked(environment []string) ([]string, bool) {
	values := map[string]string{}
	for _, variable := range environment {
		name, value, found := strings.Cut(variable, "=")
		if _, twice := values[name]; found && !twice && len(value) <= maxVariable {
			values[name] = value // the first is what getenv(3) gives
		}
	}
	var env []string
	ok := false
	for name, value := range values {
		use, display := s.use(name, value, values)
		if use {
			env = append(env, name+"="+value)
		}
		ok = ok || use && display
	}
	if !ok {
		return nil, false
	}
	slices.Sort(env)
	return env, true
}

// use says whether a variable may be passed on, and whether it names a display.
func (s surroundings) use(name, value string, all map[string]string) (use, display bool) {
	switch name {
	case "DISPLAY":
		m := localDisplay.FindStringSubmatch(value)
		return m != nil && s.socket("/tmp/.X11-unix/X"+m[1], false) && s.seenX("/tmp/.X11-unix/X"+m[1]), true
	case "WAYLAND_DISPLAY":
		dir := all["XDG_RUNTIME_DIR"]
		return plainName.MatchString(value) && s.runtimeDir(dir) && s.socket(filepath.Join(dir, value), true) && s.seen(filepath.Join(dir, value)), true
	case "XDG_RUNTIME_DIR":
		return s.runtimeDir(value), false
	case "XAUTHORITY":
		file, found := s.look(value)
		return found && file.mode.IsRegular() && file.own, false
	case "DBUS_SESSION_BUS_ADDRESS":
		return s.bus(value), false
	case "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "XDG_SESSION_ID", "LANG", "LANGUAGE":
		return plainName.MatchString(value), false
	}
	return strings.HasPrefix(name, "LC_") && plainName.MatchString(name) && plainName.MatchString(value), false
}

// runtimeDir accepts the system's own directory for this account, and another one only if nobody else can enter it.
func (s surroundings) runtimeDir(path string) bool {
	file, found := s.look(path)
	return found && file.mode.IsDir() && file.own && (path == systemRuntimeDir(s.uid) || file.mode.Perm() == 0o700)
}

// bus accepts one address of a bus on this machine: a socket of this account, or a name in the abstract space, as a
// session without a runtime directory has it. The GUID that may follow is the bus's own.
func (s surroundings) bus(address string) bool {
	if strings.ContainsAny(address, ";%") {
		return false // several addresses, or one that has to be decoded
	}
	where, guid, _ := strings.Cut(address, ",")
	if guid != "" && (!strings.HasPrefix(guid, "guid=") || !plainName.MatchString(strings.TrimPrefix(guid, "guid="))) {
		return false
	}
	if path, is := strings.CutPrefix(where, "unix:path="); is {
		return s.socket(path, true)
	}
	name, is := strings.CutPrefix(where, "unix:abstract=")
	return is && cleanAbsolute(name)
}

// socket reports whether a socket is there. An X server may run as root or as its own account.
func (s surroundings) socket(path string, ours bool) bool {
	file, found := s.look(path)
	return found && file.mode&fs.ModeSocket != 0 && (file.own || !ours)
}

func (s surroundings) look(path string) (fileFacts, bool) {
	if !cleanAbsolute(path) {
		return fileFacts{}, false
	}
	return s.file(path)
}

// cleanAbsolute accepts a path that is written in one way only, without control characters.
func cleanAbsolute(path string) bool {
	return strings.HasPrefix(path, "/") && filepath.ToSlash(filepath.Clean(path)) == path &&
		!strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func systemRuntimeDir(uid int) string { return "/run/user/" + strconv.Itoa(uid) }

// look looks at a file as the system has it.
func look(path string) (fileFacts, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return fileFacts{}, false
	}
	return fileFacts{mode: info.Mode(), own: ownFile(info)}, true
}
