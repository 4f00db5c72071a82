package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
)

// frameBuffer is how many frames a Client holds for a receiver that is busy, before it closes the connection.
const frameBuffer = 4096

// Client is one connection to a core. Its methods may be called from many goroutines. It does not reconnect.
type Client struct {
	conn        *Conn
	core        CoreHello
	fingerprint string
	frames      chan Frame
	done        chan struct{} // closed when receiving ended
	sending     chan struct{} // holds one token: who has it may send

	mu      sync.Mutex // guards pending and err
	pending map[string]chan Reply
	err     error // why the connection is closed
}

func newClient(conn *Conn, core CoreHello, fingerprint string) *Client {
	c := &Client{
		conn: conn, core: core, fingerprint: fingerprint,
		frames: make(chan Frame, frameBuffer), done: make(chan struct{}), sending: make(chan struct{}, 1),
		pending: map[string]chan Reply{},
	}
	go c.receive()
	return c
}

// Core returns the fingerprint of the core, as verified.
func (c *Client) Core() string { return c.fingerprint }

// Epoch returns the run of the core that this connection is with.
func (c *Client) Epoch() string { return c.core.Epoch }

// Frames delivers the frames after a Subscribe. It is closed when the connection is; Err tells why.
func (c *Client) Frames() <-chan Frame { return c.frames }

// Done is closed when the connection is.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection is closed, nil while it is open.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close closes the connection and waits until its goroutine ended. Calls under way return ErrClosed.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	<-c.done
	return nil
}

// Do sends a request with a new command id and waits for its reply, which is read into out unless that is nil. See
// DoWith.
func (c *Client) Do(ctx context.Context, action string, in, out any) error {
	return c.DoWith(ctx, "", action, in, nil, out)
}

// DoWith sends a request under a command id (empty: a new one), together with files, and waits for its reply. The
// files stay the caller's. It returns the core's *Error, the context's error, or an error of the connection. After the
// context's error, and after ErrClosed, the request may still be applied: only asking again with the same command id
// tells. A context that ends while the core does not read closes the connection, since half a message was sent.
func (c *Client) DoWith(ctx context.Context, commandID, action string, in any, files []*os.File, out any) error {
	if commandID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("new command id: %w", err)
		}
		commandID = id.String()
	}
	message, err := encodeRequest(commandID, action, in, len(files))
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	answer, err := c.expect(commandID)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	defer c.forget(commandID)
	if err := c.send(ctx, message, files); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	var reply Reply
	select {
	case reply = <-answer:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", action, ctx.Err())
	case <-c.done:
		select {
		case reply = <-answer: // it came last
		default:
			return fmt.Errorf("%s: %w", action, c.Err())
		}
	}
	if reply.Error != nil {
		return reply.Error
	}
	if out == nil || len(reply.Result) == 0 {
		return nil
	}
	if err := json.Unmarshal(reply.Result, out); err != nil {
		return fmt.Errorf("%s: read the result: %w", action, err)
	}
	return nil
}

func encodeRequest(commandID, action string, in any, files int) ([]byte, error) {
	if files > MaxFiles {
		return nil, ErrTooManyFiles
	}
	req := Request{Action: action, CommandID: commandID, Files: files}
	if in != nil {
		args, err := Encode(in)
		if err != nil {
			return nil, err
		}
		req.Args = args
	}
	message, err := Encode(req)
	if err != nil {
		return nil, err
	}
	// The core would refuse it and close the connection, which others may use.
	if _, err := DecodeRequest(message); err != nil {
		return nil, err
	}
	return message, nil
}

// expect makes room for the reply to a command.
func (c *Client) expect(commandID string) (<-chan Reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	if _, twice := c.pending[commandID]; twice {
		return nil, ErrDuplicateCommand
	}
	answer := make(chan Reply, 1)
	c.pending[commandID] = answer
	return answer, nil
}

func (c *Client) forget(commandID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, commandID)
}

// send writes one message. A core that does not read blocks it until the context ends.
func (c *Client) send(ctx context.Context, message []byte, files []*os.File) error {
	select {
	case c.sending <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return c.Err()
	}
	defer func() { <-c.sending }()
	if err := ctx.Err(); err != nil {
		return err
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = c.conn.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := c.conn.Send(message, files)
	if !stop() {
		<-stopped
		_ = c.conn.SetWriteDeadline(time.Time{})
	}
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, ErrFilesUnsupported), errors.Is(err, ErrBadFile):
		return err // nothing was sent
	case n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		return ctx.Err() // nothing was sent
	}
	// Half a message was sent, or the connection broke.
	c.fail(fmt.Errorf("%w: %w", ErrClosed, err))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.Err()
}

// fail closes the connection for a reason; the first reason stands.
func (c *Client) fail(reason error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = reason
	}
	c.mu.Unlock()
	_ = c.conn.Close()
}

// receive hands out replies and frames until the connection ends.
func (c *Client) receive() {
	defer close(c.done)
	defer close(c.frames)
	for {
		message, err := c.conn.Receive()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrClosed
			} else {
				err = fmt.Errorf("%w: %w", ErrClosed, err)
			}
			c.fail(err)
			return
		}
		in, err := DecodeIncoming(message)
		switch {
		case err != nil:
			c.fail(fmt.Errorf("%w: %w", ErrClosed, err))
			return
		case in.Frame != nil:
			select {
			case c.frames <- *in.Frame:
			default:
				c.fail(fmt.Errorf("%w: %w", ErrClosed, ErrBacklog))
				return
			}
		case in.Reply != nil && in.Reply.CommandID == "" && in.Reply.Error != nil:
			// The core could not tell which request it is about, and closes the connection.
			c.fail(fmt.Errorf("%w: %w", ErrClosed, in.Reply.Error))
			return
		case in.Reply != nil:
			c.deliver(*in.Reply)
		}
	}
}

// deliver hands a reply to who waits for it. Nobody waits any more when its context ended.
func (c *Client) deliver(reply Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.pending[reply.CommandID]; ok {
		delete(c.pending, reply.CommandID)
		answer <- reply
	}
}
