package core

import (
	"testing"

	"countersign/backend/agents"
	"countersign/backend/wire"
)

// TestStartedByAgent: an agent opened the desk on a display of its own and clicked Allow in it.
func TestStartedByAgent(t *testing.T) {
	desk, hook := wire.Process{PID: 50, Exe: "/opt/countersign-desk"}, wire.Process{PID: 40, Exe: "/opt/countersign"}
	agent, shell := wire.Process{PID: 30, Exe: "/usr/bin/claude"}, wire.Process{PID: 20, Exe: "/bin/zsh"}
	tests := []struct {
		name  string
		chain []wire.Process
		want  bool
	}{
		{"a person", []wire.Process{desk, shell}, false},
		{"a person's command line", []wire.Process{desk, hook, shell}, false},
		{"a hook", []wire.Process{desk, hook, agent, shell}, false},
		{"a hook that has ended", []wire.Process{desk, {PID: 1, Exe: "/sbin/init"}}, false},
		{"an agent", []wire.Process{desk, agent, shell}, true},
		{"an agent's shell", []wire.Process{desk, {PID: 35, Exe: "/bin/sh"}, agent, shell}, true},
		{"what calls itself our command line", []wire.Process{desk, {PID: 35, Exe: "/tmp/countersign", Name: "countersign"}, agent, shell}, true},
		{"a shell below our command line", []wire.Process{desk, {PID: 45, Exe: "/bin/sh"}, hook, agent, shell}, true},
		{"the agent itself", []wire.Process{agent, shell}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := startedByAgent(tt.chain, agents.Known(), func(exe string) bool { return exe == hook.Exe }); got != tt.want {
				t.Errorf("started by an agent: %t, want %t", got, tt.want)
			}
		})
	}
}
