package approval_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"countersign/backend/approval"
	"countersign/backend/approval/approvaltest"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

func (d *desk) askUntil(t fataler, toolCall string, until time.Time) approval.Admission {
	t.Helper()
	p := proposal(toolCall, "sha256:"+toolCall, policy.Ask)
	p.Question.ExpiresAt = until
	return d.admit(t, p)
}

func (d *desk) expire(t fataler) (time.Time, []approval.Event) {
	t.Helper()
	next, events, err := d.Expire()
	if err != nil {
		t.Fatalf("expire: %v", err)
	}
	return next, events
}

func TestExpire(t *testing.T) {
	d := newDesk()
	if next, events := d.expire(t); !next.IsZero() || len(events) != 0 {
		t.Errorf("an empty desk: next %v, %s", next, frames(events))
	}
	soon := d.askUntil(t, "soon", start.Add(10*time.Second))
	allow := d.admit(t, proposal("allow", "sha256:1", policy.Allow))
	late := d.askUntil(t, "late", start.Add(100*time.Second))
	never := d.askUntil(t, "never", time.Time{})

	commits := d.store.Commits()
	if next, events := d.expire(t); !next.Equal(start.Add(10*time.Second)) || len(events) != 0 {
		t.Errorf("nothing is due: next %v, %s", next, frames(events))
	}
	if d.store.Commits() != commits {
		t.Error("a look that found nothing was a write")
	}
	d.clock.Advance(10 * time.Second)
	next, events := d.expire(t)
	if got := frames(events); got != "question.closed closed(expired); call.updated finished(expired)" {
		t.Errorf("published %s", got)
	}
	if !next.Equal(start.Add(approval.DefaultAllowTTL)) {
		t.Errorf("next %v", next)
	}
	wantState(t, d.call(t, soon.Call.ID), approval.CallFinished, approval.OutcomeExpired)
	wantState(t, d.call(t, allow.Call.ID), approval.CallAllowed, "")

	d.clock.Advance(time.Hour) // asleep
	next, events = d.expire(t)
	if !next.IsZero() || len(events) != 3 {
		t.Errorf("next %v, %s", next, frames(events))
	}
	wantState(t, d.call(t, allow.Call.ID), approval.CallFinished, approval.OutcomeExpired)
	wantState(t, d.call(t, late.Call.ID), approval.CallFinished, approval.OutcomeExpired)
	wantState(t, d.call(t, never.Call.ID), approval.CallWaiting, "")
	if q, _ := d.Question(late.Question.ID); q.Answerer != "" || q.Comment != "" {
		t.Errorf("a time-out names a person: %+v", q)
	}
	consistent(t, d.store)
}

// A clock that is set back lengthens waits and nothing else; set forward again, it ends them.
func TestExpireClockJumps(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	d.clock.Set(start.AddDate(-1, 0, 0))
	if next, events := d.expire(t); !next.Equal(start.Add(approval.DefaultWait)) || len(events) != 0 {
		t.Errorf("next %v, %s", next, frames(events))
	}
	d.allow(t, a, "k1") // decided a year before it was asked, by this clock
	if c := d.call(t, a.Call.ID); !c.Deadline.Equal(d.clock.Now().Add(approval.DefaultAllowTTL)) {
		t.Errorf("deadline %v", c.Deadline)
	}
	d.clock.Set(start)
	_, events := d.expire(t)
	if got := frames(events); got != "call.updated finished(expired)" {
		t.Errorf("published %s", got)
	}
	d.clock.Set(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC))
	d.ask(t, "c2")
	consistentTimes(t, d)
	d.clock.Set(time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC))
	d.expire(t)
	consistent(t, d.store)
}

// consistentTimes asks once more: what is not due must not be closed.
func consistentTimes(t *testing.T, d *desk) {
	t.Helper()
	if _, events := d.expire(t); len(events) != 0 {
		t.Errorf("published %s", frames(events))
	}
}

