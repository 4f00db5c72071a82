package core

import (
	"os"

	"countersign/backend/agents"
	"countersign/backend/server"
	"countersign/backend/wire"
)

// StartedByAgent reports whether this process was started by an agent, and not by a person or by a hook of ours: what
// is the owner's screen must not be one that an agent has opened where it can look and click. Of a process that left
// its ancestry it says no.
func StartedByAgent(known agents.Table) (bool, error) {
	self, err := server.Self()
	if err != nil {
		return false, err
	}
	program, err := beside(programName)
	if err != nil {
		return false, err
	}
	return startedByAgent(self.Chain, known, func(exe string) bool { return sameFile(exe, program) }), nil
}

// startedByAgent says so of the first process of a chain. ours recognises our command line: its hook opens the window
// below an agent, on a display that is not the agent's to choose (Display), and its other commands refuse agents
// themselves.
func startedByAgent(chain []wire.Process, known agents.Table, ours func(exe string) bool) bool {
	if _, below := known.Find(chain); !below {
		return false
	}
	return len(chain) < 2 || !ours(chain[1].Exe)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
