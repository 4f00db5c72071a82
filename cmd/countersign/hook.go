package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"countersign/backend/agents/claude"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/wire"
)

// hookCmd is what an agent's settings call. It believes its own arguments and nothing in the environment: a repository
// can set the environment of its agent.
type hookCmd struct {
	Agent   string `arg:"" help:"Which agent's protocol to speak: claude."`
	Home    string `required:"" help:"The desk's directory, as connect wrote it."`
	Name    string `name:"agent" help:"The agent's name, as connect wrote it."`
	Core    string `help:"Fingerprint of the core's key; another core is refused."`
	NoStart bool   `help:"Never start a core."`
}

func (c *hookCmd) Run(s *streams) error {
	if c.Agent != "claude" {
		// Whoever asks cannot be answered in a protocol we do not know; a failing exit status is all there is.
		return fmt.Errorf("no adapter for agent %q; there is one for: claude", escape(c.Agent, false))
	}
	self, err := core.Self()
	if err != nil {
		self = ""
	}
	// The agent withdraws a call by SIGTERM.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serve := "countersign serve"
	if dirs, err := config.ForHook(c.Home); err == nil {
		serve = serveCommand(dirs)
	}
	code := claude.Hook(ctx, claude.HookOptions{
		Stdin: s.In, Stdout: s.Out, Stderr: s.Err, Binary: self, Home: c.Home, Serve: serve,
		Connect: func(ctx context.Context) (claude.Desk, error) {
			dirs, err := config.ForHook(c.Home)
			if err != nil {
				return nil, err
			}
			client, err := meetForHook(ctx, dirs, c.Core, !c.NoStart)
			if err != nil {
				return nil, err
			}
			return client, nil
		},
	})
	if code != 0 {
		return status(code)
	}
	return nil
}

var _ claude.Desk = (*wire.Client)(nil)
