package desk

import (
	"context"
	"sync"
	"time"

	"countersign/backend/approval"
	"countersign/backend/state"
	"countersign/backend/wire"
)

// presenceTTL is how long a typed passphrase counts for one terminal session.
const presenceTTL = 15 * time.Minute

// presence remembers which terminal sessions proved that the owner is there. A terminal alone proves nothing: a
// program can make one and leave its ancestry. So it takes the passphrase, typed on that terminal; it is kept in
// memory only and ends with the core.
type presence struct {
	clock approval.Clock

	mu          sync.Mutex // guards both maps
	until       map[terminal]time.Time
	connections map[uint64]time.Time // those that typed the passphrase themselves
}

// freshProcess is how old a process may be that answers on the strength of an earlier passphrase.
const freshProcess = 5 * time.Second

// terminal names one terminal session: its device, its POSIX session and that session's leader.
type terminal struct {
	tty     uint64
	session int
	leader  uint64 // start time of the leader, 0 when it is not an ancestor of the peer
}

func terminalOf(p wire.Peer) (terminal, bool) {
	if p.TTY == 0 || p.Session == 0 {
		return terminal{}, false
	}
	t := terminal{tty: p.TTY, session: p.Session}
	for _, proc := range p.Chain {
		if proc.PID == p.Session {
			t.leader = proc.Start
		}
	}
	return t, t.leader != 0
}

// holds reports whether the owner was shown to be behind this caller: it typed the passphrase itself, or it is our own
// command line, just started by the very shell of a terminal session on which the passphrase was typed lately. Whatever
// else runs on that terminal, an agent that nobody connected or a build script, is not the owner.
func (p *presence) holds(c Caller, binary string) bool {
	t, ok := terminalOf(c.Peer)
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	if c.Connection != 0 && now.Before(p.connections[c.Connection]) {
		return true
	}
	chain := c.Peer.Chain
	direct := len(chain) > 1 && chain[1].PID == c.Peer.Session
	return direct && chain[0].Exe == binary && now.Before(p.until[t]) && startedWithin(chain[0], freshProcess)
}

// gone forgets a connection.
func (p *presence) gone(connection uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, connection)
}

func (p *presence) grant(t terminal, connection uint64) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	if connection != 0 {
		p.connections[connection] = now.Add(presenceTTL)
	}
	for old, until := range p.until {
		if now.After(until) {
			delete(p.until, old)
		}
	}
	p.until[t] = now.Add(presenceTTL)
	return p.until[t]
}

// unlockTerminal checks the desk passphrase for the terminal session the peer sits on. An empty one is no guess: it asks
// whether one may be typed here, and the answer is presence_required when it may.
func (d *Desk) unlockTerminal(_ context.Context, x *exchange, in wire.UnlockTerminal) (wire.Unlocked, error) {
	if d.window.isOpen() {
		return wire.Unlocked{}, &wire.Error{Code: "window_open"}
	}
	t, ok := terminalOf(x.caller.Peer)
	if !ok {
		return wire.Unlocked{}, &wire.Error{Code: "no_terminal"}
	}
	if in.Passphrase == "" {
		set, err := d.HasPassphrase()
		switch {
		case err != nil:
			return wire.Unlocked{}, err
		case !set:
			return wire.Unlocked{}, state.ErrNoPassphrase
		}
		return wire.Unlocked{}, &wire.Error{Code: "presence_required"}
	}
	if err := d.CheckPassphrase(state.NewSecret(in.Passphrase)); err != nil {
		return wire.Unlocked{}, err
	}
	return wire.Unlocked{Until: d.presence.grant(t, x.caller.Connection)}, nil
}
