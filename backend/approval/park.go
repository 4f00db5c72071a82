package approval

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Park notes that the agent of a waiting call was told "still waiting" and will ask again under another tool call id.
// It reports false, and changes nothing, when the call waits no longer: then the agent can be told how it ended.
func (r *Registry) Park(id string) (Call, bool, error) {
	var out Call
	_, err := r.update(func(t *txn) error {
		c, err := t.call(id)
		if err != nil {
			return err
		}
		out = *c
		if c.State != CallWaiting {
			return nil
		}
		return t.Put(BucketParkedCalls, indexKey(c.Session, c.Recognition(), c.ID), nil)
	})
	if err != nil {
		return Call{}, false, fmt.Errorf("park: %w", err)
	}
	return out, out.State == CallWaiting, nil
}

// Reattach gives the oldest parked call of the session with this Recognition to an agent that asks again, once: the next
// equal call finds none and is admitted as a call of its own. A parked wait that was refused meanwhile is given too,
// so that the agent hears of it; one that expired or was withdrawn is not. key, which may be empty, is the admission
// key of the new call; it is another key of the old one from then on, for a client that comes back once more.
func (r *Registry) Reattach(session, digest, key string) (Call, bool, []Event, error) {
	var out Call
	found := false
	events, err := r.update(func(t *txn) error {
		out, found = Call{}, false
		parked, err := t.ids(BucketParkedCalls, indexPrefix(session, digest))
		if err != nil {
			return err
		}
		for _, id := range parked {
			c, err := t.call(id)
			if err != nil {
				return damaged(err)
			}
			if t.due(c) {
				if err := t.withdraw(c, EventExpire); err != nil { // which unparks it
					return err
				}
				continue
			}
			out, found = *c, true
			return t.unpark(c, key)
		}
		return nil
	})
	if err != nil {
		return Call{}, false, nil, fmt.Errorf("reattach: %w", err)
	}
	return out, found, events, nil
}

// unpark gives a parked call away, under one more key.
func (t *txn) unpark(c *Call, key string) error {
	if key != "" {
		if taken, err := t.Get(BucketCallKeys, key, new(string)); taken || err != nil {
			return orElse(err, fmt.Errorf("%w: the key is another call's", ErrMismatch))
		}
		if err := t.Put(BucketCallKeys, key, c.ID); err != nil {
			return err
		}
	}
	return t.Delete(BucketParkedCalls, indexKey(c.Session, c.Recognition(), c.ID))
}

// unparkAll forgets the parked calls of a session.
func (t *txn) unparkAll(session string) error {
	var keys []string
	err := t.Each(BucketParkedCalls, indexPrefix(session), func(key string, _ json.RawMessage) error {
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := t.Delete(BucketParkedCalls, key); err != nil {
			return err
		}
	}
	return nil
}

// damaged makes a missing record that something else points to what it is: damage, not an unknown id of the caller.
func damaged(err error) error {
	if errors.Is(err, ErrUnknownCall) || errors.Is(err, ErrUnknownQuestion) {
		return fmt.Errorf("%w: %s", ErrDamaged, err.Error())
	}
	return err
}

// orElse returns err, or other when it is nil.
func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
