package approval

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// batch is how many records one transaction of Expire or Restore changes at most, so that a long list does not keep
// an answer waiting.
const batch = 256

// Expire closes the waits and the allows whose time is over by the wall clock, and forgets the results of old
// commands. next is when it is due again, zero when nothing waits for a time. Call it at next, and after the machine
// was suspended or its clock was set. With an error, the events are those that were committed before it.
func (r *Registry) Expire() (next time.Time, events []Event, err error) {
	for {
		now := r.now() // of the look and of the transaction: what was found due is ended, so that the loop ends
		due, old, next, err := r.overdue(now)
		if err != nil {
			return time.Time{}, events, fmt.Errorf("expire: %w", err)
		}
		if len(due) == 0 && len(old) == 0 {
			return next, events, nil
		}
		committed, err := r.updateAt(func() time.Time { return now }, func(t *txn) error {
			for _, key := range due {
				if err := t.expire(key); err != nil {
					return err
				}
			}
			for _, key := range old {
				if err := t.forgetCommand(key); err != nil {
					return err
				}
			}
			return nil
		})
		events = append(events, committed...)
		if err != nil {
			return time.Time{}, events, fmt.Errorf("expire: %w", err)
		}
	}
}

// overdue reads what Expire has to do, without a write when there is nothing. The keys are those of the indexes.
func (r *Registry) overdue(now time.Time) (due, old []string, next time.Time, err error) {
	err = r.store.View(func(tx Tx) error {
		due, old, next = nil, nil, time.Time{}
		limit := timeKey(now) + "\x01" // sorts behind every key of this very moment
		err := tx.Each(BucketDeadlines, "", func(key string, raw json.RawMessage) error {
			if key > limit {
				if err := json.Unmarshal(raw, &next); err != nil {
					return fmt.Errorf("%w: deadline of call %s: %s", ErrDamaged, lastPart(key), err.Error())
				}
				return ErrStop
			}
			if due = append(due, key); len(due) >= batch {
				return ErrStop
			}
			return nil
		})
		if err != nil {
			return err
		}
		limit = timeKey(now.Add(-CommandRetention))
		return tx.Each(BucketCommandTimes, "", func(key string, _ json.RawMessage) error {
			if key > limit || len(old) >= batch {
				return ErrStop
			}
			old = append(old, key)
			return nil
		})
	})
	return due, old, next, err
}

// expire closes the call of one deadline. Between the look and this transaction the call may have been answered or
// used, which took the deadline away.
func (t *txn) expire(key string) error {
	c, err := t.call(lastPart(key))
	if err != nil {
		return damaged(err)
	}
	if indexKey(timeKey(c.Deadline), c.ID) != key {
		return t.Delete(BucketDeadlines, key)
	}
	return t.withdraw(c, EventExpire)
}

// forgetCommand drops a command's result. Its question stays closed, so a late repetition gets already_answered.
func (t *txn) forgetCommand(key string) error {
	_, id, _ := strings.Cut(key, separator)
	if err := t.Delete(BucketCommands, id); err != nil {
		return err
	}
	return t.Delete(BucketCommandTimes, key)
}
