package approval

import (
	"fmt"
	"time"
)

// txn is one transaction of the registry: a Tx, the moment it counts as, and what is to be published once it is
// committed.
type txn struct {
	Tx
	now    time.Time
	ttl    time.Duration
	events []Event
}

func (t *txn) call(id string) (*Call, error) {
	var c Call
	ok, err := t.Get(BucketCalls, id, &c)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrUnknownCall
	}
	return &c, nil
}

func (t *txn) question(id string) (*Question, error) {
	var q Question
	ok, err := t.Get(BucketQuestions, id, &q)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrUnknownQuestion
	}
	return &q, nil
}

// step takes c through Next, with its times and indexes, and stores it. After an error the transaction must fail. A
// call that is to wait brings its Deadline along.
func (t *txn) step(c *Call, event EventKind) error {
	state, outcome, err := Next(c.State, event)
	if err != nil {
		return err
	}
	from, deadline := c.State, c.Deadline
	c.State, c.Outcome = state, outcome
	switch event {
	case EventAllow, EventDeny, EventAnswerAllow, EventAnswerDeny:
		c.DecidedAt = t.now
	}
	switch state {
	case CallAllowed:
		c.Deadline = c.DecidedAt.Add(t.ttl)
	case CallRunning, CallReleased:
		c.Deadline = time.Time{}
		c.StartedAt = t.now
	case CallFinished:
		c.Deadline = time.Time{}
		c.EndedAt = t.now
	}
	if from != CallProposed && !deadline.IsZero() {
		if err := t.Delete(BucketDeadlines, indexKey(timeKey(deadline), c.ID)); err != nil {
			return err
		}
	}
	if !c.Deadline.IsZero() {
		if err := t.Put(BucketDeadlines, indexKey(timeKey(c.Deadline), c.ID), c.Deadline); err != nil {
			return err
		}
	}
	if err := t.index(c); err != nil {
		return err
	}
	return t.put(c)
}

// index keeps the live and parked indexes in step with c's state.
func (t *txn) index(c *Call) error {
	if c.State != CallFinished {
		return t.Put(BucketLiveCalls, indexKey(c.Session, c.ID), c.State)
	}
	if c.Outcome != OutcomeRefused { // a parked agent must still hear a refusal, but may ask anew after anything else
		if err := t.Delete(BucketParkedCalls, indexKey(c.Session, c.Recognition(), c.ID)); err != nil {
			return err
		}
	}
	return t.Delete(BucketLiveCalls, indexKey(c.Session, c.ID))
}

// put stores c and records that it changed.
func (t *txn) put(c *Call) error {
	if err := t.Put(BucketCalls, c.ID, c); err != nil {
		return err
	}
	committed := *c
	t.events = append(t.events, Event{Frame: FrameCall, Call: &committed})
	return nil
}

// close closes q with the outcome and who gave it as the caller has set them, and stores it.
func (t *txn) close(q *Question, outcome string) error {
	q.State = QuestionClosed
	q.Outcome = outcome
	q.ClosedAt = t.now
	q.Version++
	if err := t.Delete(BucketOpenQuestions, indexKey(q.Session, q.ID)); err != nil {
		return err
	}
	if err := t.Put(BucketQuestions, q.ID, q); err != nil {
		return err
	}
	committed := *q
	t.events = append(t.events, Event{Frame: FrameClosed, Question: &committed})
	return nil
}

// withdraw ends a call that nobody answered, or an allow that nobody redeemed, and closes its question if that is
// still open, with the same outcome.
func (t *txn) withdraw(c *Call, event EventKind) error {
	if c.State == CallWaiting {
		_, outcome, err := Next(c.State, event)
		if err != nil {
			return err
		}
		q, err := t.openQuestion(c)
		if err != nil {
			return err
		}
		if err := t.close(q, string(outcome)); err != nil {
			return err
		}
	}
	return t.step(c, event)
}

// openQuestion returns the question that the waiting call c waits for.
func (t *txn) openQuestion(c *Call) (*Question, error) {
	var q Question
	ok, err := t.Get(BucketQuestions, c.Question, &q)
	switch {
	case err != nil:
		return nil, err
	case !ok || q.State != QuestionOpen || q.Call != c.ID:
		return nil, fmt.Errorf("call %s waits for no open question: %w", c.ID, ErrDamaged)
	}
	return &q, nil
}

// waitingCall returns the call that waits for the open question q.
func (t *txn) waitingCall(q *Question) (*Call, error) {
	var c Call
	ok, err := t.Get(BucketCalls, q.Call, &c)
	switch {
	case err != nil:
		return nil, err
	case !ok || c.State != CallWaiting || c.Question != q.ID:
		return nil, fmt.Errorf("question %s is open for a call that does not wait: %w", q.ID, ErrDamaged)
	}
	return &c, nil
}

// due reports whether c's time is over. An allow from the future means that the clock was set back: how much of its
// time is left cannot be known, so none is.
func (t *txn) due(c *Call) bool {
	if c.State == CallAllowed && t.now.Before(c.DecidedAt.Add(-ClockTolerance)) {
		return true
	}
	return !c.Deadline.IsZero() && !t.now.Before(c.Deadline)
}
