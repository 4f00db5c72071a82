package approval_test

import (
	"errors"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/policy"
)

// A press that was meant for what stood there before must not answer: an allow needs a card that was shown half a second
// ago, a denial needs none, but is not taken right after a showing either.
func TestAnswersNeedAShownCard(t *testing.T) {
	const never = -1
	for _, tt := range []struct {
		name    string
		since   time.Duration // from the showing to the answer
		restart bool
		allow   string // code
		deny    string
	}{
		{"never shown", never, false, "not_shown", ""},
		{"shown in this moment", 0, false, "too_soon", "too_soon"},
		{"shown too short", approval.ShownDelay - 1, false, "too_soon", "too_soon"},
		{"shown long enough", approval.ShownDelay, false, "", ""},
		{"shown long ago", 4 * time.Minute, false, "", ""},
		{"shown too short, and a restart", approval.ShownDelay - 1, true, "too_soon", "too_soon"},
		{"shown long enough, and a restart", approval.ShownDelay, true, "", ""},
		{"shown, and then the clock set back", -time.Hour, false, "not_shown", ""},
		{"shown, and then expired", approval.DefaultWait, false, "expired", "expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for answer, want := range map[string]string{"allow": tt.allow, "deny": tt.deny} {
				d := newDesk()
				a := d.admit(t, proposal("c1", "sha256:1", policy.Ask))
				if tt.since != never {
					if _, _, err := d.Shown(a.Question.ID, 1); err != nil {
						t.Fatal(err)
					}
					d.clock.Advance(tt.since)
				}
				if tt.restart {
					d.restart()
				}
				var err error
				if answer == "allow" {
					_, _, err = d.Reply(replyTo(a, "k1"), nil)
				} else {
					_, _, err = d.Reject(rejectOf(a, "k1"))
				}
				if got := code(err); got != want {
					t.Errorf("%s: code %q, want %q", answer, got, want)
				}
				if want != "" && want != "expired" {
					wantState(t, d.call(t, a.Call.ID), approval.CallWaiting, "")
				}
				consistent(t, d.store)
			}
		})
	}
}

// Whoever answered too soon is told how long to wait, and the same command applies then.
func TestTooSoonSaysHowLong(t *testing.T) {
	d := newDesk()
	a := d.admit(t, proposal("c1", "sha256:1", policy.Ask))
	if _, _, err := d.Shown(a.Question.ID, 1); err != nil {
		t.Fatal(err)
	}
	d.clock.Advance(approval.ShownDelay - 120*time.Millisecond - 1)
	_, _, err := d.Reply(replyTo(a, "k1"), nil)
	var soon *approval.TooSoonError
	if !errors.As(err, &soon) || !errors.Is(err, approval.ErrTooSoon) || soon.Args()["wait_ms"] != "121" {
		t.Fatalf("got %v %+v, want too_soon with 121 ms", err, soon)
	}
	d.clock.Advance(121 * time.Millisecond)
	if _, _, err := d.Reply(replyTo(a, "k1"), nil); err != nil {
		t.Error(err)
	}
	// A repetition of what was applied is told what it did, however the clock stands now.
	d.clock.Advance(-time.Hour)
	if again, _, err := d.Reply(replyTo(a, "k1"), nil); err != nil || !again.Applied {
		t.Errorf("the same command again: %+v, %v", again, err)
	}
}

func TestShownIsTheFirstTime(t *testing.T) {
	d := newDesk()
	a := d.admit(t, proposal("c1", "sha256:1", policy.Ask))
	first, events, err := d.Shown(a.Question.ID, 1)
	if err != nil || !first.Equal(start) || frames(events) != "question.updated open()" || events[0].Question.Version != 1 {
		t.Fatalf("%v, %s, %v", first, frames(events), err)
	}
	d.clock.Advance(time.Minute)
	d.restart()
	again, events, err := d.Shown(a.Question.ID, 1)
	if err != nil || !again.Equal(start) || len(events) != 0 {
		t.Errorf("a second showing: %v, %s, %v; want the first time and no event", again, frames(events), err)
	}
	// The clock was set back: when it was shown is not known any more, and it is shown now.
	d.clock.Advance(-time.Hour)
	if again, _, err = d.Shown(a.Question.ID, 1); err != nil || !again.Equal(d.clock.Now()) {
		t.Errorf("after the clock was set back: %v, %v", again, err)
	}
}

