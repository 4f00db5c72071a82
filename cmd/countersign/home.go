package main

import (
	"context"
	"errors"
	"strings"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/server"
	"countersign/backend/wire"
)

// meetForHook connects to the core and starts one where nobody answers, unless that is forbidden: the desk, hidden, on
// the display of whoever started the agent, else the core alone.
func meetForHook(ctx context.Context, dirs config.Dirs, pinned string, start bool) (*wire.Client, error) {
	if !start {
		return core.Dial(ctx, dirs, pinned)
	}
	return core.Meet(ctx, core.MeetOptions{
		Dirs: dirs, Pinned: pinned, Display: displayAboveAgent, Serve: serveCommand(dirs), Wait: core.StartWait,
		Arguments: []string{"--hidden"},
	})
}

// displayAboveAgent finds the display on which the agent that calls this hook was started.
func displayAboveAgent() ([]string, bool) {
	self, err := server.Self()
	if err != nil {
		return nil, false
	}
	return core.Display(self.Chain, agents.Known())
}

// serveCommand is what a person types to start the core of this very desk.
func serveCommand(dirs config.Dirs) string {
	if dirs.Home == "" {
		return "countersign serve"
	}
	return config.HomeVariable + "=" + shellQuote(dirs.Home) + " countersign serve"
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
