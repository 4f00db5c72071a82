package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	// HomeVariable puts state, configuration and runtime files under one directory.
	HomeVariable = "COUNTERSIGN_HOME"
	// FileName is the name of the configuration in the configuration directory.
	FileName = "config.toml"
	// SocketName is the name of the core's socket in the runtime directory.
	SocketName = "core.sock"

	// maxSocketPath is what every system takes: sun_path has 104 bytes on macOS and 108 on Linux (unix(7)).
	maxSocketPath = 100

	unixName  = "countersign" // in XDG directories
	titleName = "Countersign" // in Application Support and AppData
)

var (
	// ErrPath is a directory that cannot be used, with why and what to do.
	ErrPath = errors.New("unusable directory")
	// ErrNotForHooks says that hooks would look elsewhere.
	ErrNotForHooks = errors.New("hooks cannot find this desk")
)

// Dirs are the directories of one desk. All are absolute.
type Dirs struct {
	Home    string // what COUNTERSIGN_HOME or --home named; "" when the platform's places are used
	State   string // store, identity file, receipts
	Config  string // config.toml
	Runtime string // the socket
}

// Socket returns the path of the core's socket. On Windows a named pipe is derived from it.
func (d Dirs) Socket() string { return filepath.Join(d.Runtime, SocketName) }

// File returns the path of config.toml.
func (d Dirs) File() string { return filepath.Join(d.Config, FileName) }

// HookHome returns what a hook of this desk must be given as --home: the state directory for the account's own desk. A
// desk whose state directory comes from HOME or XDG_STATE_HOME is ErrNotForHooks, since a hook believes no environment.
func (d Dirs) HookHome() (string, error) {
	home := d.Home
	if home == "" {
		home = d.State
	}
	hook, err := ForHook(home)
	if err != nil {
		return "", err
	}
	if hook.State != d.State || hook.Socket() != d.Socket() {
		return "", fmt.Errorf("%w: %s, and hooks believe no environment. Set %s=%s for the core and for connect, so that hooks are told; or correct the variable",
			ErrNotForHooks, d.moved(), HomeVariable, filepath.Dir(d.State))
	}
	return home, nil
}

// moved says where the state directory lies and which variable put it there, where it is not the account's own.
func (d Dirs) moved() string {
	own, err := account()
	if err != nil {
		return "it lies in " + d.State
	}
	for _, name := range directoryVariables {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		alone, err := platform(func(asked string) string {
			if asked == name {
				return value
			}
			return ""
		})
		if err == nil && alone.State == d.State && alone.State != own.State {
			return fmt.Sprintf("it lies in %s because %s is %s, and the account's own lies in %s", d.State, name, value, own.State)
		}
	}
	return fmt.Sprintf("it lies in %s, and the account's own in %s", d.State, own.State)
}

// directoryVariables are what can move a desk's directories, the most specific first.
var directoryVariables = []string{"XDG_STATE_HOME", "HOME"}

// Resolve returns the directories: under home (the value of COUNTERSIGN_HOME) when it is not empty, else where the
// platform keeps such files, taken from env. It makes none of them.
func Resolve(home string, env func(string) string) (Dirs, error) {
	var d Dirs
	var err error
	if home != "" {
		d, err = under(home)
	} else {
		d, err = platform(env)
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return Dirs{}, fmt.Errorf("find directories: %w", err)
	}
	return d, nil
}

// ForHook returns the directories for a hook: those of the account, which is looked up in the system's account
// database, when its command line names no home or the account's own state directory; else those under home. No
// environment variable is read.
func ForHook(home string) (Dirs, error) {
	d, err := account()
	if home != "" && (err != nil || filepath.Clean(home) != d.State) {
		d, err = under(home)
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return Dirs{}, fmt.Errorf("find directories: %w", err)
	}
	return d, nil
}

func under(home string) (Dirs, error) {
	if !filepath.IsAbs(home) {
		return Dirs{}, fmt.Errorf("%w: %q: give %s (or --home) as an absolute path", ErrPath, home, HomeVariable)
	}
	home = filepath.Clean(home)
	// One name for one place: what is compared with it and what is hidden by it are real paths.
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	return Dirs{
		Home: home, State: filepath.Join(home, "state"), Config: filepath.Join(home, "config"), Runtime: filepath.Join(home, "run"),
	}, nil
}

// apart builds Dirs from a state and a configuration directory.
func apart(state, config string) Dirs {
	return Dirs{State: state, Config: config, Runtime: filepath.Join(state, "run")}
}

func (d Dirs) check() error {
	for _, dir := range []string{d.State, d.Config, d.Runtime} {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("%w: %q is not absolute", ErrPath, dir)
		}
		if strings.ContainsRune(dir, 0) {
			return fmt.Errorf("%w: %q holds a NUL byte", ErrPath, dir)
		}
	}
	return d.checkSocket()
}

// socketFits reports why path is too long for the address of a Unix socket.
func socketFits(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("%w: the socket would be %s, which has %d bytes where %d fit; choose a shorter directory with %s",
			ErrPath, path, len(path), maxSocketPath, HomeVariable)
	}
	return nil
}

// xdg returns the value of an XDG variable, or fallback. The specification says that a relative path is to be ignored.
func xdg(value, fallback string) string {
	if filepath.IsAbs(value) {
		return value
	}
	return fallback
}
