package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

type stopCmd struct{}

// Run ends the running core as Ctrl-C in its terminal does (core.Stop).
func (stopCmd) Run(s *streams) error {
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	trial := trialWaits()
	pid, err := core.Stop(context.Background(), dirs)
	if errors.Is(err, wire.ErrNoCore) {
		_, err := fmt.Fprintln(s.Out, "No core is running.")
		return err
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Stopped (process %d).", pid)
	if trial {
		fmt.Fprint(s.Out, " The test request that waited has ended with it, unanswered.")
	}
	// A configuration that cannot be read starts nothing.
	if conf, err := config.Load(dirs.File()); err == nil {
		fmt.Fprintf(s.Out, " What agents wait for is kept; %s.", afterStop(conf))
	}
	_, err = fmt.Fprintln(s.Out)
	return err
}

// trialWaits reports whether a test request of the desk waits for its answer. It is the core's own, so unlike an agent's
// call it does not outlive the core.
func trialWaits() (waits bool) {
	err := withCore(func(ctx context.Context, client *wire.Client) error {
		var list wire.Questions
		if err := client.Do(ctx, wire.ActionListQuestions, wire.ListQuestions{Brief: true}, &list); err != nil {
			return err
		}
		waits = slices.ContainsFunc(list.Questions, func(q wire.Question) bool { return q.Agent == desk.TrialAgent })
		return nil
	})
	return err == nil && waits // a core that cannot be asked can still be stopped
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
