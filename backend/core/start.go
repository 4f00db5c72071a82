package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"countersign/backend/config"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// StartWait is how long a client that nobody watches waits for a core it started.
const StartWait = 3 * time.Second

// dialPause is how long a client waits before it looks for a starting core again.
const dialPause = 50 * time.Millisecond

// MeetOptions says how a core is met that may not run.
type MeetOptions struct {
	Dirs   config.Dirs
	Pinned string // fingerprint that the core must have, "" for any
	// Display says where a window can be opened (Display, OwnDisplay); nil where none may be.
	Display func() (env []string, ok bool)
	Serve   string // what a person types to start this desk's core in a terminal
	Wait    time.Duration
	// Window starts nothing but the window. Arguments are the window's: none opens it, "--hidden" leaves it in the tray.
	Window    bool
	Arguments []string
}

// Meet connects to the core and starts one where nobody answers: the desk where a window can be opened, else the core
// alone. What is started gets a composed environment, never the caller's. Of its errors *StartError says what to do.
func Meet(ctx context.Context, o MeetOptions) (*wire.Client, error) {
	client, noCore := Dial(ctx, o.Dirs, o.Pinned)
	if noCore == nil || !errors.Is(noCore, wire.ErrNoCore) {
		return client, noCore
	}
	start, err := o.start(noCore)
	if err != nil {
		return nil, err
	}
	if err := desk.StartCore(start.program, start.arguments, start.environment); err != nil {
		return nil, errors.Join(noCore, err)
	}
	client, err = o.await(ctx)
	if err != nil && errors.Is(err, wire.ErrNoCore) && start.silence.text != "" {
		return nil, start.silence.error(err)
	}
	return client, err
}

// await looks for the core until it is there or the time is over.
func (o MeetOptions) await(ctx context.Context) (client *wire.Client, err error) {
	deadline := time.Now().Add(o.Wait)
	for {
		client, err = Dial(ctx, o.Dirs, o.Pinned)
		if err == nil || !errors.Is(err, wire.ErrNoCore) || time.Now().After(deadline) {
			return client, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(dialPause):
		}
	}
}

// StartError is why nobody answers, and why no core was started or none came up, with what to do. It unwraps to what
// dialling said.
type StartError struct {
	err       error
	text, fix string
}

func (e *StartError) Error() string { return e.text }
func (e *StartError) Unwrap() error { return e.err }

// Hint returns what to do, for a person.
func (e *StartError) Hint() string { return e.fix }

// sentence is what a StartError says.
type sentence struct{ text, fix string }

func (s sentence) error(err error) error { return &StartError{err: err, text: s.text, fix: s.fix} }

// starting is what is going to be started, and what is said if it does not answer in time.
type starting struct {
	program     string
	arguments   []string
	environment []string
	silence     sentence // none: what dialling said
}

// start says what to start.
func (o MeetOptions) start(noCore error) (starting, error) {
	conf, err := config.Load(o.Dirs.File())
	if err != nil {
		return starting{}, sentence{"no core is running, and none can start: " + err.Error(), "mend the configuration and run " + o.Serve}.error(noCore)
	}
	var display []string
	hasDisplay := false
	window, installed := DeskInstalled()
	if installed && o.Display != nil {
		display, hasDisplay = o.Display()
	}
	kind, no := planStart(facts{
		installed: installed, display: hasDisplay, byItself: StartsByItself(conf), window: o.Window, serve: o.Serve,
	})
	if no.text != "" {
		return starting{}, no.error(noCore)
	}
	out := starting{program: window, arguments: o.Arguments}
	if out.environment, err = Environment(o.Dirs, display); err != nil {
		return starting{}, errors.Join(noCore, err)
	}
	if kind == startCore {
		out.arguments = []string{"serve", "--background"}
		if out.program, err = Self(); err != nil {
			return starting{}, errors.Join(noCore, err)
		}
		return out, nil
	}
	out.silence = silence(StartsByItself(conf), o.Wait)
	return out, nil
}

// startKind is what is started.
type startKind string

const (
	startWindow startKind = "window"
	startCore   startKind = "core"
)

// facts is what planStart decides by.
type facts struct {
	installed bool // the window's program is there
	display   bool // a window can be opened
	byItself  bool // the core needs nothing typed
	window    bool // nothing but the window will do
	serve     string
}

// planStart says what to start, or why nothing would come up: whoever calls need not wait for it.
func planStart(f facts) (startKind, sentence) {
	switch {
	case f.installed && f.display:
		return startWindow, sentence{} // where it needs a passphrase its window asks for it
	case f.window && !f.installed:
		return "", sentence{"no core is running, and the desk's window is not installed here", "run in a terminal: " + f.serve}
	case f.window:
		return "", sentence{"no core is running, and there is no display to open the desk's window on", "run in a terminal: " + f.serve}
	case !f.byItself:
		return "", sentence{"no core is running, and it cannot start by itself, because it needs its passphrase typed", "run in a terminal: " + f.serve}
	}
	return startCore, sentence{}
}

// silence is what is said about a window that was started and whose core does not answer yet.
func silence(byItself bool, wait time.Duration) sentence {
	if !byItself {
		return sentence{"the desk was started, and its window waits for the passphrase", "type it in the desk's window"}
	}
	return sentence{
		fmt.Sprintf("the desk was started and did not answer within %d seconds", int(wait.Seconds())),
		"look at the desk's window: it says what it waits for",
	}
}

// StartsByItself reports whether a core of this desk can start without a person: its key can be had without anybody
// typing. What the environment names does not count, because a core that a client starts does not get it.
func StartsByItself(conf config.Config) bool {
	return conf.Identity.Store != desk.IdentityFile || conf.Identity.PassphraseFile != ""
}

// DeskInstalled returns the window's program where it lies beside the one that runs.
func DeskInstalled() (program string, ok bool) {
	program, err := DeskProgram()
	if err != nil {
		return "", false
	}
	info, err := os.Stat(program)
	return program, err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// Environment composes the environment of a core, or a window, that a client starts. display is from Display or
// OwnDisplay; what it names goes before what is composed here.
func Environment(dirs config.Dirs, display []string) ([]string, error) {
	home, err := AccountHome()
	if err != nil {
		return nil, err
	}
	env := []string{"HOME=" + home, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	if dirs.Home != "" {
		env = append(env, config.HomeVariable+"="+dirs.Home)
	}
	switch runtime.GOOS {
	case "linux":
		env = append(env, sessionVariables(os.Getuid())...)
	case "windows":
		// Windows programs need these to find the system at all.
		for _, name := range []string{"SystemRoot", "SystemDrive", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "TEMP"} {
			env = append(env, name+"="+os.Getenv(name))
		}
	}
	return over(env, display), nil
}

// sessionVariables name the account's runtime directory and bus where the system itself keeps them.
func sessionVariables(uid int) []string {
	run := systemRuntimeDir(uid)
	info, err := os.Lstat(run)
	if err != nil || !info.IsDir() {
		return nil
	}
	env := []string{"XDG_RUNTIME_DIR=" + run}
	if info, err := os.Lstat(run + "/bus"); err == nil && info.Mode()&os.ModeSocket != 0 {
		env = append(env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+run+"/bus")
	}
	return env
}

// over returns the variables of base, and of top in their place where both have one.
func over(base, top []string) []string {
	name := func(variable string) string { n, _, _ := strings.Cut(variable, "="); return n }
	out := slices.DeleteFunc(slices.Clone(base), func(b string) bool {
		return slices.ContainsFunc(top, func(t string) bool { return name(t) == name(b) })
	})
	return append(out, top...)
}
