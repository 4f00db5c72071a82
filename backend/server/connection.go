package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// transport carries messages between the core and one peer. One goroutine receives while another sends.
type transport interface {
	// Receive returns the next message. An error about the message itself is one of wire.BadMessage.
	Receive() ([]byte, error)
	// TakeFiles hands over the n oldest descriptors that came with messages.
	TakeFiles(n int) ([]*os.File, error)
	// Send writes one message, within WriteTimeout.
	Send(message []byte) error
	// Interrupt ends Receive, now and from now on; sending goes on.
	Interrupt()
	// Close closes the transport at once, and ends Receive and Send.
	Close() error
}

// connection is one peer that was let in. Its goroutine reads; requests run in goroutines of their own; the outbox's
// writes. serve returns when all of them ended.
type connection struct {
	desk      Desk
	log       *slog.Logger
	transport transport
	out       *outbox
	caller    desk.Caller
	alive     func() bool // whether what comes now still is the peer's

	ctx      context.Context // of every request
	cancel   context.CancelCauseFunc
	handlers sync.WaitGroup

	mu       sync.Mutex // guards the rest
	inFlight int
	bytes    int // of the messages in flight

	subscribing sync.Mutex // held while a subscription is replaced; guards stopFrames
	stopFrames  func()     // ends the current subscription and waits for its goroutine
}

// lastConnection numbers the connections of this process, whatever they came over: the desk tells callers apart by it.
var lastConnection atomic.Uint64

// serve serves the connection until the peer is gone or the core stops, which is when stopping ends.
func (c *connection) serve(stopping context.Context) {
	unblock := context.AfterFunc(stopping, c.transport.Interrupt)
	defer unblock()
	c.out = newOutbox(c.transport)
	c.ctx, c.cancel = context.WithCancelCause(stopping)
	go c.out.write()

	c.read()

	// The first cause stands, and the core's end may have come to the reader before it came to c.ctx.
	cause := desk.ErrClientGone
	if stopping.Err() != nil {
		cause = desk.ErrStopping
	}
	c.cancel(cause)
	c.handlers.Wait()
	c.endFrames()
	c.gone()
	c.out.finish()
	<-c.out.done
	_ = c.transport.Close()
}

// read takes requests until the connection ends.
func (c *connection) read() {
	for {
		message, err := c.transport.Receive()
		if err != nil {
			if bad, ok := wire.BadMessage(err); ok {
				c.log.Warn("bad message", "connection", c.caller.Connection, "error", err)
				c.answer(wire.Reply{Error: bad})
			} else if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
				c.log.Debug("connection ended", "connection", c.caller.Connection, "error", err)
			}
			return
		}
		req, err := wire.DecodeRequest(message)
		var files []*os.File
		if err == nil {
			files, err = c.transport.TakeFiles(req.Files)
		}
		if err != nil {
			c.log.Warn("bad message", "connection", c.caller.Connection, "error", err)
			bad, _ := wire.BadMessage(err)
			c.answer(wire.Reply{CommandID: req.CommandID, Error: bad})
			return
		}
		// The connection may have been left to another process: what comes over it now is not the peer's.
		if !c.alive() {
			closeAll(files)
			c.log.Warn("request after the peer ended", "connection", c.caller.Connection)
			return
		}
		if !c.begin(len(message)) {
			closeAll(files)
			c.answer(wire.Reply{CommandID: req.CommandID, Error: busy("requests", MaxInFlight)})
			continue
		}
		c.handlers.Add(1)
		go func() {
			defer c.handlers.Done()
			reply := c.handle(req, files)
			c.end(len(message))
			if reply != nil {
				c.answer(*reply)
			}
		}()
	}
}

// begin counts a request in and reports whether there is room for it.
func (c *connection) begin(size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight >= MaxInFlight || c.bytes+size > MaxInFlightBytes {
		return false
	}
	c.inFlight++
	c.bytes += size
	return true
}

func (c *connection) end(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	c.bytes -= size
}

