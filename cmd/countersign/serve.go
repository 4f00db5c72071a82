package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"countersign/backend/agents"
	"countersign/backend/agents/claude"
	"countersign/backend/config"
	"countersign/backend/desk"
	"countersign/backend/server"
)

// stopTimeout is how long a stopping core waits for its requests to be answered.
const stopTimeout = 10 * time.Second

type serveCmd struct {
	Background    bool `help:"Started by a client: never ask on a terminal." hidden:""`
	SetPassphrase bool `help:"Choose the desk passphrase that terminal answers need, and start."`
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
		fmt.Fprintf(s.Err, "countersign: the core did not start. Configuration: %s, state: %s\n", dirs.File(), dirs.State)
		return err
	}
	fmt.Fprintf(s.Err, "Countersign is running. Socket: %s. Stop it with Ctrl-C; agents are then refused.\n", dirs.Socket())
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
		OwnPaths: claude.OwnPaths(home), Passphrase: o.passphrase.identity(conf), Create: true, ThrowAway: o.throwAway, Version: version, Log: log,
	})
	if err != nil {
		return nil, err
	}
	c := &core{desk: d, config: conf, done: make(chan struct{})}
	if err := c.ensurePassphrase(o); err != nil {
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
func (c *core) ensurePassphrase(o coreOptions) error {
	if o.throwAway {
		return nil // nobody answers in a terminal
	}
	has, err := c.desk.HasPassphrase()
	if err != nil || has && !o.setPassphrase {
		return err
	}
	secret, err := o.passphrase.choose(c.config)
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
