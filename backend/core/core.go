package core

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"countersign/backend/agents"
	"countersign/backend/agents/claude"
	"countersign/backend/config"
	"countersign/backend/desk"
	"countersign/backend/server"
)

// StopTimeout is how long a stopping core waits for its requests to be answered.
const StopTimeout = 10 * time.Second

// Options says how a core is started.
type Options struct {
	Dirs config.Dirs
	// Passphrase unlocks or protects a file identity, by the configuration that was read; nil where nobody can be asked.
	Passphrase func(config.Config) (desk.Secret, error)
	Agents     agents.Table
	ThrowAway  bool // nothing of this desk outlives the process that made its passphrase
	Version    string
	Log        *slog.Logger // nil: no log
}

// Core is a desk with its server.
type Core struct {
	Desk   *desk.Desk
	Config config.Config
	server *server.Server
	done   chan struct{} // closed when the server ended
	err    error         // why, after done
}

// Start opens the desk and serves it on its socket. prepare, when not nil, is called before anybody is served; its error
// ends the start.
func Start(ctx context.Context, o Options, prepare func(*desk.Desk, config.Config) error) (*Core, error) {
	conf, err := config.Load(o.Dirs.File())
	if err != nil {
		return nil, err
	}
	self, initPath, err := Programs()
	if err != nil {
		return nil, err
	}
	home, err := AccountHome()
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var passphrase func() (desk.Secret, error)
	if o.Passphrase != nil {
		passphrase = func() (desk.Secret, error) { return o.Passphrase(conf) }
	}
	// Without a classifier that can be asked, auto mode asks the owner.
	classifier, _, err := desk.OpenClassifier(ctx, conf, o.Dirs.State)
	if err != nil {
		o.Log.Error("the classifier cannot be used, so auto mode asks you", "error", err)
	}
	d, err := desk.Open(ctx, desk.Options{
		Dirs: o.Dirs, Config: conf, OwnerHome: home, Binary: self, Init: initPath, Agents: o.Agents,
		OwnPaths: claude.OwnPaths(home), Passphrase: passphrase, Create: true, ThrowAway: o.ThrowAway, Version: o.Version, Log: o.Log, Classifier: classifier,
	})
	if err != nil {
		return nil, err
	}
	if prepare != nil {
		if err := prepare(d, conf); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	listener, err := server.Listen(o.Dirs.Socket())
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	c := &Core{Desk: d, Config: conf, done: make(chan struct{})}
	c.server, err = server.New(server.Options{Desk: d, Signer: d.Identity(), Epoch: d.Epoch(), Listener: listener, Log: o.Log})
	if err != nil {
		return nil, errors.Join(err, listener.Close(), d.Close())
	}
	go func() {
		defer close(c.done)
		c.err = c.server.Serve()
	}()
	return c, nil
}

// Done is closed when the server ended, by Close or by itself.
func (c *Core) Done() <-chan struct{} { return c.done }

// Close stops serving, ends what runs and closes the store. Pending approvals stay.
func (c *Core) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), StopTimeout)
	defer cancel()
	err := c.server.Shutdown(ctx)
	<-c.done
	return errors.Join(err, c.err, c.Desk.Close())
}
