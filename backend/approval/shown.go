package approval

import (
	"errors"
	"fmt"
	"time"

	"countersign/backend/policy"
)

// Shown notes that the card of an open question was put in front of the owner, and returns the first time it was. An
// answer is taken from ShownDelay after it. A time that lies in the future means that the clock was set back; it is
// replaced, or nothing could be allowed until the clock is there again. Events are to be published also when ErrExpired is
// returned.
func (r *Registry) Shown(id string, version int) (time.Time, []Event, error) {
	q, events, err := r.touch(id, version, func(t *txn, q *Question, _ *Call) error {
		if !q.ShownAt.IsZero() && !q.ShownAt.After(t.now) {
			return nil
		}
		q.ShownAt = t.now
		return t.update(q)
	})
	if err != nil {
		return time.Time{}, events, fmt.Errorf("shown: %w", err)
	}
	return q.ShownAt, events, nil
}

// Extend gives the owner at least DefaultWait from now to answer, but never longer than the client itself waits:
// ErrCannotExtend. The version stays, because nothing that was shown has changed. Only an owner extends. Events are to be
// published also when ErrExpired is returned.
func (r *Registry) Extend(id string, version int, by policy.Authority) (Question, []Event, error) {
	if !mayAnswer(by) {
		return Question{}, nil, fmt.Errorf("extend: %w", ErrNotOwner)
	}
	q, events, err := r.touch(id, version, func(t *txn, q *Question, c *Call) error {
		if q.ExpiresAt.IsZero() {
			return nil // it waits as long as it takes
		}
		until := t.now.Add(DefaultWait)
		if !q.HoldUntil.IsZero() {
			if !q.ExpiresAt.Before(q.HoldUntil) {
				return ErrCannotExtend
			}
			if until.After(q.HoldUntil) {
				until = q.HoldUntil
			}
		}
		if !until.After(q.ExpiresAt) {
			return nil
		}
		q.ExpiresAt = until
		if err := t.postpone(c, until); err != nil {
			return err
		}
		return t.update(q)
	})
	if err != nil {
		return Question{}, events, fmt.Errorf("extend: %w", err)
	}
	return q, events, nil
}

// touch runs fn on an open question that the caller knows in its present version, and on the call that waits for it.
func (r *Registry) touch(id string, version int, fn func(*txn, *Question, *Call) error) (Question, []Event, error) {
	var out Question
	var late error // committed, and yet refused: the question had expired
	events, err := r.update(func(t *txn) error {
		out, late = Question{}, nil
		q, c, err := t.known(id, version)
		if errors.Is(err, errDue) {
			late = ErrExpired
			return t.withdraw(c, EventExpire)
		}
		if err != nil {
			return err
		}
		if err := fn(t, q, c); err != nil {
			return err
		}
		out = *q
		return nil
	})
	if err == nil {
		err = late
	}
	return out, events, err
}

// update stores an open question of which nothing that was shown has changed, and records it.
func (t *txn) update(q *Question) error {
	if err := t.Put(BucketQuestions, q.ID, q); err != nil {
		return err
	}
	committed := *q
	t.events = append(t.events, Event{Frame: FrameUpdated, Question: &committed})
	return nil
}

// postpone moves the deadline of a waiting call. Nothing else about the call changes, and its question is what tells of
// it, so there is no event of its own.
func (t *txn) postpone(c *Call, until time.Time) error {
	if err := t.Delete(BucketDeadlines, indexKey(timeKey(c.Deadline), c.ID)); err != nil {
		return err
	}
	c.Deadline = until
	if err := t.Put(BucketDeadlines, indexKey(timeKey(until), c.ID), until); err != nil {
		return err
	}
	return t.Put(BucketCalls, c.ID, c)
}
