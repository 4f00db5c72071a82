package approval_test

import (
	"errors"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/approval/approvaltest"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

var errPower = errors.New("power cut")

// TestCrash fails every operation at each of its writes and at its commit in turn. Each time the store must be as it
// was before, nothing may be published, and a new registry on the same store must then do what was asked.
func TestCrash(t *testing.T) {
	save := func(tx approval.Tx, _ approval.Question, o approval.Offer) error {
		return tx.Put("rules", "r", o.Rules)
	}
	type subject struct {
		waiting, unseen, other, allowed, running, released approval.Admission
	}
	for _, tt := range []struct {
		name string
		do   func(*desk, subject) ([]approval.Event, error)
	}{
		{"admit ask", func(d *desk, _ subject) ([]approval.Event, error) {
			p := proposal("new", "sha256:new", policy.Ask)
			p.Also = func(tx approval.Tx) error { return tx.Put("sessions", "s1", true) }
			a, err := d.Admit(p)
			return a.Events, err
		}},
		{"admit allow", func(d *desk, _ subject) ([]approval.Event, error) {
			a, err := d.Admit(proposal("new", "sha256:new", policy.Allow))
			return a.Events, err
		}},
		{"admit deny", func(d *desk, _ subject) ([]approval.Event, error) {
			a, err := d.Admit(proposal("new", "sha256:new", policy.Deny))
			return a.Events, err
		}},
		{"reply", func(d *desk, s subject) ([]approval.Event, error) {
			cmd := replyTo(s.waiting, "k")
			cmd.Offer = 2
			_, events, err := d.Reply(cmd, save)
			return events, err
		}},
		{"reject", func(d *desk, s subject) ([]approval.Event, error) {
			_, events, err := d.Reject(rejectOf(s.waiting, "k"))
			return events, err
		}},
		{"stop the turn", func(d *desk, s subject) ([]approval.Event, error) {
			cmd := rejectOf(s.waiting, "k")
			cmd.StopTurn = true
			_, events, err := d.Reject(cmd)
			return events, err
		}},
		{"late answer", func(d *desk, s subject) ([]approval.Event, error) {
			d.clock.Set(start.Add(approval.DefaultWait))
			_, events, err := d.Reply(replyTo(s.waiting, "k"), nil)
			if errors.Is(err, approval.ErrExpired) {
				err = nil
			}
			return events, err
		}},
		{"show", func(d *desk, s subject) ([]approval.Event, error) {
			_, events, err := d.Shown(s.unseen.Question.ID, 1)
			return events, err
		}},
		{"late showing", func(d *desk, s subject) ([]approval.Event, error) {
			d.clock.Set(start.Add(approval.DefaultWait))
			_, events, err := d.Shown(s.unseen.Question.ID, 1)
			if errors.Is(err, approval.ErrExpired) {
				err = nil
			}
			return events, err
		}},
		{"extend", func(d *desk, s subject) ([]approval.Event, error) {
			d.clock.Set(start.Add(time.Minute))
			_, events, err := d.Extend(s.waiting.Question.ID, 1, owner)
			return events, err
		}},
		{"redeem", func(d *desk, s subject) ([]approval.Event, error) {
			_, events, err := d.Redeem(s.allowed.Call.ID, "sha256:1")
			return events, err
		}},
		{"late redeem", func(d *desk, s subject) ([]approval.Event, error) {
			d.clock.Set(start.Add(approval.DefaultAllowTTL))
			_, events, err := d.Redeem(s.allowed.Call.ID, "sha256:1")
			if errors.Is(err, approval.ErrExpired) {
				err = nil
			}
			return events, err
		}},
		{"release", func(d *desk, s subject) ([]approval.Event, error) {
			_, events, err := d.Release(s.allowed.Call.ID)
			return events, err
		}},
		{"finish", func(d *desk, s subject) ([]approval.Event, error) {
			_, events, err := d.Finish(s.running.Call.ID, approval.Finish{Outcome: approval.OutcomeDone})
			return events, err
		}},
		{"cancel", func(d *desk, s subject) ([]approval.Event, error) {
			_, events, err := d.Cancel(s.waiting.Call.ID, approval.OutcomeCancelled)
			return events, err
		}},
		{"session gone", func(d *desk, _ subject) ([]approval.Event, error) { return d.SessionGone("s1") }},
		{"expire", func(d *desk, _ subject) ([]approval.Event, error) {
			d.clock.Set(start.Add(time.Hour))
			_, events, err := d.Expire()
			return events, err
		}},
		{"forget commands", func(d *desk, _ subject) ([]approval.Event, error) {
			d.clock.Set(start.Add(approval.CommandRetention + time.Hour))
			_, events, err := d.Expire()
			return events, err
		}},
		{"restore", func(d *desk, _ subject) ([]approval.Event, error) {
			_, events, err := d.Restore()
			return events, err
		}},
		{"park", func(d *desk, s subject) ([]approval.Event, error) {
			_, _, err := d.Park(s.waiting.Call.ID)
			return nil, err
		}},
		{"re-attach a parked wait", func(d *desk, _ subject) ([]approval.Event, error) {
			_, ok, events, err := d.Reattach("s1", "sha256:other", "key")
			if err == nil && !ok {
				err = errors.New("nothing was parked")
			}
			return events, err
		}},
		{"re-attach an overdue wait", func(d *desk, _ subject) ([]approval.Event, error) {
			d.clock.Set(start.Add(approval.DefaultWait))
			a, err := d.Admit(proposal("waiting", "sha256:waiting", policy.Ask))
			return a.Events, err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for n := 1; ; n++ {
				d := newDesk()
				var s subject
				s.waiting, s.other = d.ask(t, "waiting"), d.ask(t, "other")
				s.unseen = d.admit(t, proposal("unseen", "sha256:unseen", policy.Ask))
				s.allowed = d.admit(t, proposal("allowed", "sha256:1", policy.Allow))
				s.running = d.admit(t, proposal("running", "sha256:1", policy.Allow))
				s.released = d.admit(t, proposal("released", "sha256:1", policy.Allow))
				d.allow(t, d.ask(t, "answered"), "k0")
				_, _, err1 := d.Redeem(s.running.Call.ID, "sha256:1")
				_, _, err2 := d.Release(s.released.Call.ID)
				_, _, err3 := d.Park(s.other.Call.ID)
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Fatal(err)
				}
				before := d.store.Dump()
				step, cut := 0, false
				d.store.SetFault(func(approvaltest.Step) error {
					if step++; step == n {
						cut = true
						return errPower
					}
					return nil
				})
				events, err := tt.do(d, s)
				d.store.SetFault(nil)
				if !cut {
					if err != nil {
						t.Fatalf("fails without a fault: %v", err)
					}
					if n < 3 {
						t.Errorf("only %d steps were failed", n-1)
					}
					break
				}
				if !errors.Is(err, errPower) {
					t.Fatalf("step %d: the fault is not reported: %v", n, err)
				}
				if len(events) != 0 {
					t.Errorf("step %d: published %s without a commit", n, frames(events))
				}
				if diff := cmp.Diff(before, d.store.Dump()); diff != "" {
					t.Fatalf("step %d: a failed transaction left:\n%s", n, diff)
				}
				d.restart()
				if _, err := tt.do(d, s); err != nil {
					t.Fatalf("step %d: not done after the restart: %v", n, err)
				}
				consistent(t, d.store)
			}
		})
	}
}

