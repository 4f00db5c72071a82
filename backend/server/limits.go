package server

import "time"

// Limits of the server. All peers run as the owner, so these guard against faults, not against enemies.
const (
	// MaxConnections is how many connections are served at a time.
	MaxConnections = 512
	// MaxConnectionsPerPeer is how many of them one process may hold.
	MaxConnectionsPerPeer = 32
	// MaxInFlight is how many requests of one connection are under way at a time; one more is answered "busy".
	MaxInFlight = 64
	// MaxInFlightBytes bounds their messages, in bytes.
	MaxInFlightBytes = 16 << 20
	// HelloTimeout is how long a peer may take to be identified and to say hello.
	HelloTimeout = 5 * time.Second
	// WriteTimeout is how long one message may take to be read by the peer.
	WriteTimeout = 10 * time.Second
	// MaxQueue is how many messages may wait for a peer to read them, and MaxQueueBytes how many bytes; a peer further
	// behind is cut off.
	MaxQueue      = 2048
	MaxQueueBytes = 32 << 20
	// MaxAncestors is how many processes a peer's chain may have. A longer one is refused, since an agent could hide
	// above its end.
	MaxAncestors = 64
)
