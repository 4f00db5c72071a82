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
