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
	"time"

	"countersign/backend/agents"
	"countersign/backend/agents/claude"
	"countersign/backend/config"
	"countersign/backend/desk"
	"countersign/backend/policy"
	"countersign/backend/server"
	"countersign/backend/wire"
)

// stopTimeout is how long a stopping core waits for its requests to be answered.
const stopTimeout = 10 * time.Second

type serveCmd struct {
	Background    bool `help:"Started by a client: never ask on a terminal." hidden:""`
	SetPassphrase bool `help:"Choose the desk passphrase that terminal answers need, and start."`
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

// startsByItself reports whether a hook could start this desk's core without a person: its key can be had without
// anybody typing. What the environment names does not count, because a core that a client starts does not get it.
func startsByItself(conf config.Config) bool {
	return conf.Identity.Store != desk.IdentityFile || conf.Identity.PassphraseFile != ""
}

// afterStop says what becomes of agents' calls once the core is stopped.
func afterStop(conf config.Config) string {
	if startsByItself(conf) {
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
	dirs, err := directories()
	if err != nil {
		return err
	}
	ask := newPassphraseAsker(s, !c.Background)
	core, err := startCore(ctx, dirs, coreOptions{passphrase: ask, setPassphrase: c.SetPassphrase, log: s, agents: agents.Known()})
	if err != nil {
		fmt.Fprintf(s.Err, "countersign: the core did not start. Configuration: %s, state: %s\n%s", dirs.File(), dirs.State, startProblem(dirs, err))
		return err
	}
	fmt.Fprintf(s.Err, "Countersign is running. Socket: %s. Stop it with Ctrl-C or countersign stop; %s.\n", dirs.Socket(), afterStop(core.config))
	rules := desk.FileRules(dirs.File(), core.config.Rules)
	warnUnknownTools(s.Err, rules.Rules)
	for _, u := range rules.Unreadable {
		fmt.Fprintf(s.Err, "Warning: %s\n", wireSentence(&wire.Error{Code: "source_unreadable", Args: map[string]string{"where": u.Where, "problem": u.Err}}))
	}
	if n := core.waiting(); n > 0 {
		fmt.Fprintf(s.Err, "%d waiting from before. See them with: countersign pending\n", n)
	}
	select {
	case <-ctx.Done():
	case <-core.done:
	}
	return core.close()
}

// coreOptions says how a core is started.
type coreOptions struct {
	passphrase    *passphraseAsker
	setPassphrase bool
	log           *streams // nil: no log
	agents        agents.Table
	throwAway     bool
}

// core is a desk with its server.
type core struct {
	desk   *desk.Desk
	server *server.Server
	config config.Config
	done   chan struct{} // closed when the server ended
	err    error         // why, after done
}

// startCore opens the desk in dirs and serves it on its socket.
func startCore(ctx context.Context, dirs config.Dirs, o coreOptions) (*core, error) {
	conf, err := config.Load(dirs.File())
	if err != nil {
		return nil, err
	}
	self, initPath, err := binaries()
	if err != nil {
		return nil, err
	}
	home, err := userHome()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	if o.log != nil {
		log = slog.New(slog.NewTextHandler(o.log.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	d, err := desk.Open(ctx, desk.Options{
		Dirs: dirs, Config: conf, OwnerHome: home, Binary: self, Init: initPath, Agents: o.agents,
		OwnPaths: claude.OwnPaths(home), Passphrase: o.passphrase.identity(ctx, conf, dirs), Create: true, ThrowAway: o.throwAway, Version: version, Log: log,
	})
	if err != nil {
		return nil, err
	}
	c := &core{desk: d, config: conf, done: make(chan struct{})}
	if err := c.ensurePassphrase(ctx, o); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	listener, err := server.Listen(dirs.Socket())
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	c.server, err = server.New(server.Options{Desk: d, Signer: d.Identity(), Epoch: d.Epoch(), Listener: listener, Log: log})
	if err != nil {
		return nil, errors.Join(err, listener.Close(), d.Close())
	}
	go func() {
		defer close(c.done)
		c.err = c.server.Serve()
	}()
	return c, nil
}

// ensurePassphrase sets the desk passphrase when it was asked for, or when this is the first start and a terminal is
// there. Without one, terminals cannot answer; nothing else depends on it.
func (c *core) ensurePassphrase(ctx context.Context, o coreOptions) error {
	if o.throwAway {
		return nil // nobody answers in a terminal
	}
	has, err := c.desk.HasPassphrase()
	if err != nil || has && !o.setPassphrase {
		return err
	}
	secret, err := o.passphrase.choose(ctx, c.config)
	if errors.Is(err, errNoTerminal) && !o.setPassphrase {
		return nil
	}
	if err != nil {
		return err
	}
	return c.desk.SetPassphrase(secret)
}

func (c *core) waiting() int { return c.desk.Waiting() }

// close stops serving, ends what runs and closes the store. Pending approvals stay.
func (c *core) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := c.server.Shutdown(ctx)
	<-c.done
	return errors.Join(err, c.err, c.desk.Close())
}

// isTerminal reports whether a person could be typing here.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0
}
