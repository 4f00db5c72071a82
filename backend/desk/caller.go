package desk

import (
	"encoding/json"
	"errors"

	"countersign/backend/wire"
)

// The surfaces a request can come from. A surface is set by the code that accepted the connection, never by what came
// over it.
const (
	// SurfaceSocket is the local socket or named pipe: whoever is there is known by peer identity alone.
	SurfaceSocket = "socket"
	// SurfaceOwner is the owner's own window, or the owner in this very process.
	SurfaceOwner = "owner"
	// SurfaceBrowser is a browser that came with a link of this desk's command line. It may look; whether the owner or
	// somebody who saw the link sits in front of it is not known.
	SurfaceBrowser = "browser"
)

// Causes of a request's context, by context.Cause: why nobody waits for the answer any more.
var (
	// ErrClientGone means that the client disconnected, or that its process ended.
	ErrClientGone = errors.New("the client is gone")
	// ErrStopping means that the core is shutting down.
	ErrStopping = errors.New("the core is stopping")
)

// Caller is who sent a request, as the server saw it. It is a value of one connection: the same caller asks again and
// again with the same Connection, and Gone names it once more at the end.
type Caller struct {
	Peer       wire.Peer // as the kernel says; empty for the other surfaces
	Connection uint64    // counts per core, from 1; 0 for a caller without a connection
	Surface    string    // SurfaceSocket, SurfaceOwner or SurfaceBrowser
}

// Subscription is one caller's stream of frames.
type Subscription struct {
	// Reply is the result of the subscribe action (wire.Subscribed); it is sent before the first frame.
	Reply json.RawMessage
	// Frames delivers the frames in order. It is closed after Cancel, and also when the receiver was too slow to be
	// served: then the connection ends, and the client resumes with the last seq that it saw.
	Frames <-chan wire.Frame
	// Cancel ends the subscription. It may be called more than once.
	Cancel func()
}
