package approval_test

import (
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/policy"
)

func TestParkAndReattach(t *testing.T) {
	d := newDesk()
	ask := func(toolCall string) approval.Admission {
		return d.admit(t, proposal(toolCall, "sha256:same", policy.Ask))
	}
	one, two := ask("c1"), ask("c2")
	if _, ok, _, err := d.Reattach("s1", "sha256:same", ""); ok || err != nil {
		t.Fatalf("re-attached to a wait that was not parked: %v", err)
	}
	for _, a := range []approval.Admission{two, one} {
		if _, parked, err := d.Park(a.Call.ID); !parked || err != nil {
			t.Fatalf("park: %v, %v", parked, err)
		}
	}
	d.restart()
	for _, tt := range []struct{ session, digest string }{{"s2", "sha256:same"}, {"s1", "sha256:other"}, {"s1", "sha256:sam"}} {
		if _, ok, _, err := d.Reattach(tt.session, tt.digest, ""); ok || err != nil {
			t.Errorf("%v was given a wait: %v", tt, err)
		}
	}
	key := approval.Key("s1", "t1", "c3", "sha256:same", 0)
	c, ok, _, err := d.Reattach("s1", "sha256:same", key)
	if err != nil || !ok || c.ID != one.Call.ID {
		t.Fatalf("got %s, %v, %v; want the oldest", c.ToolCall, ok, err)
	}
	if back := ask("c3"); back.Call.ID != one.Call.ID || !back.Existing {
		t.Error("the new tool call id does not lead back to the wait")
	}
	if _, _, _, err := d.Reattach("s1", "sha256:same", key); code(err) != "approval_mismatch" {
		t.Errorf("one key for two calls: %v", err)
	}
	if c, ok, _, err = d.Reattach("s1", "sha256:same", ""); err != nil || !ok || c.ID != two.Call.ID {
		t.Fatalf("got %s, %v, %v; want the second", c.ToolCall, ok, err)
	}
	if _, ok, _, err := d.Reattach("s1", "sha256:same", ""); ok || err != nil {
		t.Errorf("re-attached a third time: %v", err)
	}
	_, _, err = d.Park("no")
	wantCode(t, err, "unknown_call")
	consistent(t, d.store)
}

// What happens to a parked wait before its agent asks again.
func TestParkedWaitEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		do    func(*testing.T, *desk, approval.Admission)
		found bool
		state approval.CallState
		ended approval.CallOutcome
	}{
		{"nothing", func(*testing.T, *desk, approval.Admission) {}, true, approval.CallWaiting, ""},
		{"allowed", func(t *testing.T, d *desk, a approval.Admission) { d.allow(t, a, "k") }, true, approval.CallAllowed, ""},
		{"refused", func(t *testing.T, d *desk, a approval.Admission) {
			if _, _, err := d.Reject(rejectOf(a, "k")); err != nil {
				t.Fatal(err)
			}
		}, true, approval.CallFinished, approval.OutcomeRefused},
		{"due", func(_ *testing.T, d *desk, _ approval.Admission) { d.clock.Advance(approval.DefaultWait) },
			false, approval.CallFinished, approval.OutcomeExpired},
		{"allowed and due", func(t *testing.T, d *desk, a approval.Admission) {
			d.allow(t, a, "k")
			d.clock.Advance(approval.DefaultAllowTTL)
		}, false, approval.CallFinished, approval.OutcomeExpired},
		{"expired", func(t *testing.T, d *desk, _ approval.Admission) {
			d.clock.Advance(time.Hour)
			d.expire(t)
		}, false, approval.CallFinished, approval.OutcomeExpired},
		{"cancelled", func(t *testing.T, d *desk, a approval.Admission) {
			if _, _, err := d.Cancel(a.Call.ID, approval.OutcomeCancelled); err != nil {
				t.Fatal(err)
			}
		}, false, approval.CallFinished, approval.OutcomeCancelled},
		{"session gone", func(t *testing.T, d *desk, _ approval.Admission) {
			if _, err := d.SessionGone("s1"); err != nil {
				t.Fatal(err)
			}
		}, false, approval.CallFinished, approval.OutcomeOriginGone},
		{"refused, then session gone", func(t *testing.T, d *desk, a approval.Admission) {
			if _, _, err := d.Reject(rejectOf(a, "k")); err != nil {
				t.Fatal(err)
			}
			if _, err := d.SessionGone("s1"); err != nil {
				t.Fatal(err)
			}
		}, false, approval.CallFinished, approval.OutcomeRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			a := d.ask(t, "c1")
			if _, parked, err := d.Park(a.Call.ID); !parked || err != nil {
				t.Fatal(err)
			}
			tt.do(t, d, a)
			c, found, _, err := d.Reattach("s1", a.Call.Digest, "")
			if err != nil || found != tt.found {
				t.Fatalf("found %v, %v", found, err)
			}
			if found && c.ID != a.Call.ID {
				t.Errorf("found another call")
			}
			stored := d.call(t, a.Call.ID)
			wantState(t, stored, tt.state, tt.ended)
			if n := len(d.store.Dump()[approval.BucketParkedCalls]); n != 0 {
				t.Errorf("%d calls are still parked", n)
			}
			if stored.State != approval.CallWaiting {
				if _, parked, err := d.Park(a.Call.ID); parked || err != nil {
					t.Errorf("a call that waits no longer was parked: %v", err)
				}
			}
			consistent(t, d.store)
		})
	}
}
