package approval_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

func TestRedeemOnce(t *testing.T) {
	d := newDesk()
	a := d.admit(t, proposal("c1", "sha256:1", policy.Allow))
	c, events, err := d.Redeem(a.Call.ID, "sha256:1")
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, c, approval.CallRunning, "")
	if !c.StartedAt.Equal(start) || !c.Deadline.IsZero() || frames(events) != "call.updated running()" {
		t.Errorf("%+v published %s", c, frames(events))
	}
	_, _, err = d.Redeem(a.Call.ID, "sha256:1")
	wantCode(t, err, "already_redeemed")
	_, _, err = d.Release(a.Call.ID)
	wantCode(t, err, "already_redeemed")
	exit := 3
	c, events, err = d.Finish(a.Call.ID, approval.Finish{
		Outcome: approval.OutcomeDone, Exit: &exit, Directory: "/w/sub", Receipts: []string{"r1", "r2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, c, approval.CallFinished, approval.OutcomeDone)
	if *c.Exit != 3 || c.Directory != "/w/sub" || len(c.Receipts) != 2 || frames(events) != "call.updated finished(done)" {
		t.Errorf("%+v published %s", c, frames(events))
	}
	_, _, err = d.Redeem(a.Call.ID, "sha256:1")
	wantCode(t, err, "already_redeemed")
	_, _, err = d.Finish(a.Call.ID, approval.Finish{Outcome: approval.OutcomeDone})
	wantCode(t, err, "invalid_transition")
	consistent(t, d.store)
}

func TestRedeemRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		call   func(*testing.T, *desk) string
		digest string
		want   string
	}{
		{"unknown", func(*testing.T, *desk) string { return "no" }, "sha256:1", "unknown_call"},
		{"another digest", func(t *testing.T, d *desk) string {
			return d.admit(t, proposal("c", "sha256:1", policy.Allow)).Call.ID
		}, "sha256:2", "approval_mismatch"},
		{"no digest", func(t *testing.T, d *desk) string {
			return d.admit(t, proposal("c", "sha256:1", policy.Allow)).Call.ID
		}, "", "approval_mismatch"},
		{"waiting", func(t *testing.T, d *desk) string {
			return d.admit(t, proposal("c", "sha256:1", policy.Ask)).Call.ID
		}, "sha256:1", "not_allowed"},
		{"denied", func(t *testing.T, d *desk) string {
			return d.admit(t, proposal("c", "sha256:1", policy.Deny)).Call.ID
		}, "sha256:1", "not_allowed"},
		{"refused", func(t *testing.T, d *desk) string {
			a := d.admit(t, proposal("c", "sha256:1", policy.Ask))
			if _, _, err := d.Reject(rejectOf(a, "k")); err != nil {
				t.Fatal(err)
			}
			return a.Call.ID
		}, "sha256:1", "not_allowed"},
		{"released", func(t *testing.T, d *desk) string {
			a := d.admit(t, proposal("c", "sha256:1", policy.Allow))
			if _, _, err := d.Release(a.Call.ID); err != nil {
				t.Fatal(err)
			}
			return a.Call.ID
		}, "sha256:1", "already_redeemed"},
		{"cancelled", func(t *testing.T, d *desk) string {
			a := d.admit(t, proposal("c", "sha256:1", policy.Allow))
			if _, _, err := d.Cancel(a.Call.ID, approval.OutcomeCancelled); err != nil {
				t.Fatal(err)
			}
			return a.Call.ID
		}, "sha256:1", "not_allowed"},
		{"expired", func(t *testing.T, d *desk) string {
			a := d.admit(t, proposal("c", "sha256:1", policy.Allow))
			d.clock.Advance(approval.DefaultAllowTTL)
			if _, _, err := d.Expire(); err != nil {
				t.Fatal(err)
			}
			return a.Call.ID
		}, "sha256:1", "expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			id := tt.call(t, d)
			before := d.store.Dump()
			_, events, err := d.Redeem(id, tt.digest)
			wantCode(t, err, tt.want)
			if diff := cmp.Diff(before, d.store.Dump()); diff != "" || len(events) != 0 {
				t.Errorf("changed:\n%s", diff)
			}
		})
	}
}

