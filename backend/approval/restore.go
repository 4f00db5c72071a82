package approval

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Restored is what a start found.
type Restored struct {
	Open    []Question // still open, oldest first, with the ids and versions they had
	Unknown []Call     // were running when the core stopped, and are now finished(unknown)
}

// Restore is called once at start, before anything is admitted. What was running ends as unknown and is never run
// again; what is due expires; every other wait stands as it did. With an error, the events are those that were
// committed before it.
func (r *Registry) Restore() (Restored, []Event, error) {
	var out Restored
	var events []Event
	running, err := r.running()
	if err != nil {
		return Restored{}, nil, fmt.Errorf("restore: %w", err)
	}
	for ids := range slices.Chunk(running, batch) {
		var ended []Call
		committed, err := r.update(func(t *txn) error {
			ended = nil
			for _, id := range ids {
				c, err := t.call(id)
				if err != nil {
					return damaged(err)
				}
				if err := t.step(c, EventRestart); err != nil {
					return err
				}
				ended = append(ended, *c)
			}
			return nil
		})
		if err != nil {
			return Restored{}, events, fmt.Errorf("restore: %w", err)
		}
		events = append(events, committed...)
		out.Unknown = append(out.Unknown, ended...)
	}
	_, expired, err := r.Expire()
	events = append(events, expired...)
	if err != nil {
		return Restored{}, events, fmt.Errorf("restore: %w", err)
	}
	if out.Open, err = r.Pending(); err != nil {
		return Restored{}, events, fmt.Errorf("restore: %w", err)
	}
	return out, events, nil
}

// running returns the ids of the calls that run.
func (r *Registry) running() ([]string, error) {
	var out []string
	err := r.store.View(func(tx Tx) error {
		out = nil
		return tx.Each(BucketLiveCalls, "", func(key string, raw json.RawMessage) error {
			var state CallState
			if err := json.Unmarshal(raw, &state); err != nil {
				return fmt.Errorf("%w: live call %s: %s", ErrDamaged, lastPart(key), err.Error())
			}
			if state == CallRunning {
				out = append(out, lastPart(key))
			}
			return nil
		})
	})
	return out, err
}
