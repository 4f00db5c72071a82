package approval

import (
	"crypto/subtle"
	"fmt"
)

// Redeem turns the allow of a call into its one execution here. digest is that of what is about to run and must be
// the admitted one. Events are to be published also when ErrExpired is returned.
func (r *Registry) Redeem(id, digest string) (Call, []Event, error) {
	return r.use(id, EventRedeem, func(c *Call) error {
		if subtle.ConstantTimeCompare([]byte(c.Digest), []byte(digest)) != 1 {
			return ErrMismatch
		}
		return nil
	})
}

// Release gives an allowed call to the agent, which executes it itself: nothing is said about any boundary. Events
// are to be published also when ErrExpired is returned.
func (r *Registry) Release(id string) (Call, []Event, error) {
	return r.use(id, EventRelease, func(*Call) error { return nil })
}

func (r *Registry) use(id string, event EventKind, check func(*Call) error) (Call, []Event, error) {
	var out Call
	var late error
	events, err := r.update(func(t *txn) error {
		late = nil
		c, err := t.call(id)
		if err != nil {
			return err
		}
		if err := usable(c); err != nil {
			return err
		}
		if t.due(c) {
			late = ErrExpired
			return t.withdraw(c, EventExpire)
		}
		if err := check(c); err != nil {
			return err
		}
		if err := t.step(c, event); err != nil {
			return err
		}
		out = *c
		return nil
	})
	switch {
	case err != nil:
		return Call{}, nil, fmt.Errorf("%s: %w", event, err)
	case late != nil:
		return Call{}, events, fmt.Errorf("%s: %w", event, late)
	}
	return out, events, nil
}

// usable says why the call is not an unused allow, or nil.
func usable(c *Call) error {
	switch {
	case c.State == CallAllowed:
		return nil
	case !c.StartedAt.IsZero():
		return ErrAlreadyRedeemed
	case c.Outcome == OutcomeExpired:
		return ErrExpired
	}
	return ErrNotAllowed
}
