package desk

import (
	"context"
	"strconv"
	"time"

	"countersign/backend/approval"
	"countersign/backend/wire"
)

// keyPause is where the pause of the whole desk is kept: it outlives the core, or restarting it would lift it.
const keyPause = "pause"

// maxPauseSeconds is the longest pause that ends by itself; wire.PauseForever does not.
const maxPauseSeconds = 7 * 24 * 3600

// pauseSession refuses everything of an agent's process from now on. A session that is paused already keeps its reason:
// what the agent did is worth more than that the owner paused it too.
func (d *Desk) pauseSession(_ context.Context, _ *exchange, in wire.PauseSession) (wire.Empty, error) {
	s, ok := d.session(in.Session)
	if !ok {
		return wire.Empty{}, unknownSession(in.Session)
	}
	if s.Paused != "" {
		return wire.Empty{}, nil
	}
	return wire.Empty{}, d.setPaused(s, wire.PausedByOwner)
}

// resume lifts the pause of a session: only the owner does.
func (d *Desk) resume(_ context.Context, _ *exchange, in wire.ResumeSession) (wire.Empty, error) {
	s, ok := d.session(in.Session)
	if !ok {
		return wire.Empty{}, unknownSession(in.Session)
	}
	return wire.Empty{}, d.setPaused(s, "")
}

// pauseDesk refuses every new call for a while, or resumes. What waits already stays and can be answered.
func (d *Desk) pauseDesk(_ context.Context, _ *exchange, in wire.PauseDesk) (wire.DeskPause, error) {
	var next wire.DeskPause
	switch {
	case in.Seconds == 0:
	case in.Seconds == wire.PauseForever:
		next.Paused = true
	case in.Seconds > 0 && in.Seconds <= maxPauseSeconds:
		next.Paused, next.Until = true, d.clock.Now().Add(time.Duration(in.Seconds)*time.Second)
	default:
		return wire.DeskPause{}, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{
			"problem": "seconds must be -1, 0, or at most " + strconv.Itoa(maxPauseSeconds),
		}}
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	changed := false
	err := d.store.Update(func(tx approval.Tx) error {
		before, err := pauseIn(tx)
		if err != nil {
			return err
		}
		if changed = before.Paused != next.Paused || !before.Until.Equal(next.Until); !changed {
			return nil
		}
		if !next.Paused {
			return tx.Delete(bucketDesk, keyPause)
		}
		return tx.Put(bucketDesk, keyPause, next)
	})
	if err != nil {
		return wire.DeskPause{}, err
	}
	if changed {
		d.log.Info("desk paused", "paused", next.Paused, "until", next.Until)
		d.frame(wire.FrameDeskPaused, next)
		d.wakeLoop() // which ends it
	}
	return next, nil
}

// pauseIn reads the pause as it is stored, whether or not its time is over.
func pauseIn(tx approval.Tx) (wire.DeskPause, error) {
	var p wire.DeskPause
	_, err := tx.Get(bucketDesk, keyPause, &p)
	return p, err
}

// over reports whether a pause has ended by the clock.
func over(p wire.DeskPause, now time.Time) bool {
	return !p.Paused || !p.Until.IsZero() && !now.Before(p.Until)
}

// deskPause is the pause as it holds now.
func (d *Desk) deskPause() (wire.DeskPause, error) {
	var p wire.DeskPause
	err := d.store.View(func(tx approval.Tx) (err error) {
		p, err = pauseIn(tx)
		return err
	})
	if err != nil || over(p, d.clock.Now()) {
		return wire.DeskPause{}, err
	}
	return p, nil
}

// refusePaused is the error of every new call while the desk is paused. It is asked inside the transaction that would
// store the call, so that none is admitted once pausing was answered.
func (d *Desk) refusePaused(tx approval.Tx) error {
	p, err := pauseIn(tx)
	if err != nil || over(p, d.clock.Now()) {
		return err
	}
	refusal := &wire.Error{Code: "desk_paused"}
	if !p.Until.IsZero() {
		refusal.Args = map[string]string{"until": p.Until.Format(time.RFC3339)}
	}
	return refusal
}

// endPause takes away a pause whose time is over and tells everybody. It returns when the pause that holds ends, zero
// when none ends by itself.
func (d *Desk) endPause() (next time.Time, err error) {
	d.keeping.Lock()
	defer d.keeping.Unlock()
	var p wire.DeskPause
	if err := d.store.View(func(tx approval.Tx) (err error) {
		p, err = pauseIn(tx)
		return err
	}); err != nil || !p.Paused {
		return time.Time{}, err
	}
	if !over(p, d.clock.Now()) {
		return p.Until, nil
	}
	if err := d.store.Update(func(tx approval.Tx) error { return tx.Delete(bucketDesk, keyPause) }); err != nil {
		return time.Time{}, err
	}
	d.log.Info("desk pause ended", "until", p.Until)
	d.frame(wire.FrameDeskPaused, wire.DeskPause{})
	return time.Time{}, nil
}