// The allow is good until just before its time is over, also after a restart, and in no case after it.
func TestAllowTTL(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		want  string
	}{
		{"at once", 0, ""},
		{"just in time", approval.DefaultAllowTTL - 1, ""},
		{"too late", approval.DefaultAllowTTL, "expired"},
		{"after a night asleep", 8 * time.Hour, "expired"},
		{"clock corrected a little", -approval.ClockTolerance, ""},
		{"clock set back", -approval.ClockTolerance - 1, "expired"},
		{"clock set back a year", -365 * 24 * time.Hour, "expired"},
	} {
		for _, how := range []string{"redeem", "release"} {
			t.Run(tt.name+" "+how, func(t *testing.T) {
				d := newDesk()
				a := d.admit(t, proposal("c1", "sha256:1", policy.Allow))
				d.clock.Advance(tt.after)
				d.restart()
				var events []approval.Event
				var err error
				if how == "redeem" {
					_, events, err = d.Redeem(a.Call.ID, "sha256:1")
				} else {
					_, events, err = d.Release(a.Call.ID)
				}
				wantCode(t, err, tt.want)
				if tt.want == "expired" && frames(events) != "call.updated finished(expired)" {
					t.Errorf("published %q", frames(events))
				}
				consistent(t, d.store)
			})
		}
	}
}

func TestAllowTTLOption(t *testing.T) {
	d := newDesk()
	d.Registry = approval.New(d.store, d.clock, approval.Options{AllowTTL: time.Second})
	a := d.admit(t, proposal("c1", "sha256:1", policy.Allow))
	d.restart() // what was promised stands, whatever the option is now
	d.clock.Advance(time.Second)
	_, _, err := d.Redeem(a.Call.ID, "sha256:1")
	wantCode(t, err, "expired")
}

func TestFinish(t *testing.T) {
	running := func(d *desk, id string) error { _, _, err := d.Redeem(id, "sha256:1"); return err }
	released := func(d *desk, id string) error { _, _, err := d.Release(id); return err }
	for _, tt := range []struct {
		name    string
		before  func(*desk, string) error
		outcome approval.CallOutcome
		want    string
	}{
		{"done", running, approval.OutcomeDone, ""},
		{"failed", running, approval.OutcomeFailed, ""},
		{"reported", released, approval.OutcomeReported, ""},
		{"unreported", released, approval.OutcomeUnreported, ""},
		{"running as reported", running, approval.OutcomeReported, "invalid_transition"},
		{"released as done", released, approval.OutcomeDone, "invalid_transition"},
		{"allowed as done", func(*desk, string) error { return nil }, approval.OutcomeDone, "invalid_transition"},
		{"as unknown", running, approval.OutcomeUnknown, "invalid_outcome"},
		{"as refused", running, approval.OutcomeRefused, "invalid_outcome"},
		{"as nothing", running, "", "invalid_outcome"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			a := d.admit(t, proposal("c1", "sha256:1", policy.Allow))
			if err := tt.before(d, a.Call.ID); err != nil {
				t.Fatal(err)
			}
			before := d.call(t, a.Call.ID)
			c, _, err := d.Finish(a.Call.ID, approval.Finish{Outcome: tt.outcome, Signal: "KILL", Failure: "boundary"})
			wantCode(t, err, tt.want)
			if tt.want != "" {
				if diff := cmp.Diff(before, d.call(t, a.Call.ID)); diff != "" {
					t.Errorf("changed:\n%s", diff)
				}
				return
			}
			wantState(t, c, approval.CallFinished, tt.outcome)
			if c.Signal != "KILL" || c.Failure != "boundary" || !c.EndedAt.Equal(start) {
				t.Errorf("%+v", c)
			}
			consistent(t, d.store)
		})
	}
	_, _, err := newDesk().Finish("no", approval.Finish{Outcome: approval.OutcomeDone})
	wantCode(t, err, "unknown_call")
}