// handle runs one request. A nil reply means that it was sent already.
func (c *connection) handle(req wire.Request, files []*os.File) (reply *wire.Reply) {
	defer closeAll(files)
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a request", "action", req.Action, "panic", p, "stack", string(debug.Stack()))
			reply = &wire.Reply{CommandID: req.CommandID, Error: &wire.Error{
				Code: wire.CodeInternal, Args: map[string]string{"action": req.Action},
			}}
		}
	}()
	if req.Action == wire.ActionSubscribe {
		if err := c.subscribe(req); err != nil {
			return &wire.Reply{CommandID: req.CommandID, Error: asError(err)}
		}
		return nil
	}
	r := c.desk.Do(c.ctx, c.caller, req, files)
	r.CommandID = req.CommandID
	return &r
}

// answer queues a reply. One that does not fit, or that cannot be encoded, is replaced by an error.
func (c *connection) answer(reply wire.Reply) {
	message, err := wire.Encode(reply)
	if err != nil {
		code, args := wire.CodeInternal, map[string]string(nil)
		if errors.Is(err, wire.ErrTooLarge) {
			code, args = wire.CodeTooLarge, map[string]string{"limit": "4 MiB"}
		}
		c.log.Error("reply cannot be sent", "command", reply.CommandID, "error", err)
		message, err = wire.Encode(wire.Reply{CommandID: reply.CommandID, Applied: reply.Applied, Error: &wire.Error{Code: code, Args: args}})
		if err != nil {
			c.cut("a reply that cannot be encoded")
			return
		}
	}
	c.push(message)
}

// push queues a message, or cuts off a peer that does not read.
func (c *connection) push(message []byte) {
	if !c.out.push(message) {
		c.cut("it does not read what is sent to it")
	}
}

// cut closes the connection at once; serve ends by that.
func (c *connection) cut(why string) {
	c.log.Warn("peer cut off", "connection", c.caller.Connection, "why", why)
	_ = c.transport.Close()
}

// gone tells the desk.
func (c *connection) gone() {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in gone", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	c.desk.Gone(c.caller)
}

// subscribe opens the connection's stream of frames, in place of the one it had, and answers the request.
func (c *connection) subscribe(req wire.Request) error {
	var args wire.Subscribe
	if len(req.Args) > 0 {
		if err := json.Unmarshal(req.Args, &args); err != nil {
			return &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{
				"action": req.Action, "problem": "epoch must be a string and after a number",
			}}
		}
	}
	c.subscribing.Lock()
	defer c.subscribing.Unlock()
	if c.stopFrames != nil {
		c.stopFrames()
		c.stopFrames = nil
	}
	sub, err := c.desk.Subscribe(c.caller, args.Epoch, args.After)
	if err != nil {
		return err
	}
	c.answer(wire.Reply{CommandID: req.CommandID, Applied: true, Result: sub.Reply})
	ctx, cancel := context.WithCancel(c.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.forward(ctx, sub.Frames)
	}()
	c.stopFrames = func() {
		cancel()
		sub.Cancel()
		<-ended
	}
	return nil
}

// endFrames ends the subscription, if there is one. No request runs any more.
func (c *connection) endFrames() {
	c.subscribing.Lock()
	defer c.subscribing.Unlock()
	if c.stopFrames != nil {
		c.stopFrames()
		c.stopFrames = nil
	}
}

// forward sends frames until ctx ends, or until the desk gives the subscriber up as too slow.
func (c *connection) forward(ctx context.Context, frames <-chan wire.Frame) {
	for {
		select {
		case <-ctx.Done():
			return
		case f, ok := <-frames:
			if !ok {
				if ctx.Err() == nil {
					c.cut("it does not read its frames")
				}
				return
			}
			message, err := wire.Encode(f)
			if err != nil {
				// Dropping it would be a gap that nobody sees: the client must come back for a snapshot.
				c.log.Error("frame cannot be sent", "frame", f.Frame, "seq", f.Seq, "error", err)
				c.cut("a frame that cannot be sent")
				return
			}
			c.push(message)
		}
	}
}

// asError turns an error into one for the wire. An error without a code is a fault of the core.
func asError(err error) *wire.Error {
	var e *wire.Error
	var coded interface{ Code() string }
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &coded):
		return &wire.Error{Code: coded.Code()}
	}
	return &wire.Error{Code: wire.CodeInternal}
}

// closeAll closes the files that nobody kept.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
