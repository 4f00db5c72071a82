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

	mu    sync.Mutex // guards until
	until map[terminal]time.Time
}

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

func (p *presence) holds(peer wire.Peer) bool {
	t, ok := terminalOf(peer)
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clock.Now().Before(p.until[t])
}

func (p *presence) grant(t terminal) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	for old, until := range p.until {
		if now.After(until) {
			delete(p.until, old)
		}
	}
	p.until[t] = now.Add(presenceTTL)
	return p.until[t]
}

// unlockTerminal checks the desk passphrase for the terminal session the peer sits on.
func (d *Desk) unlockTerminal(_ context.Context, x *exchange, in wire.UnlockTerminal) (wire.Unlocked, error) {
	t, ok := terminalOf(x.caller.Peer)
	if !ok {
		return wire.Unlocked{}, &wire.Error{Code: "no_terminal"}
	}
	if err := state.CheckPassphrase(d.store, state.NewSecret(in.Passphrase)); err != nil {
		return wire.Unlocked{}, err
	}
	return wire.Unlocked{Until: d.presence.grant(t)}, nil
}
