package bridge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// Core is a running core as the window uses it, with the owner's rights.
type Core interface {
	Do(ctx context.Context, req wire.Request) wire.Reply
	Subscribe(epoch string, after uint64) (desk.Subscription, error)
	// SetWindow tells whether a window is there, and whether it is open before the owner.
	SetWindow(present, open bool)
	Done() <-chan struct{}
	Close() error
}

// Start opens a core; StartCore is the real one.
type Start func(ctx context.Context, o core.Options, prepare func(*desk.Desk, config.Config) error) (Core, error)

// StartCore starts the core in this process.
func StartCore(ctx context.Context, o core.Options, prepare func(*desk.Desk, config.Config) error) (Core, error) {
	c, err := core.Start(ctx, o, prepare)
	if err != nil {
		return nil, err
	}
	return hosted{c}, nil
}

type hosted struct{ *core.Core }

func (h hosted) Do(ctx context.Context, req wire.Request) wire.Reply {
	return h.Desk.Do(ctx, h.Desk.Owner(), req, nil)
}

func (h hosted) Subscribe(epoch string, after uint64) (desk.Subscription, error) {
	return h.Desk.Subscribe(h.Desk.Owner(), epoch, after)
}

func (h hosted) SetWindow(present, open bool) { h.Desk.SetWindow(present, open) }

// Call asks a core for one action under a new command id and reads the result into out, unless that is nil. Its errors
// are *wire.Error, or of encoding.
func Call(ctx context.Context, c Core, action string, in, out any) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("new command id: %w", err)
	}
	args, err := wire.Encode(in)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	reply := c.Do(ctx, wire.Request{Action: action, CommandID: id.String(), Args: args})
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