func TestShowingAndExtendingRefuse(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  func(*desk, approval.Admission) error
		version int
		want    string
	}{
		{"an older version", nil, 0, "stale_version"},
		{"a newer version", nil, 2, "stale_version"},
		{"answered", func(d *desk, a approval.Admission) error { _, _, err := d.Reject(rejectOf(a, "k1")); return err }, 1, "already_answered"},
		{"cancelled", func(d *desk, a approval.Admission) error {
			_, _, err := d.Cancel(a.Call.ID, approval.OutcomeCancelled)
			return err
		}, 1, "cancelled"},
		{"its time is over", func(d *desk, _ approval.Admission) error { d.clock.Advance(approval.DefaultWait); return nil }, 1, "expired"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for what, do := range map[string]func(*desk, string) ([]approval.Event, error){
				"show": func(d *desk, id string) ([]approval.Event, error) {
					_, ev, err := d.Shown(id, tt.version)
					return ev, err
				},
				"extend": func(d *desk, id string) ([]approval.Event, error) {
					_, ev, err := d.Extend(id, tt.version, owner)
					return ev, err
				},
			} {
				d := newDesk()
				a := d.admit(t, proposal("c1", "sha256:1", policy.Ask))
				if tt.before != nil {
					if err := tt.before(d, a); err != nil {
						t.Fatal(err)
					}
				}
				events, err := do(d, a.Question.ID)
				if code(err) != tt.want {
					t.Errorf("%s: code %q, want %q", what, code(err), tt.want)
				}
				if want := map[string]string{"expired": "question.closed closed(expired); call.updated finished(expired)"}[tt.want]; frames(events) != want {
					t.Errorf("%s published %q, want %q", what, frames(events), want)
				}
				if _, err := do(d, "no such question"); code(err) != "unknown_question" {
					t.Errorf("%s: %v, want unknown_question", what, err)
				}
				consistent(t, d.store)
			}
		})
	}
}

func TestExtend(t *testing.T) {
	const wait = approval.DefaultWait
	for _, tt := range []struct {
		name          string
		expires, hold time.Duration // from the start; 0: never
		at            time.Duration // when it is extended
		want          time.Duration
		code          string
	}{
		{"by the whole wait", wait, 0, time.Minute, time.Minute + wait, ""},
		{"in its last moment", wait, 0, wait - 1, wait - 1 + wait, ""},
		{"never shortened", time.Hour, 0, time.Minute, time.Hour, ""},
		{"never expires anyway", 0, 0, time.Hour, 0, ""},
		{"the client waits longer", wait, time.Hour, time.Minute, time.Minute + wait, ""},
		{"as long as the client waits", wait, wait + time.Minute, 2 * time.Minute, wait + time.Minute, ""},
		{"the client waits no longer", wait, wait, time.Minute, wait, "cannot_extend"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			at := func(after time.Duration) time.Time {
				if after == 0 {
					return time.Time{}
				}
				return start.Add(after)
			}
			p := proposal("c1", "sha256:1", policy.Ask)
			p.Question.ExpiresAt, p.Question.HoldUntil = at(tt.expires), at(tt.hold)
			a := d.admit(t, p)
			d.clock.Advance(tt.at)
			_, events, err := d.Extend(a.Question.ID, 1, owner)
			wantCode(t, err, tt.code)
			d.restart()
			q, _ := d.Question(a.Question.ID)
			if c := d.call(t, a.Call.ID); !q.ExpiresAt.Equal(at(tt.want)) || !c.Deadline.Equal(at(tt.want)) || q.Version != 1 {
				t.Errorf("open until %v and waiting until %v in version %d, want %v in 1", q.ExpiresAt, c.Deadline, q.Version, at(tt.want))
			}
			if moved := tt.want != tt.expires; moved != (frames(events) == "question.updated open()") || !moved && len(events) != 0 {
				t.Errorf("published %q", frames(events))
			}
			if tt.want == 0 {
				return
			}
			d.clock.Set(start.Add(tt.want - 1))
			if _, events, err := d.Expire(); err != nil || len(events) != 0 {
				t.Errorf("a moment too early: %s, %v", frames(events), err)
			}
			d.clock.Advance(1)
			if _, events, err := d.Expire(); err != nil || len(events) != 2 {
				t.Errorf("when its time is over: %s, %v", frames(events), err)
			}
			consistent(t, d.store)
		})
	}
	t.Run("only the owner", func(t *testing.T) {
		d := newDesk()
		a := d.ask(t, "c1")
		for name, by := range map[string]policy.Authority{
			"nobody":                       {},
			"an agent with the capability": {ID: "a", Kind: policy.PrincipalAgent, Capabilities: []policy.Capability{policy.CapApprovalAnswer}},
			"an owner without it":          {ID: "o", Kind: policy.PrincipalOwner},
		} {
			if _, events, err := d.Extend(a.Question.ID, 1, by); code(err) != "not_owner" || len(events) != 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A question that stays open although its client is gone would be answered in vain.
func TestHoldEndsTheQuestion(t *testing.T) {
	for name, expires := range map[string]time.Time{"never": {}, "later": start.Add(2 * time.Minute)} {
		p := proposal("c1", "sha256:1", policy.Ask)
		p.Question.HoldUntil, p.Question.ExpiresAt = start.Add(time.Minute), expires
		_, err := newDesk().Admit(p)
		if code(err) != "invalid_question" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
