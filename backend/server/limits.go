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

// Limits of the server for browsers. Any process of the machine can reach it, so these are for enemies too: whoever has no
// link gets a short page, and soon loses the connection.
const (
	// MaxHTTPConnections is how many connections may be open that are no WebSocket.
	MaxHTTPConnections = 64
	// MaxBrowsers is how many browsers may hold a cookie; the oldest loses it to one more.
	MaxBrowsers = 16
	// MaxTabs is how many WebSockets are served at a time.
	MaxTabs = 32
	// HeaderTimeout is how long a request's head may take, RequestTimeout the whole request and its answer.
	HeaderTimeout  = 5 * time.Second
	RequestTimeout = 30 * time.Second
	// IdleTimeout is how long a connection may wait for its next request.
	IdleTimeout = time.Minute
	// MaxHeader is how long a request's head may be, in bytes.
	MaxHeader = 16 << 10
)
