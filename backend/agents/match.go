package agents

import (
	"maps"
	"slices"

	"countersign/backend/agents/claude"
	"countersign/backend/wire"
)

// Recognise reports whether a process is an agent's root process, and whether its program's own path tells it
// (verified) or only what it claims about itself.
type Recognise func(wire.Process) (match, verified bool)

// Table is the known agents by name. The zero Table knows none.
type Table struct {
	known map[string]Recognise
}

// Known is the table of all adapters, and of the agents that have none yet.
func Known() Table {
	known := map[string]Recognise{claude.Name: claude.Recognise}
	for _, name := range others {
		known[name] = byName(name)
	}
	return Table{known: known}
}

// With returns the table with a further agent, for programs that bring their own: a demonstration, a test.
func (t Table) With(agent string, r Recognise) Table {
	known := maps.Clone(t.known)
	if known == nil {
		known = map[string]Recognise{}
	}
	known[agent] = r
	return Table{known: known}
}

// Names lists the agents, sorted.
func (t Table) Names() []string { return slices.Sorted(maps.Keys(t.known)) }

// Match finds the root process of the named agent in a chain that starts with the peer and goes on with its ancestors:
// the nearest that matches, since an agent may run below another one. Shells and other programs between are passed
// over. The index is -1 when it is not there, or the agent is unknown.
func (t Table) Match(agent string, chain []wire.Process) (index int, verified bool) {
	recognise, ok := t.known[agent]
	if !ok {
		return -1, false
	}
	for i, p := range chain {
		if match, verified := recognise(p); match {
			return i, verified
		}
	}
	return -1, false
}

// Find reports the nearest known agent in a chain: who is below it holds an agent's authority and no other.
func (t Table) Find(chain []wire.Process) (agent string, ok bool) {
	names := t.Names()
	for _, p := range chain {
		for _, name := range names {
			if match, _ := t.known[name](p); match {
				return name, true
			}
		}
	}
	return "", false
}

// Match is Known().Match.
func Match(agent string, chain []wire.Process) (index int, verified bool) {
	return Known().Match(agent, chain)
}