// The answer was committed and the core died before it could say so: the retry gets the result, and only once was
// anything saved.
func TestCrashAfterCommit(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	saved := 0
	save := func(approval.Tx, approval.Question, approval.Offer) error { saved++; return nil }
	first, _, err := d.Reply(replyTo(a, "k1"), save)
	if err != nil {
		t.Fatal(err)
	}
	d.restart()
	if _, _, err := d.Restore(); err != nil {
		t.Fatal(err)
	}
	again, _, err := d.Reply(replyTo(a, "k1"), save)
	if err != nil || again != first || saved != 1 {
		t.Errorf("%+v, %v, saved %d times", again, err, saved)
	}
	if b := d.ask(t, "c1"); b.Call.State != approval.CallAllowed || b.Question.Outcome != approval.AnswerAllow {
		t.Errorf("the client that comes back gets %s", b.Call.State)
	}
}

// A store may run the function of a transaction more than once before it commits; what is returned is of the last.
type repeating struct{ *approvaltest.Store }

var errAgain = errors.New("again")

func (r repeating) Update(fn func(approval.Tx) error) error {
	for range 2 {
		err := r.Store.Update(func(tx approval.Tx) error {
			if err := fn(tx); err != nil {
				return err
			}
			return errAgain
		})
		if !errors.Is(err, errAgain) {
			return err
		}
	}
	return r.Store.Update(fn)
}

func TestRepeatedTransactions(t *testing.T) {
	d := newDesk()
	d.Registry = approval.New(repeating{d.store}, d.clock, approval.Options{})
	a := d.admit(t, proposal("", "sha256:1", policy.Ask))
	if a.Existing || len(a.Events) != 2 {
		t.Errorf("%+v", a)
	}
	b := d.admit(t, proposal("", "sha256:1", policy.Ask))
	if b.Call.ID == a.Call.ID {
		t.Error("two clients share a wait")
	}
	d.Lost(a.Call.ID)
	if back := d.admit(t, proposal("", "sha256:1", policy.Ask)); back.Call.ID != a.Call.ID {
		t.Error("the lost client did not find its call")
	}
	d.shown(t, a)
	result, events, err := d.Reply(replyTo(a, "k1"), nil)
	if err != nil || !result.Applied || len(events) != 2 {
		t.Errorf("%+v, %d events, %v", result, len(events), err)
	}
	if _, events, err := d.Redeem(a.Call.ID, "sha256:1"); err != nil || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
	restored, events, err := d.Restore()
	if err != nil || len(restored.Unknown) != 1 || len(events) != 1 {
		t.Errorf("%d unknown, %d events, %v", len(restored.Unknown), len(events), err)
	}
	consistent(t, d.store)
}
