package approval

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Finish is how an execution ended.
type Finish struct {
	Outcome   CallOutcome // done or failed for what ran here; reported or unreported for what was released
	Exit      *int
	Signal    string
	Directory string   // final directory of a shell command
	Receipts  []string // record ids
	Failure   string   // error code when Outcome is failed
}

// Finish ends a running or released call.
func (r *Registry) Finish(id string, f Finish) (Call, []Event, error) {
	var event EventKind
	switch f.Outcome {
	case OutcomeDone:
		event = EventDone
	case OutcomeFailed:
		event = EventFail
	case OutcomeReported:
		event = EventReport
	case OutcomeUnreported:
		event = EventSilence
	default:
		return Call{}, nil, fmt.Errorf("finish as %q: %w", f.Outcome, ErrInvalidOutcome)
	}
	return r.end(id, func(t *txn, c *Call) error {
		c.Exit, c.Signal, c.Directory, c.Failure = f.Exit, f.Signal, f.Directory, f.Failure
		c.Receipts = slices.Clone(f.Receipts)
		return t.step(c, event)
	})
}

// Cancel ends a call that waits or is allowed and not used: reason is OutcomeCancelled, OutcomeOriginGone or
// OutcomeAnsweredInAgent. It closes the call's question with the same outcome, which is never a denial.
func (r *Registry) Cancel(id string, reason CallOutcome) (Call, []Event, error) {
	var event EventKind
	switch reason {
	case OutcomeCancelled:
		event = EventCancel
	case OutcomeOriginGone:
		event = EventOriginGone
	case OutcomeAnsweredInAgent:
		event = EventAnsweredInAgent
	default:
		return Call{}, nil, fmt.Errorf("cancel as %q: %w", reason, ErrInvalidOutcome)
	}
	return r.end(id, func(t *txn, c *Call) error {
		if c.State == CallReleased { // only the end of the whole session says that nothing will be heard of it
			return &TransitionError{State: c.State, Event: event}
		}
		return t.withdraw(c, event)
	})
}

func (r *Registry) end(id string, fn func(*txn, *Call) error) (Call, []Event, error) {
	var out Call
	events, err := r.update(func(t *txn) error {
		c, err := t.call(id)
		if err != nil {
			return err
		}
		if err := fn(t, c); err != nil {
			return err
		}
		out = *c
		return nil
	})
	if err != nil {
		return Call{}, nil, fmt.Errorf("end call: %w", err)
	}
	return out, events, nil
}

// SessionGone ends what the session's agent can no longer use: its waits and unused allows are origin_gone, what was
// released is unreported. What runs here is left to the broker, which ends it with an end of its own.
func (r *Registry) SessionGone(session string) ([]Event, error) {
	events, err := r.update(func(t *txn) error {
		live, err := t.ids(BucketLiveCalls, indexPrefix(session))
		if err != nil {
			return err
		}
		for _, id := range live {
			c, err := t.call(id)
			if err != nil {
				return damaged(err)
			}
			if c.State == CallRunning {
				continue
			}
			if err := t.withdraw(c, EventOriginGone); err != nil {
				return err
			}
		}
		return t.unparkAll(session)
	})
	if err != nil {
		return nil, fmt.Errorf("session gone: %w", err)
	}
	r.clients.forget(session)
	return events, nil
}

// ids returns the ids at the end of an index's keys. Walks that change what they walk over collect first.
func (t *txn) ids(bucket, prefix string) ([]string, error) {
	var out []string
	err := t.Each(bucket, prefix, func(key string, _ json.RawMessage) error {
		out = append(out, lastPart(key))
		return nil
	})
	return out, err
}
