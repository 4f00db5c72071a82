package main

import (
	"context"
	"errors"
	"fmt"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/wire"
)

type stopCmd struct{}

// Run ends the running core as Ctrl-C in its terminal does (core.Stop).
func (stopCmd) Run(s *streams) error {
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	pid, err := core.Stop(context.Background(), dirs)
	if errors.Is(err, wire.ErrNoCore) {
		_, err := fmt.Fprintln(s.Out, "No core is running.")
		return err
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Stopped (process %d).", pid)
	// A configuration that cannot be read starts nothing.
	if conf, err := config.Load(dirs.File()); err == nil {
		fmt.Fprintf(s.Out, " What waits is kept; %s.", afterStop(conf))
	}
	_, err = fmt.Fprintln(s.Out)
	return err
}

// runningCore returns the process id of the core that runs for this desk, 0 when none says.
func runningCore() int {
	var st wire.Status
	err := withCore(func(ctx context.Context, client *wire.Client) error {
		return client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st)
	})
	if err != nil {
		return 0
	}
	return st.PID
}
