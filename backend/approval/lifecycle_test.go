package approval_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/backend/approval"
	"countersign/backend/policy"
)

// The tests of this file are faults that other approval systems had. Each is named after the report of the fault.

// bind is a binding digest as desk makes one: over everything that is to run, value by value.
func bind(parts ...any) string {
	raw, err := json.Marshal(parts)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

func lifecycle(t *testing.T, id string, fn func(*testing.T, *desk)) {
	t.Helper()
	t.Run(id, func(t *testing.T) {
		d := newDesk()
		fn(t, d)
		consistent(t, d.store)
	})
}

// The approved object is the executed object.
func TestLifecycleBinding(t *testing.T) {
	// A name of the environment was lost between what was approved and what ran.
	lifecycle(t, "openclaw-34426", func(t *testing.T, d *desk) {
		shown := bind("Bash", "make", map[string]string{"A": "1", "B": "2"})
		ran := bind("Bash", "make", map[string]string{"A": "1"})
		a := d.admit(t, proposal("c1", shown, policy.Ask))
		d.allow(t, a, "k1")
		_, _, err := d.Redeem(a.Call.ID, ran)
		wantCode(t, err, "approval_mismatch")
		wantState(t, d.call(t, a.Call.ID), approval.CallAllowed, "")
	})
	// An approval was used again with another environment.
	lifecycle(t, "openclaw-32058", func(t *testing.T, d *desk) {
		first, second := bind("make", map[string]string{"A": "1"}), bind("make", map[string]string{"A": "2"})
		a := d.admit(t, proposal("c1", first, policy.Ask))
		d.allow(t, a, "k1")
		if _, _, err := d.Redeem(a.Call.ID, first); err != nil {
			t.Fatal(err)
		}
		for _, digest := range []string{first, second} {
			_, _, err := d.Redeem(a.Call.ID, digest)
			wantCode(t, err, "already_redeemed")
		}
		_, err := d.Admit(proposal("c1", second, policy.Ask))
		wantCode(t, err, "approval_mismatch")
	})
	// A word with a blank at its end looked like another word.
	lifecycle(t, "openclaw-32065", func(t *testing.T, d *desk) {
		a := d.admit(t, proposal("c1", bind([]string{"ls", "x"}), policy.Ask))
		d.allow(t, a, "k1")
		_, _, err := d.Redeem(a.Call.ID, bind([]string{"ls ", "x"}))
		wantCode(t, err, "approval_mismatch")
	})
	// The input was edited after the decision: under the same id it is refused, and has to be judged anew.
	lifecycle(t, "cc-2.1.110-updated", func(t *testing.T, d *desk) {
		d.admit(t, proposal("c1", bind("echo ok"), policy.Allow))
		_, err := d.Admit(proposal("c1", bind("rm x"), policy.Allow))
		wantCode(t, err, "approval_mismatch")
		denied := d.admit(t, proposal("c2", bind("rm x"), policy.Deny))
		_, _, err = d.Redeem(denied.Call.ID, bind("rm x"))
		wantCode(t, err, "not_allowed")
	})
	// The end of a long command was cut off the card and ran all the same: nothing is cut here, in or out.
	lifecycle(t, "ghsa-xww8", func(t *testing.T, d *desk) {
		command := strings.Repeat("echo safe; ", 1000) + "rm -rf build"
		args, _ := json.Marshal(map[string]string{"command": command})
		p := proposal("c1", bind(command), policy.Ask)
		p.Call.Args, p.Question.Detail = args, args
		a := d.admit(t, p)
		q, err := d.Question(a.Question.ID)
		if err != nil {
			t.Fatal(err)
		}
		for name, raw := range map[string]json.RawMessage{"card": q.Detail, "call": d.call(t, a.Call.ID).Args} {
			var got struct{ Command string }
			if err := json.Unmarshal(raw, &got); err != nil || got.Command != command {
				t.Errorf("the %s holds %d of %d bytes, %v", name, len(got.Command), len(command), err)
			}
		}
		_, err = d.Admit(proposal("c1", bind(command[:1800]), policy.Ask))
		wantCode(t, err, "approval_mismatch")
	})
}

// One answer reaches as far as was shown.
func TestLifecycleScope(t *testing.T) {
	// "Once" held for the rest of the session.
	lifecycle(t, "hermes-4973", func(t *testing.T, d *desk) {
		first := d.admit(t, proposal("c1", bind("rm -rf b"), policy.Ask))
		d.allow(t, first, "k1")
		second := d.admit(t, proposal("c2", bind("rm -rf b"), policy.Ask))
		wantState(t, second.Call, approval.CallWaiting, "")
		_, _, err := d.Redeem(second.Call.ID, bind("rm -rf b"))
		wantCode(t, err, "not_allowed")
	})
	// The grant that was saved was not the grant that was shown.
	lifecycle(t, "cc-2.1.235-cover", func(t *testing.T, d *desk) {
		a := d.ask(t, "c1")
		cmd := replyTo(a, "k1")
		cmd.Offer = 2
		var saved []string
		_, _, err := d.Reply(cmd, func(_ approval.Tx, q approval.Question, o approval.Offer) error {
			saved = append(saved, o.Rules...)
			if q.ID != a.Question.ID {
				t.Errorf("saved for question %s", q.ID)
			}
			return nil
		})
		if err != nil || !slices.Equal(saved, a.Question.Offers[1].Rules) {
			t.Errorf("saved %q, %v", saved, err)
		}
	})
	// Two writers: the second list replaced the first.
	lifecycle(t, "cc-5710", func(t *testing.T, d *desk) {
		add := func(tx approval.Tx, _ approval.Question, o approval.Offer) error {
			var rules []string
			if _, err := tx.Get("rules", "s1", &rules); err != nil {
				return err
			}
			return tx.Put("rules", "s1", append(rules, o.Rules...))
		}
		one, two := d.ask(t, "c1"), d.ask(t, "c2")
		done := make(chan error)
		for n, a := range []approval.Admission{one, two} {
			go func() {
				cmd := replyTo(a, fmt.Sprint("k", n))
				cmd.Offer = 2
				_, _, err := d.Reply(cmd, add)
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := d.store.Dump()["rules"]["s1"]; got != `["Bash(make)","Bash(make)"]` {
			t.Errorf("saved %s", got)
		}
	})
	// A rule was written where nobody reads it: what save finds wrong on reading back undoes the answer too.
	lifecycle(t, "evenhub-39", func(t *testing.T, d *desk) {
		a := d.ask(t, "c1")
		cmd := replyTo(a, "k1")
		cmd.Offer = 2
		_, _, err := d.Reply(cmd, func(tx approval.Tx, _ approval.Question, o approval.Offer) error {
			if err := tx.Put("elsewhere", "s1", o.Rules); err != nil {
				return err
			}
			if found, err := tx.Get("rules", "s1", new([]string)); err != nil || !found {
				return fmt.Errorf("read back: %v, %w", found, err)
			}
			return nil
		})
		wantCode(t, err, "rule_not_saved")
		wantState(t, d.call(t, a.Call.ID), approval.CallWaiting, "")
		if d.store.Dump()["elsewhere"] != nil {
			t.Error("the dead rule is still there")
		}
	})
	// A running operation was widened by a later answer.
	lifecycle(t, "orca-fullauto", func(t *testing.T, d *desk) {
		a := d.admit(t, proposal("c1", bind("make"), policy.Allow))
		c, _, err := d.Redeem(a.Call.ID, bind("make"))
		if err != nil {
			t.Fatal(err)
		}
		p := proposal("c1", bind("make"), policy.Allow)
		p.Call.Roots, p.Call.Boundary = []string{"/"}, policy.BoundaryAny
		again := d.admit(t, p)
		if !again.Existing || len(again.Call.Roots) != len(c.Roots) || again.Call.Boundary != c.Boundary {
			t.Errorf("the running call changed: %+v", again.Call)
		}
	})
	// Nothing was set, so it was let through: without an authenticated principal nothing is allowed, nothing asks.
	lifecycle(t, "hermes-35164", func(t *testing.T, d *desk) {
		for _, outcome := range []policy.Outcome{policy.Allow, policy.Ask} {
			p := proposal("c1", bind("curl"), outcome)
			p.Call.Principal = policy.Authority{}
			_, err := d.Admit(p)
			wantCode(t, err, "identity_missing")
		}
	})
}

// A question is never lost, and its end is said as it was.
func TestLifecycleLost(t *testing.T) {
	// A restart lost what was pending, and its buttons failed without a reason.
	lifecycle(t, "openclaw-64664", func(t *testing.T, d *desk) {
		kept, due := d.askUntil(t, "c1", start.Add(approval.DefaultWait)), d.askUntil(t, "c2", start.Add(1))
		d.clock.Advance(1)
		d.restart()
		restored, _, err := d.Restore()
		if err != nil || len(restored.Open) != 1 {
			t.Fatalf("%+v, %v", restored, err)
		}
		if back := d.ask(t, "c1"); !back.Existing || back.Question.ID != kept.Question.ID {
			t.Error("the client did not find its wait")
		}
		_, _, err = d.Reply(replyTo(due, "k1"), nil)
		wantCode(t, err, "expired")
		_, _, err = d.Reply(replyTo(kept, "k2"), nil)
		wantCode(t, err, "")
	})
	// A dialog that vanished was recorded as a person's denial.
	lifecycle(t, "openclaw-59993", func(t *testing.T, d *desk) {
		withdrawn, due := d.ask(t, "c1"), d.ask(t, "c2")
		if _, _, err := d.Cancel(withdrawn.Call.ID, approval.OutcomeCancelled); err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(approval.DefaultWait)
		d.expire(t)
		for _, a := range []approval.Admission{withdrawn, due} {
			c := d.call(t, a.Call.ID)
			if c.Outcome == approval.OutcomeRefused || c.Outcome == approval.OutcomeDenied || c.Answerer != "" {
				t.Errorf("%s: %s by %q", c.ToolCall, c.Outcome, c.Answerer)
			}
		}
	})
	// The card was durable, what it answered was not.
	lifecycle(t, "t3code-5195", func(t *testing.T, d *desk) {
		a := d.ask(t, "c1")
		d.restart()
		if _, err := d.SessionGone("s1"); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			_, _, err := d.Reply(replyTo(a, fmt.Sprint("k", n)), nil)
			wantCode(t, err, "origin_gone")
		}
		if q, _ := d.Question(a.Question.ID); q.State != approval.QuestionClosed || q.Outcome != "origin_gone" {
			t.Errorf("the question is %s(%s)", q.State, q.Outcome)
		}
	})
	for _, id := range []string{"opencode-44747", "opencode-13715"} {
		// A question of a subagent's subagent was not shown, and its turn waited for ever.
		lifecycle(t, id, func(t *testing.T, d *desk) {
			p := proposal("c1", bind("x"), policy.Ask)
			p.Call.Principal = policy.Authority{ID: "agent/demo/s1/sub/sub", Kind: policy.PrincipalSubagent}
			a := d.admit(t, p)
			d.restart()
			restored, _, err := d.Restore()
			if err != nil || len(restored.Open) != 1 || restored.Open[0].Call != a.Call.ID {
				t.Fatalf("%+v, %v", restored, err)
			}
			d.allow(t, a, "k1")
		})
	}
	for _, id := range []string{"maki-1044", "cc-66366"} {
		// Of several questions at once only one was kept, or shown.
		lifecycle(t, id, func(t *testing.T, d *desk) {
			var asked []string
			for n := range 7 {
				asked = append(asked, d.ask(t, fmt.Sprint("c", n)).Question.ID)
			}
			open, err := d.Pending()
			if err != nil {
				t.Fatal(err)
			}
			var shown []string
			for _, q := range open {
				shown = append(shown, q.ID)
			}
			if !slices.Equal(asked, shown) {
				t.Errorf("asked %q, pending %q", asked, shown)
			}
		})
	}
	// A call waited for an answer to a question that nobody saw.
	lifecycle(t, "happy-933", func(t *testing.T, d *desk) {
		p := proposal("c1", bind("x"), policy.Ask)
		p.Question = nil
		_, err := d.Admit(p)
		wantCode(t, err, "invalid_question")
		a := d.ask(t, "c2")
		if !strings.Contains(frames(a.Events), "question.asked open()") {
			t.Errorf("published %s", frames(a.Events))
		}
	})
	// An interrupted turn counted as refused.
	lifecycle(t, "codex-29627", func(t *testing.T, d *desk) {
		a := d.ask(t, "c1")
		c, events, err := d.Cancel(a.Call.ID, approval.OutcomeCancelled)
		if err != nil {
			t.Fatal(err)
		}
		wantState(t, c, approval.CallFinished, approval.OutcomeCancelled)
		if got := frames(events); got != "question.closed closed(cancelled); call.updated finished(cancelled)" {
			t.Errorf("published %s", got)
		}
		if c.StopTurn || c.Answerer != "" {
			t.Errorf("a cancellation names a person: %+v", c)
		}
	})
}

// An answer is for one question, and is given once.
func TestLifecycleDouble(t *testing.T) {
	// An answer to the question before was taken for the one that replaced it.
	lifecycle(t, "cc-2.1.234-input", func(t *testing.T, d *desk) {
		first := d.ask(t, "c1")
		stale := replyTo(first, "k1")
		if _, _, err := d.Cancel(first.Call.ID, approval.OutcomeCancelled); err != nil {
			t.Fatal(err)
		}
		second := d.admit(t, proposal("c2", bind("other"), policy.Ask))
		_, _, err := d.Reply(stale, nil)
		wantCode(t, err, "cancelled")
		wantState(t, d.call(t, second.Call.ID), approval.CallWaiting, "")
		old := replyTo(second, "k2")
		old.Version--
		_, _, err = d.Reply(old, nil)
		wantCode(t, err, "stale_version")
	})
	// A double tap got an error in place of what stands.
	lifecycle(t, "happy-656", func(t *testing.T, d *desk) {
		a := d.ask(t, "c1")
		first, _, err := d.Reply(replyTo(a, "k1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, events, err := d.Reply(replyTo(a, "k1"), nil)
		if err != nil || again != first || len(events) != 0 {
			t.Errorf("%+v, %v", again, err)
		}
		_, _, err = d.Reply(replyTo(a, "k2"), nil)
		if err == nil || err.Error() != "answer: already answered: allow" {
			t.Errorf("another tap: %v", err)
		}
	})
	// A surface went on showing a question that was closed: every end of a wait publishes it, once.
	lifecycle(t, "herdr-2618", func(t *testing.T, d *desk) {
		ends := map[string]func(approval.Admission) ([]approval.Event, error){
			"allow": func(a approval.Admission) ([]approval.Event, error) {
				_, events, err := d.Reply(replyTo(a, "k1"), nil)
				return events, err
			},
			"deny": func(a approval.Admission) ([]approval.Event, error) {
				_, events, err := d.Reject(rejectOf(a, "k2"))
				return events, err
			},
			"cancelled": func(a approval.Admission) ([]approval.Event, error) {
				_, events, err := d.Cancel(a.Call.ID, approval.OutcomeCancelled)
				return events, err
			},
			"answered_in_agent": func(a approval.Admission) ([]approval.Event, error) {
				_, events, err := d.Cancel(a.Call.ID, approval.OutcomeAnsweredInAgent)
				return events, err
			},
			"origin_gone": func(approval.Admission) ([]approval.Event, error) { return d.SessionGone("s1") },
			"expired": func(approval.Admission) ([]approval.Event, error) {
				d.clock.Advance(approval.DefaultWait)
				_, events, err := d.Expire()
				return events, err
			},
		}
		for _, outcome := range []string{"allow", "deny", "cancelled", "answered_in_agent", "origin_gone", "expired"} {
			a := d.ask(t, outcome)
			events, err := ends[outcome](a)
			if err != nil {
				t.Fatalf("%s: %v", outcome, err)
			}
			closed := 0
			for _, e := range events {
				if e.Frame == approval.FrameClosed && e.Question.ID == a.Question.ID && e.Question.Outcome == outcome {
					closed++
				}
			}
			if closed != 1 {
				t.Errorf("%s: closed %d times in %s", outcome, closed, frames(events))
			}
		}
	})
}
