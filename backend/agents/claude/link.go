package claude

import (
	"context"
	"errors"
	"io"
	"time"

	"countersign/backend/wire"
)

// Desk is a connection to the core.
type Desk interface {
	// Do asks for one action. It returns a *wire.Error when the core said no, and any other error when the connection
	// is of no use any more. A Desk that is an io.Closer is closed when it is given up.
	Do(ctx context.Context, action string, in, out any) error
}

// Time limits of the link to the core.
const (
	// answerLimit is how long one action may take that waits for nobody.
	answerLimit = 20 * time.Second
	// awaitSlack is how much longer than asked for a wait may take before the core counts as hung.
	awaitSlack = 10 * time.Second
	// firstContact is how long a call is tried that the core has never confirmed.
	firstContact = 30 * time.Second
	backoffFirst = 100 * time.Millisecond
	backoffMost  = 2 * time.Second
	// farewell is how long the core may take to be told that the agent withdrew; Claude kills soon after.
	farewell = 2 * time.Second
)

// errLost means that the core was reached and then not found again in time.
var errLost = errors.New("the connection to the desk was lost and could not be made again")

// link is a connection that can be made again.
type link struct {
	connect func(context.Context) (Desk, error)
	desk    Desk
}

// connectError is a failure to reach a core at all.
type connectError struct{ err error }

func (e *connectError) Error() string { return e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

// do asks for one action, connecting first where needed. A connection that fails is given up.
func (l *link) do(ctx context.Context, limit time.Duration, action string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if l.desk == nil {
		desk, err := l.connect(ctx)
		if err != nil {
			return &connectError{err: err}
		}
		if desk == nil {
			return &connectError{err: wire.ErrNoCore}
		}
		l.desk = desk
	}
	err := l.desk.Do(ctx, action, in, out)
	if err != nil && !refused(err) {
		l.close()
	}
	return err
}

func (l *link) close() {
	if c, ok := l.desk.(io.Closer); ok {
		_ = c.Close()
	}
	l.desk = nil
}

// refused reports whether the core answered, with no.
func refused(err error) bool {
	var e *wire.Error
	return errors.As(err, &e)
}

// again reports whether asking once more may help: the connection broke, the core hung, is stopping, or is busy. A
// program that answers in the core's place, and a message too large to send, stay what they are.
func again(err error) bool {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code == wire.CodeBusy || e.Code == "cancelled"
	}
	unsendable := errors.Is(err, wire.ErrTooLarge) || errors.Is(err, wire.ErrMalformed)
	if errors.Is(err, errConfused) || errors.Is(err, wire.ErrWrongCore) {
		return false
	}
	return !unsendable || errors.Is(err, wire.ErrClosed)
}

// patience counts how long something may still be tried.
type patience struct {
	until time.Time
	next  time.Duration
}

func newPatience(limit time.Duration) *patience {
	return &patience{until: time.Now().Add(limit), next: backoffFirst}
}

// wait pauses before the next try, and reports whether there is to be one.
func (p *patience) wait(ctx context.Context) bool {
	if !time.Now().Add(p.next).Before(p.until) {
		return false
	}
	timer := time.NewTimer(p.next)
	defer timer.Stop()
	p.next = min(2*p.next, backoffMost)
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
