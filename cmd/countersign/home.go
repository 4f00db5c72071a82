package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// startTimeout is how long a client waits for a core it started.
const startTimeout = 3 * time.Second

// dialOrStart connects to the core and starts one where nobody answers, unless that is forbidden. The core gets a
// composed environment, never the caller's.
func dialOrStart(ctx context.Context, dirs config.Dirs, pinned string, start bool) (*wire.Client, error) {
	client, err := core.Dial(ctx, dirs, pinned)
	if err == nil || !start || !errors.Is(err, wire.ErrNoCore) {
		return client, err
	}
	if problem := cannotStart(dirs, err); problem != nil {
		return nil, problem
	}
	self, berr := core.Self()
	if berr != nil {
		return nil, errors.Join(err, berr)
	}
	env, eerr := coreEnvironment(dirs)
	if eerr != nil {
		return nil, errors.Join(err, eerr)
	}
	if serr := desk.StartCore(self, []string{"serve", "--background"}, env); serr != nil {
		return nil, errors.Join(err, serr)
	}
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) {
		if client, err = core.Dial(ctx, dirs, pinned); err == nil || !errors.Is(err, wire.ErrNoCore) {
			return client, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, err
}

// startError is why nobody answers and no core was started, with what to do. It unwraps to what dialling said.
type startError struct {
	err       error
	text, fix string
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.err }

// Hint returns what to do, for a person.
func (e *startError) Hint() string { return e.fix }

// cannotStart says that a core started by a client would only end again, nil when it may come up: whoever calls need
// not wait for it.
func cannotStart(dirs config.Dirs, noCore error) error {
	conf, err := config.Load(dirs.File())
	switch {
	case err != nil:
		return &startError{noCore, "no core is running, and none can start: " + err.Error(), "mend the configuration and run " + serveCommand(dirs)}
	case !startsByItself(conf):
		return &startError{noCore, "no core is running, and it cannot start by itself, because it needs its passphrase typed", "run in a terminal: " + serveCommand(dirs)}
	}
	return nil
}

// serveCommand is what a person types to start the core of this very desk.
func serveCommand(dirs config.Dirs) string {
	if dirs.Home == "" {
		return "countersign serve"
	}
	return config.HomeVariable + "=" + shellQuote(dirs.Home) + " countersign serve"
}

// coreEnvironment composes the environment of a core that a client starts.
func coreEnvironment(dirs config.Dirs) ([]string, error) {
	home, err := core.AccountHome()
	if err != nil {
		return nil, err
	}
	env := []string{"HOME=" + home, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	if dirs.Home != "" {
		env = append(env, "COUNTERSIGN_HOME="+dirs.Home)
	}
	switch runtime.GOOS {
	case "linux":
		run := fmt.Sprintf("/run/user/%d", os.Getuid())
		if info, err := os.Lstat(run); err == nil && info.IsDir() {
			env = append(env, "XDG_RUNTIME_DIR="+run)
			if info, err := os.Lstat(run + "/bus"); err == nil && info.Mode()&os.ModeSocket != 0 {
				env = append(env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+run+"/bus")
			}
		}
	case "windows":
		// Windows programs need these to find the system at all.
		for _, name := range []string{"SystemRoot", "SystemDrive", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "TEMP"} {
			env = append(env, name+"="+os.Getenv(name))
		}
	}
	return env, nil
}

// sentenceOf turns an error into what a person reads: the sentence of its code, with a hint where there is one.
func sentenceOf(err error) string {
	var we *wire.Error
	if errors.As(err, &we) {
		return wireSentence(we)
	}
	text := err.Error()
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" && !strings.Contains(text, hinted.Hint()) {
		text += "\n" + hinted.Hint()
	}
	return text
}
