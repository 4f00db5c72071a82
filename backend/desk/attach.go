package desk

import (
	"time"

	"countersign/backend/approval"
	"countersign/backend/wire"
)

// orphanPatience is how long a client that left a waiting call may still be seen to run: a process that ends closes its
// connection a little before it is gone.
const orphanPatience = time.Minute

// orphan is a waiting call whose client left.
type orphan struct {
	client wire.Process
	since  time.Time
}

// attach notes that a client waits for a call.
func (d *Desk) attach(x *exchange, c approval.Call) {
	if c.State != approval.CallWaiting || x.caller.Connection == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.attached[c.ID] == nil {
		d.attached[c.ID] = map[uint64]bool{}
	}
	d.attached[c.ID][x.caller.Connection] = true
	delete(d.orphans, c.ID)
}

// detach notes that a client is gone. What it alone waited for is an orphan: a client that only lost its connection comes
// back for it, one that died does not.
func (d *Desk) detach(c Caller) {
	if len(c.Peer.Chain) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for call, connections := range d.attached {
		if !connections[c.Connection] {
			continue
		}
		delete(connections, c.Connection)
		if len(connections) == 0 {
			delete(d.attached, call)
			d.orphans[call] = orphan{client: c.Peer.Chain[0], since: time.Now()}
			d.wakeLoop()
		}
	}
}

// endOrphans cancels the waits whose client died: the agent withdrew the call, and nobody would use an answer. It is never
// recorded as a denial.
func (d *Desk) endOrphans() {
	var ended []string
	d.mu.Lock()
	for call, o := range d.orphans {
		switch {
		case !processAlive(o.client):
			ended = append(ended, call)
			delete(d.orphans, call)
		case time.Since(o.since) > orphanPatience:
			delete(d.orphans, call) // it runs on, and may come back
		}
	}
	d.mu.Unlock()
	for _, call := range ended {
		if c, err := d.calls.Get(call); err == nil && c.State == approval.CallWaiting {
			d.cancel(call, approval.OutcomeCancelled)
		}
	}
}