func TestCancel(t *testing.T) {
	waiting := func(t *testing.T, d *desk) string { return d.ask(t, "c1").Call.ID }
	allowed := func(t *testing.T, d *desk) string {
		return d.admit(t, proposal("c1", "sha256:1", policy.Allow)).Call.ID
	}
	running := func(t *testing.T, d *desk) string {
		id := allowed(t, d)
		if _, _, err := d.Redeem(id, "sha256:1"); err != nil {
			t.Fatal(err)
		}
		return id
	}
	released := func(t *testing.T, d *desk) string {
		id := allowed(t, d)
		if _, _, err := d.Release(id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, tt := range []struct {
		name   string
		call   func(*testing.T, *desk) string
		reason approval.CallOutcome
		want   string
	}{
		{"waiting", waiting, approval.OutcomeCancelled, ""},
		{"waiting, origin gone", waiting, approval.OutcomeOriginGone, ""},
		{"waiting, answered in the agent", waiting, approval.OutcomeAnsweredInAgent, ""},
		{"allowed", allowed, approval.OutcomeCancelled, ""},
		{"allowed, origin gone", allowed, approval.OutcomeOriginGone, ""},
		{"allowed, answered in the agent", allowed, approval.OutcomeAnsweredInAgent, ""},
		{"waiting, as refused", waiting, approval.OutcomeRefused, "invalid_outcome"},
		{"waiting, as expired", waiting, approval.OutcomeExpired, "invalid_outcome"},
		{"running", running, approval.OutcomeCancelled, "invalid_transition"},
		{"running, origin gone", running, approval.OutcomeOriginGone, "invalid_transition"},
		{"released", released, approval.OutcomeCancelled, "invalid_transition"},
		{"released, origin gone", released, approval.OutcomeOriginGone, "invalid_transition"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			id := tt.call(t, d)
			before := d.call(t, id)
			c, _, err := d.Cancel(id, tt.reason)
			wantCode(t, err, tt.want)
			if tt.want != "" {
				if diff := cmp.Diff(before, d.call(t, id)); diff != "" {
					t.Errorf("changed:\n%s", diff)
				}
				return
			}
			wantState(t, c, approval.CallFinished, tt.reason)
			if c.Question != "" {
				if q, _ := d.Question(c.Question); q.Outcome != string(tt.reason) || q.Answerer != "" {
					t.Errorf("the question is %+v", q)
				}
			}
			consistent(t, d.store)
		})
	}
}

func TestSessionGone(t *testing.T) {
	d := newDesk()
	waiting := d.ask(t, "waiting")
	allowed := d.admit(t, proposal("allowed", "sha256:1", policy.Allow))
	running := d.admit(t, proposal("running", "sha256:1", policy.Allow))
	released := d.admit(t, proposal("released", "sha256:1", policy.Allow))
	denied := d.admit(t, proposal("denied", "sha256:1", policy.Deny))
	p := proposal("other", "sha256:1", policy.Ask)
	p.Call.Session = "s11"
	other := d.admit(t, p)
	if _, _, err := d.Redeem(running.Call.ID, "sha256:1"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Release(released.Call.ID); err != nil {
		t.Fatal(err)
	}
	events, err := d.SessionGone("s1")
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 4 {
		t.Errorf("published %s", frames(events))
	}
	wantState(t, d.call(t, waiting.Call.ID), approval.CallFinished, approval.OutcomeOriginGone)
	wantState(t, d.call(t, allowed.Call.ID), approval.CallFinished, approval.OutcomeOriginGone)
	wantState(t, d.call(t, running.Call.ID), approval.CallRunning, "")
	wantState(t, d.call(t, released.Call.ID), approval.CallFinished, approval.OutcomeUnreported)
	wantState(t, d.call(t, denied.Call.ID), approval.CallFinished, approval.OutcomeDenied)
	wantState(t, d.call(t, other.Call.ID), approval.CallWaiting, "")
	if events, err = d.SessionGone("s1"); err != nil || len(events) != 0 {
		t.Errorf("a second time: %s, %v", frames(events), err)
	}
	consistent(t, d.store)
}

func TestCallsNewestFirst(t *testing.T) {
	d := newDesk()
	for n := range 5 {
		d.admit(t, proposal(fmt.Sprint("c", n), "sha256:1", policy.Deny))
		d.clock.Advance(time.Millisecond)
	}
	calls, err := d.Calls("s1", 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range calls {
		got = append(got, c.ToolCall)
	}
	if diff := cmp.Diff([]string{"c4", "c3", "c2"}, got); diff != "" {
		t.Error(diff)
	}
	other := proposal("other", "sha256:1", policy.Deny)
	other.Call.Session = "s0"
	d.admit(t, other)
	for limit, want := range map[int][]string{0: nil, 1: {"other"}, 3: {"other", "c4", "c3"}, 9: {"other", "c4", "c3", "c2", "c1", "c0"}} {
		calls, err := d.Recent(limit)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for _, c := range calls {
			got = append(got, c.ToolCall)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the newest %d of all sessions:\n%s", limit, diff)
		}
	}
	for session, limit := range map[string]int{"s": 5, "s1": 0, "": 5, "s2": 5} {
		if calls, err := d.Calls(session, limit); err != nil || len(calls) != 0 {
			t.Errorf("Calls(%q, %d): %d, %v", session, limit, len(calls), err)
		}
	}
}
