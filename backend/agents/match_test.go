package agents

import (
	"testing"

	"countersign/backend/wire"
)

var (
	hook   = wire.Process{PID: 9, Exe: "/opt/countersign"}
	shell  = wire.Process{PID: 8, Exe: "/usr/bin/bash", Args: []string{"bash", "-c", "claude"}}
	inner  = wire.Process{PID: 7, Exe: "/x/@anthropic-ai/claude-code/bin/claude.exe"}
	outer  = wire.Process{PID: 6, Exe: "/usr/bin/node", Args: []string{"node", "/y/@anthropic-ai/claude-code/cli.js"}}
	system = wire.Process{PID: 1, Exe: "/usr/lib/systemd/systemd"}
)

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		name     string
		agent    string
		chain    []wire.Process
		index    int
		verified bool
	}{
		{"shells between are passed over", "claude", []wire.Process{hook, shell, shell, inner, system}, 3, true},
		{"the nearest of two", "claude", []wire.Process{hook, inner, shell, outer}, 1, true},
		{"the nearest of two, not verified", "claude", []wire.Process{hook, shell, outer, inner}, 2, false},
		{"not there", "claude", []wire.Process{hook, shell, system}, -1, false},
		{"unknown agent", "other", []wire.Process{hook, inner}, -1, false},
		{"empty chain", "claude", nil, -1, false},
	} {
		index, verified := Match(tc.agent, tc.chain)
		if index != tc.index || verified != tc.verified {
			t.Errorf("%s: %d, %v", tc.name, index, verified)
		}
	}
}

func TestFind(t *testing.T) {
	demo := Known().With("demo", func(p wire.Process) (bool, bool) { return p.PID == 8, true })
	for _, tc := range []struct {
		name  string
		table Table
		chain []wire.Process
		agent string
	}{
		{"nearest", demo, []wire.Process{hook, shell, inner}, "demo"},
		{"only the other", Known(), []wire.Process{hook, shell, outer}, "claude"},
		{"none", Known(), []wire.Process{hook, system}, ""},
		{"zero table", Table{}, []wire.Process{inner}, ""},
	} {
		agent, ok := tc.table.Find(tc.chain)
		if agent != tc.agent || ok != (tc.agent != "") {
			t.Errorf("%s: %q, %v", tc.name, agent, ok)
		}
	}
	if got := (Table{}).With("demo", nil).Names(); len(got) != 1 {
		t.Error(got)
	}
}

// An agent without an adapter is an agent all the same: codex, started in a shell where the owner had typed the
// passphrase, answered in the owner's place.
func TestOtherAgentsAreFound(t *testing.T) {
	shell := wire.Process{PID: 2, Exe: "/usr/bin/bash", Name: "bash"}
	for name, p := range map[string]wire.Process{
		"codex":    {PID: 3, Exe: "/opt/codex/bin/codex", Name: "codex"},
		"gemini":   {PID: 3, Exe: "/usr/bin/node", Name: "node", Args: []string{"node", "/usr/local/bin/gemini"}},
		"opencode": {PID: 3, Exe: "/usr/bin/node", Name: "node", Args: []string{"node", "/x/node_modules/opencode/bin/run.js"}},
		"aider":    {PID: 3, Exe: "/usr/bin/python3.11", Name: "aider", Args: []string{"python3", "/home/u/.local/bin/aider"}},
	} {
		if got, ok := Known().Find([]wire.Process{{PID: 4, Exe: "/opt/countersign"}, p, shell}); !ok || got != name {
			t.Errorf("%s: found %q, %v", name, got, ok)
		}
	}
	if got, ok := Known().Find([]wire.Process{{PID: 4, Exe: "/opt/countersign", Args: []string{"countersign", "status", "claude"}}, shell}); ok {
		t.Errorf("a person's own terminal was taken for %q", got)
	}
}
