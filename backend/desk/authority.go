package desk

import (
	"strconv"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

// authorityOf says what a caller may do, from what the kernel says about the peer and from nothing else. below tells
// that the peer is, or descends from, an agent: the list of actions open to agents applies, whatever else holds.
func (d *Desk) authorityOf(c Caller) (a policy.Authority, below bool) {
	if c.Surface == SurfaceOwner {
		return policy.OwnerAuthority(d.identity.Fingerprint()), false
	}
	if c.Surface == SurfaceBrowser {
		return policy.Authority{
			ID: "browser", Kind: policy.PrincipalPaired, Capabilities: []policy.Capability{policy.CapSessionRead, policy.CapReceiptsRead},
		}, false
	}
	if len(c.Peer.Chain) == 0 {
		return policy.Authority{}, true // nobody we can name: nothing is open
	}
	if !c.Peer.Complete {
		// Ancestors are hidden, so an agent may be above: what is open to agents is open, and nothing else.
		if s, ok := d.sessionAbove(c.Peer.Chain); ok {
			return policy.AgentAuthority(s.Agent, s.ID), true
		}
		return policy.AgentAuthority("unknown", "hidden"), true
	}
	if s, ok := d.sessionAbove(c.Peer.Chain); ok {
		return policy.AgentAuthority(s.Agent, s.ID), true
	}
	if agent, ok := d.options.Agents.Find(c.Peer.Chain); ok {
		return policy.AgentAuthority(agent, "unregistered"), true
	}
	if !d.window.isOpen() && d.presence.holds(c, d.options.Binary) {
		return policy.OwnerAuthority(d.identity.Fingerprint()), false
	}
	// A process of the owner's account without presence: it may look, and it may introduce an agent.
	return policy.Authority{
		ID:   "local/" + strconv.Itoa(c.Peer.UID),
		Kind: policy.PrincipalPaired,
		Capabilities: []policy.Capability{
			policy.CapApprovalRequest, policy.CapSessionRead, policy.CapSessionCreate, policy.CapReceiptsRead,
		},
	}, false
}

// sessionAbove finds the live session whose root process is in the chain, nearest first. The desk's own sessions have none:
// what the core started is not below an agent.
func (d *Desk) sessionAbove(chain []wire.Process) (Session, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range chain {
		for _, s := range d.sessions {
			if s.EndedAt.IsZero() && !s.Own && s.Root.PID == p.PID && s.Root.Start == p.Start {
				return *s, true
			}
		}
	}
	return Session{}, false
}
