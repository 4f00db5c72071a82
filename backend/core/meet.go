package core

import (
	"context"
	"time"

	"countersign/backend/config"
	"countersign/backend/wire"
)

// DialTimeout is how long a core may take to greet a client.
const DialTimeout = 2 * time.Second

// Dial connects to the core of a desk. pinned is the fingerprint that the core must have, "" for any. The errors are
// wire's: *wire.DialError says what to do.
func Dial(ctx context.Context, dirs config.Dirs, pinned string) (*wire.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, DialTimeout)
	defer cancel()
	return wire.Dial(ctx, wire.DialOptions{Socket: dirs.Socket(), PinnedCore: pinned})
}
