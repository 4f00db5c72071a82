package approval

import "sync"

// clients remembers which calls without a tool call id have a client that waits for them. Such calls are told apart
// by counting only, so an equal call is a lost client coming back if the client of the first is known to be gone,
// and a second call otherwise: one "once" must never answer two calls.
type clients struct {
	mu    sync.Mutex        // guards known; taken inside a transaction, never around one
	known map[string]client // call id →
}

type client struct {
	session string
	gone    bool // it went away before it had its answer
}

// free reports whether a client may take the call over. live says that the call waits or is allowed: an ended call
// was delivered, unless its client is known to have gone before.
func (c *clients) free(id string, live bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.known[id]; ok {
		return known.gone
	}
	return live
}

// attach notes that a client waits for the call; undo takes that back.
func (c *clients) attach(id, session string) (undo func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, had := c.known[id]
	c.known[id] = client{session: session}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if had {
			c.known[id] = before
		} else {
			delete(c.known, id)
		}
	}
}

func (c *clients) lose(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.known[id]; ok {
		known.gone = true
		c.known[id] = known
	}
}

func (c *clients) forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, known := range c.known {
		if known.session == session {
			delete(c.known, id)
		}
	}
}

// Lost says that the client of an admitted call went away before it was told how the call was decided, so that an
// equal call of the same turn may take this one over. It matters for calls without a tool call id; for others it does
// nothing.
func (r *Registry) Lost(id string) { r.clients.lose(id) }
