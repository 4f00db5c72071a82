package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

type serveCmd struct {
	Background    bool `help:"Started by a client: never ask on a terminal." hidden:""`
	SetPassphrase bool `help:"Choose the desk passphrase that terminal answers need, and start. Where one is set, it is asked for first."`

	HTTP  string `name:"http" placeholder:"ADDR" help:"Serve the desk to browsers of this machine too, e.g. on localhost:8765, by links that are shown here. They may look."`
	Owner bool   `help:"With --http: browsers that come with a link answer as you do. Needs the desk passphrase."`
}

// Validate implements kong's check of what was typed.
func (c *serveCmd) Validate() error {
	if c.Owner && c.HTTP == "" {
		return errors.New("--owner is about browsers: give --http ADDR too")
	}
	return nil
}

// Codes of what keeps a core from starting (state.Fault).
const (
	codeLocked  = "store_locked"
	codeKeyring = "keyring_" // what every fault of the keyring begins with
)

// startProblem says what a person can do when the core did not start, beyond what the error itself says; "" where that
// is all.
func startProblem(dirs config.Dirs, err error) string {
	if errors.Is(err, errInterrupted) {
		return ""
	}
	var coded interface{ Code() string }
	code := ""
	if errors.As(err, &coded) {
		code = coded.Code()
	}
	switch {
	case code == codeLocked:
		if pid := runningCore(); pid != 0 {
			return fmt.Sprintf("A core of this desk runs already, as process %d. End it with: countersign stop\n", pid)
		}
	case strings.HasPrefix(code, codeKeyring):
		return "Without a keyring, step by step:\n" +
			"  1. mkdir -p " + shellQuote(dirs.Config) + "\n" +
			"  2. put these two lines into " + escape(dirs.File(), false) + ":\n" +
			"         [identity]\n" +
			"         store = \"file\"\n" +
			"  3. countersign serve          (in a terminal; it lets you choose a passphrase)\n"
	}
	return ""
}

// shellQuote writes text as one word for a POSIX shell, to be copied by a person.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(escape(text, false), "'", `'\''`) + "'"
}

// afterStop says what becomes of agents' calls once the core is stopped.
func afterStop(conf config.Config) string {
	if core.StartsByItself(conf) {
		return "the next call of a connected agent starts the core again, unless it was connected with --no-start"
	}
	return "calls of connected agents are refused until it runs again"
}

// warnUnknownTools names the rules that cover nothing because no tool has that name.
func warnUnknownTools(w io.Writer, rules []policy.SourcedRule) {
	for _, r := range rules {
		if note := unknownTool(r.Rule); note != "" {
			fmt.Fprintf(w, "Warning: %s rule %s: %s\n", r.List, escape(r.Rule.String(), false), note)
		}
	}
}

// unknownTool says that a rule names a tool that nobody knows, "" when it is known. Tools of MCP servers are named by
// whoever wrote them, and a pattern may mean any.
func unknownTool(r policy.Rule) string {
	tool := r.Tool()
	if policy.KnownTool(tool) || strings.HasPrefix(tool, "mcp__") || strings.ContainsAny(tool, "*?[{") {
		return ""
	}
	return "no tool is called " + escape(tool, false) + ", so it covers nothing unless an agent brings a tool of that name"
}

func (c *serveCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.Owner || c.SetPassphrase {
		if err := notForAgents(); err != nil {
			return err
		}
	}
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var door *browserDoor
	if c.HTTP != "" {
		if door, err = listenForBrowsers(c.HTTP, c.Owner); err != nil {
			return err
		}
	}
	running, err := c.startCore(ctx, s, dirs, log)
	if err != nil {
		if door != nil {
			_ = door.close()
		}
		fmt.Fprintf(s.Err, "countersign: the core did not start. Configuration: %s, state: %s\n%s", dirs.File(), dirs.State, startProblem(dirs, err))
		return err
	}
	fmt.Fprintf(s.Err, "Countersign is running. Socket: %s. Stop it with Ctrl-C or countersign stop; %s.\n", dirs.Socket(), afterStop(running.Config))
	rules := desk.FileRules(dirs.File(), running.Config.Rules)
	warnUnknownTools(s.Err, rules.Rules)
	for _, u := range rules.Unreadable {
		fmt.Fprintf(s.Err, "Warning: %s\n", wireSentence(&wire.Error{Code: "source_unreadable", Args: map[string]string{"where": u.Where, "problem": u.Err}}))
	}
	if n := running.Desk.Waiting(); n > 0 {
		fmt.Fprintf(s.Err, "%d waiting from before. See them with: countersign pending\n", n)
	}
	if door == nil {
		select {
		case <-ctx.Done():
		case <-running.Done():
		}
		return running.Close()
	}
	err = door.open(running.Desk, log)
	for showing := err == nil; showing; {
		door.showLink(s.Err)
		select {
		case <-door.used:
			continue
		case <-ctx.Done():
		case <-running.Done():
		case <-door.done:
		}
		showing = false
	}
	return errors.Join(err, door.close(), running.Close())
}

// startCore opens this person's desk and serves it. The desk passphrase, which terminal answers need, is set when it was
// asked for, or when this is the first start and a terminal is there; nothing else depends on it.
func (c *serveCmd) startCore(ctx context.Context, s *streams, dirs config.Dirs, log *slog.Logger) (*core.Core, error) {
	ask := newPassphraseAsker(s, !c.Background)
	return core.Start(ctx, core.Options{
		Dirs: dirs, Passphrase: ask.identity(ctx, dirs), Agents: agents.Known(), Version: version, Log: log,
	}, func(d *desk.Desk, conf config.Config) error {
		if err := c.setPassphrase(ctx, ask, d, conf); err != nil || !c.Owner {
			return err
		}
		return proveOwner(ctx, ask, d, conf)
	})
}

func (c *serveCmd) setPassphrase(ctx context.Context, ask *passphraseAsker, d *desk.Desk, conf config.Config) error {
	has, err := d.HasPassphrase()
	if err != nil || has && !c.SetPassphrase {
		return err
	}
	if has {
		return changePassphrase(ctx, ask, d, conf)
	}
	if conf.Identity.Store != desk.IdentityFile && notForAgents() != nil {
		return nil // a core that an agent started: the owner chooses later. A file identity was opened with it already
	}
	secret, err := ask.choose(ctx, conf)
	if errors.Is(err, errNoTerminal) && !c.SetPassphrase {
		return nil
	}
	if err != nil {
		return err
	}
	return d.SetPassphrase(secret)
}

// changePassphrase replaces the desk passphrase, for who knows it: whoever has a terminal in this account may not be
// the owner, and could answer with a passphrase of their own.
func changePassphrase(ctx context.Context, ask *passphraseAsker, d *desk.Desk, conf config.Config) error {
	// What opened the identity, or stands in the named file, is mostly the one that is set.
	old, err := ask.known(conf)
	if err == nil {
		err = d.CheckPassphrase(old)
	}
	if errors.Is(err, errNoTerminal) || desk.WrongPassphrase(err) {
		old, err = typedPassphrase(ctx, ask, d, "Desk passphrase until now: ")
	}
	if errors.Is(err, errNoTerminal) {
		return errors.New("--set-passphrase replaces the desk passphrase that is set, which has to be typed on a terminal first")
	}
	if err != nil {
		return err
	}
	next, err := ask.choose(ctx, conf)
	if err != nil {
		return err
	}
	return d.ChangePassphrase(old, next)
}

// isTerminal reports whether a person could be typing here.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0
}
