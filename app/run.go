package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/wailsapp/wails/v2"

	"countersign/app/i18n"
	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/wire"
	"countersign/frontend"
)

// handOverTimeout bounds handing a link to the window that runs.
const handOverTimeout = 3 * time.Second

// Run is the program. It returns the exit status: 0 ok, 1 failed, 2 usage. icon is a PNG.
func Run(version string, icon []byte, args []string) (status int) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	defer func() {
		// The window library panics where there is no display.
		if p := recover(); p != nil {
			log.Error("the window could not be opened", "panic", p, "stack", string(debug.Stack()))
			fmt.Fprintln(os.Stderr, "countersign-desk: the window could not be opened. Without a screen: countersign serve")
			status = 1
		}
	}()
	f, err := parseFlags(args, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := run(version, icon, f, log); err != nil {
		fmt.Fprintln(os.Stderr, "countersign-desk:", err)
		return 1
	}
	return 0
}

func run(version string, icon []byte, f flags, log *slog.Logger) error {
	dirs, err := directories(f)
	if err != nil {
		return err
	}
	// A core that runs refuses agents. Where none runs, this process would become the owner's screen. A throw-away desk
	// is nobody's.
	if f.demo == "" {
		if err := notForAgents(core.StartedByAgent(agents.Known())); err != nil {
			return err
		}
	}
	// Before anything of the window: its library would start, and run our code, before it noticed another instance.
	if done, err := handOver(context.Background(), dirs, f); done || err != nil {
		return err
	}
	unlock, err := lockWindow(dirs)
	if errors.Is(err, errHeld) {
		return startingAlready(f)
	}
	if err != nil {
		return err
	}
	defer unlock()
	pages, err := frontend.Pages()
	if err != nil {
		return err
	}
	prepareEnvironment()
	s := newShell(version, f, dirs, probe(context.Background()), log)
	if err := wails.Run(s.windowOptions(pages, icon)); err != nil {
		return fmt.Errorf("open the window: %w", err)
	}
	unlock()
	return s.startAgain()
}

// notForAgents refuses a start that is, or may be, an agent's.
func notForAgents(byAgent bool, err error) error {
	if err != nil || byAgent {
		return errors.Join(errors.New(i18n.T(i18n.Language(i18n.System, os.Getenv), "app.not_for_agents", nil)), err)
	}
	return nil
}

// startingAlready is what a second start does while the first one's core does not answer yet.
func startingAlready(f flags) error {
	if f.hidden && f.url == "" {
		return nil
	}
	return errors.New(i18n.T(i18n.Language(i18n.System, os.Getenv), "app.already_starting", nil))
}

// directories says which desk this is.
func directories(f flags) (config.Dirs, error) {
	if f.demo != "" {
		return demoDirectories(f.demo)
	}
	return core.Directories()
}

// handOver gives the link to the window that runs for this desk. done is false where there is none: then this process
// becomes it, and what holds the store is shown there.
func handOver(ctx context.Context, dirs config.Dirs, f flags) (done bool, err error) {
	client, err := core.Dial(ctx, dirs, "")
	if err != nil {
		return false, nil
	}
	defer func() { _ = client.Close() }() // nothing is under way
	ctx, cancel := context.WithTimeout(ctx, handOverTimeout)
	defer cancel()
	var st wire.Status
	if err := client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st); err != nil || !st.Window {
		return false, nil
	}
	if f.hidden && f.url == "" {
		return true, nil // it is there, and nobody asks to see it
	}
	if err := client.Do(ctx, wire.ActionOpenLink, wire.OpenLink{URL: f.url}, nil); err != nil {
		code := "no_answer"
		var answered *wire.Error
		if errors.As(err, &answered) {
			code = answered.Code
		}
		return true, errors.New(i18n.T(i18n.Language(i18n.System, os.Getenv), "app.already_elsewhere", map[string]string{"code": code}))
	}
	return true, nil
}