func TestExpireMany(t *testing.T) {
	d := newDesk()
	const n = 600 // more than two transactions of 256
	for i := range n {
		p := proposal(fmt.Sprint("c", i), "sha256:1", policy.Ask)
		p.Call.Session = fmt.Sprint("s", i%10)
		d.admit(t, p)
	}
	commits := d.store.Commits()
	d.clock.Advance(approval.DefaultWait)
	if _, events := d.expire(t); len(events) != 2*n {
		t.Errorf("%d events", len(events))
	}
	if got := d.store.Commits() - commits; got != 3 {
		t.Errorf("%d commits", got)
	}
	consistent(t, d.store)
}

// What was committed before a failure is published, the rest is done next time.
func TestExpireFailure(t *testing.T) {
	d := newDesk()
	for i := range 300 {
		p := proposal(fmt.Sprint("c", i), "sha256:1", policy.Ask)
		p.Call.Session = fmt.Sprint("s", i%10)
		d.admit(t, p)
	}
	d.clock.Advance(approval.DefaultWait)
	commits := 0
	d.store.SetFault(func(s approvaltest.Step) error {
		if s.Op == "commit" {
			if commits++; commits == 2 {
				return errors.New("disk full")
			}
		}
		return nil
	})
	_, events, err := d.Expire()
	if err == nil || len(events) != 2*256 {
		t.Errorf("%d events, %v", len(events), err)
	}
	d.store.SetFault(nil)
	if _, events = d.expire(t); len(events) != 2*44 {
		t.Errorf("%d events", len(events))
	}
	consistent(t, d.store)
}

// Results of commands are kept for a while; after it a repetition is told what stands, and applies nothing.
func TestCommandRetention(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	d.allow(t, a, "k1")
	d.clock.Advance(approval.CommandRetention)
	d.expire(t)
	if n := len(d.store.Dump()[approval.BucketCommands]); n != 1 {
		t.Errorf("%d commands are kept at the end of the retention", n)
	}
	d.clock.Advance(time.Second)
	d.expire(t)
	if n := len(d.store.Dump()[approval.BucketCommands]); n != 0 {
		t.Errorf("%d commands are kept", n)
	}
	_, _, err := d.Reply(replyTo(a, "k1"), nil)
	wantCode(t, err, "already_answered")
	consistent(t, d.store)
}

// A deadline that is no longer the call's is dropped; one without a call is damage, and said so.
func TestExpireDamage(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	put := func(bucket, key string, v any) {
		t.Helper()
		if err := d.store.Update(func(tx approval.Tx) error { return tx.Put(bucket, key, v) }); err != nil {
			t.Fatal(err)
		}
	}
	put(approval.BucketDeadlines, "000000000001.000000000\x00"+a.Call.ID, start)
	if _, events := d.expire(t); len(events) != 0 {
		t.Errorf("published %s", frames(events))
	}
	consistent(t, d.store)
	put(approval.BucketDeadlines, "999999999998.000000000\x00"+a.Call.ID, "soon")
	if _, _, err := d.Expire(); err != nil {
		t.Errorf("a later deadline is not read: %v", err)
	}
	d.clock.Advance(approval.DefaultWait)
	_, _, err := d.Expire()
	wantCode(t, err, "approval_damaged")
	put(approval.BucketDeadlines, "000000000001.000000000\x00no", start)
	_, _, err = d.Expire()
	wantCode(t, err, "approval_damaged")
}

// wall is the clock of the machine, or of the bubble of a test.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// TestExpireLoop runs the loop a desk runs, on the time of a bubble: sleep until next, expire, publish.
func TestExpireLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approval.New(approvaltest.NewStore(), wall{}, approval.Options{})
		begin := time.Now()
		p := proposal("c1", "sha256:1", policy.Ask)
		p.Question.ExpiresAt = begin.Add(approval.DefaultWait)
		if _, err := r.Admit(p); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Admit(proposal("c2", "sha256:1", policy.Allow)); err != nil {
			t.Fatal(err)
		}
		var ended []time.Duration
		for {
			next, events, err := r.Expire()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Frame == approval.FrameCall {
					ended = append(ended, time.Since(begin))
				}
			}
			if next.IsZero() {
				break
			}
			time.Sleep(time.Until(next))
		}
		want := []time.Duration{approval.DefaultAllowTTL, approval.DefaultWait}
		if diff := cmp.Diff(want, ended); diff != "" {
			t.Error(diff)
		}
	})
}
