package approval_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"countersign/backend/approval"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

func TestReplyAllows(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	cmd := replyTo(a, "k1")
	cmd.Comment = "only this time"
	result, events, err := d.Reply(cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := approval.AnswerResult{Applied: true, Outcome: approval.AnswerAllow, Version: 2}
	if result != want {
		t.Errorf("result %+v, want %+v", result, want)
	}
	if got := frames(events); got != "question.closed closed(allow); call.updated allowed()" {
		t.Errorf("published %s", got)
	}
	c := d.call(t, a.Call.ID)
	if c.Comment != cmd.Comment || c.Answerer != owner.ID || !c.DecidedAt.Equal(start) ||
		!c.Deadline.Equal(start.Add(approval.DefaultAllowTTL)) {
		t.Errorf("the call does not carry its answer: %+v", c)
	}
	q, _ := d.Question(a.Question.ID)
	if q.Offer != 1 || q.Comment != cmd.Comment || q.Answerer != owner.ID || !q.ClosedAt.Equal(start) {
		t.Errorf("the question does not carry its answer: %+v", q)
	}
	consistent(t, d.store)
}

func TestRejectRefuses(t *testing.T) {
	d := newDesk()
	a, b := d.ask(t, "c1"), d.ask(t, "c2")
	cmd := rejectOf(a, "k1")
	cmd.Comment = "use the other file"
	result, events, err := d.Reject(cmd)
	if err != nil || !result.Applied || result.Outcome != approval.AnswerDeny {
		t.Fatalf("%+v, %v", result, err)
	}
	if got := frames(events); got != "question.closed closed(deny); call.updated finished(refused)" {
		t.Errorf("published %s", got)
	}
	c := d.call(t, a.Call.ID)
	wantState(t, c, approval.CallFinished, approval.OutcomeRefused)
	if c.Comment != cmd.Comment || c.StopTurn {
		t.Errorf("%+v", c)
	}
	wantState(t, d.call(t, b.Call.ID), approval.CallWaiting, "")
}

func TestStopTurn(t *testing.T) {
	d := newDesk()
	a, b := d.ask(t, "c1"), d.ask(t, "c2")
	p := proposal("c3", "sha256:c3", policy.Ask)
	p.Question.ExpiresAt = start.Add(1)
	overdue := d.admit(t, p)
	p = proposal("c4", "sha256:c4", policy.Ask)
	p.Call.Session = "s2"
	other := d.admit(t, p)
	answered := d.ask(t, "c5")
	d.allow(t, answered, "k0")
	d.clock.Advance(1)

	cmd := rejectOf(a, "k1")
	cmd.StopTurn, cmd.Comment = true, "stop"
	result, events, err := d.Reject(cmd)
	if err != nil || !result.Applied {
		t.Fatal(err)
	}
	want := "question.closed closed(deny); call.updated finished(refused); " +
		"question.closed closed(deny); call.updated finished(refused)"
	if got := frames(events); got != want {
		t.Errorf("published %s", got)
	}
	for _, id := range []string{a.Call.ID, b.Call.ID} {
		c := d.call(t, id)
		wantState(t, c, approval.CallFinished, approval.OutcomeRefused)
		if !c.StopTurn || c.Comment != "stop" {
			t.Errorf("the call does not say that the turn is over: %+v", c)
		}
	}
	if q, _ := d.Question(b.Question.ID); q.Through != a.Question.ID {
		t.Errorf("the second question does not name the first: %q", q.Through)
	}
	wantState(t, d.call(t, overdue.Call.ID), approval.CallWaiting, "")
	wantState(t, d.call(t, other.Call.ID), approval.CallWaiting, "")
	wantState(t, d.call(t, answered.Call.ID), approval.CallAllowed, "")

	_, _, err = d.Reply(replyTo(b, "k2"), nil)
	var stands *approval.AlreadyAnswered
	if !errors.As(err, &stands) || stands.Outcome != approval.AnswerDeny {
		t.Errorf("the other question: %v", err)
	}
	consistent(t, d.store)
}

func TestSameCommandSameResult(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	first, _, err := d.Reply(replyTo(a, "k1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := d.store.Dump()
	d.restart()
	d.clock.Advance(approval.CommandRetention - 1)
	again, events, err := d.Reply(replyTo(a, "k1"), func(approval.Tx, approval.Question, approval.Offer) error {
		t.Error("saved twice")
		return nil
	})
	if err != nil || again != first || len(events) != 0 {
		t.Errorf("again %+v, %d events, %v", again, len(events), err)
	}
	if diff := cmp.Diff(before, d.store.Dump()); diff != "" {
		t.Errorf("a repetition changed:\n%s", diff)
	}
}

func TestCommandReused(t *testing.T) {
	d := newDesk()
	a, b := d.ask(t, "c1"), d.ask(t, "c2")
	d.allow(t, a, "k1")
	for _, tt := range []struct {
		name string
		do   func() error
	}{
		{"another question", func() error { _, _, err := d.Reply(replyTo(b, "k1"), nil); return err }},
		{"another offer", func() error {
			cmd := replyTo(a, "k1")
			cmd.Offer = 2
			_, _, err := d.Reply(cmd, nil)
			return err
		}},
		{"another comment", func() error {
			cmd := replyTo(a, "k1")
			cmd.Comment = "x"
			_, _, err := d.Reply(cmd, nil)
			return err
		}},
		{"a denial", func() error { _, _, err := d.Reject(rejectOf(a, "k1")); return err }},
		{"another owner", func() error {
			cmd := replyTo(a, "k1")
			cmd.Answerer.ID = "owner/4567"
			_, _, err := d.Reply(cmd, nil)
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { wantCode(t, tt.do(), "command_reused") })
	}
	wantState(t, d.call(t, b.Call.ID), approval.CallWaiting, "")
}

// A refused command is not remembered: what refused it may be mended, and then the same command applies.
func TestRefusedCommandMayBeRepeated(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	cmd := replyTo(a, "k1")
	cmd.Offer = 2
	boom := errors.New("disk full")
	_, _, err := d.Reply(cmd, func(tx approval.Tx, _ approval.Question, o approval.Offer) error {
		if err := tx.Put("rules", "r1", o.Rules); err != nil {
			return err
		}
		return boom
	})
	wantCode(t, err, "rule_not_saved")
	if !errors.Is(err, boom) || !errors.Is(err, approval.ErrNotSaved) {
		t.Errorf("the error hides its cause: %v", err)
	}
	if d.store.Dump()["rules"] != nil {
		t.Error("half of a rule was saved")
	}
	wantState(t, d.call(t, a.Call.ID), approval.CallWaiting, "")
	_, _, err = d.Reply(cmd, nil)
	wantCode(t, err, "rule_not_saved")
	result, _, err := d.Reply(cmd, func(tx approval.Tx, _ approval.Question, o approval.Offer) error {
		return tx.Put("rules", "r1", o.Rules)
	})
	if err != nil || !result.Applied {
		t.Fatal(err)
	}
	if got := d.store.Dump()["rules"]["r1"]; got != `["Bash(make)"]` {
		t.Errorf("saved %s, want the rule that was offered", got)
	}
}

func TestReplyRefuses(t *testing.T) {
	with := func(fn func(*policy.Authority)) func(*approval.ReplyCommand) {
		return func(c *approval.ReplyCommand) {
			c.Answerer.Capabilities = []policy.Capability{policy.CapApprovalAnswer, policy.CapAdmin}
			fn(&c.Answerer)
		}
	}
	for _, tt := range []struct {
		name string
		edit func(*approval.ReplyCommand)
		want string
	}{
		{"no command id", func(c *approval.ReplyCommand) { c.CommandID = "" }, "invalid_command"},
		{"long command id", func(c *approval.ReplyCommand) { c.CommandID = strings.Repeat("x", approval.MaxName+1) }, "invalid_command"},
		{"no question", func(c *approval.ReplyCommand) { c.Question = "" }, "unknown_question"},
		{"unknown question", func(c *approval.ReplyCommand) { c.Question = "q" }, "unknown_question"},
		{"older version", func(c *approval.ReplyCommand) { c.Version = 0 }, "stale_version"},
		{"newer version", func(c *approval.ReplyCommand) { c.Version = 2 }, "stale_version"},
		{"no offer", func(c *approval.ReplyCommand) { c.Offer = 0 }, "invalid_offer"},
		{"offer not made", func(c *approval.ReplyCommand) { c.Offer = 3 }, "invalid_offer"},
		{"long comment", func(c *approval.ReplyCommand) { c.Comment = strings.Repeat("x", approval.MaxComment+1) }, "comment_too_long"},
		{"nobody", func(c *approval.ReplyCommand) { c.Answerer = policy.Authority{} }, "not_owner"},
		{"owner without the capability", func(c *approval.ReplyCommand) { c.Answerer.Capabilities = nil }, "not_owner"},
		{"owner without an id", with(func(a *policy.Authority) { a.ID = "" }), "not_owner"},
		{"paired", with(func(a *policy.Authority) { a.Kind = policy.PrincipalPaired }), "not_owner"},
		{"agent", with(func(a *policy.Authority) { a.Kind = policy.PrincipalAgent }), "not_owner"},
		{"subagent", with(func(a *policy.Authority) { a.Kind = policy.PrincipalSubagent }), "not_owner"},
		{"mcp", with(func(a *policy.Authority) { a.Kind = policy.PrincipalMCP }), "not_owner"},
		{"scheduled", with(func(a *policy.Authority) { a.Kind = policy.PrincipalScheduled }), "not_owner"},
		{"recovery", with(func(a *policy.Authority) { a.Kind = policy.PrincipalRecovery }), "not_owner"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			a := d.ask(t, "c1")
			before := d.store.Dump()
			cmd := replyTo(a, "k1")
			tt.edit(&cmd)
			result, events, err := d.Reply(cmd, nil)
			wantCode(t, err, tt.want)
			if result.Applied || len(events) != 0 {
				t.Errorf("result %+v, %d events", result, len(events))
			}
			if diff := cmp.Diff(before, d.store.Dump()); diff != "" {
				t.Errorf("changed:\n%s", diff)
			}
			if tt.want == "not_owner" {
				_, _, err := d.Reject(approval.RejectCommand{
					CommandID: "k2", Question: a.Question.ID, Version: 1, Answerer: cmd.Answerer,
				})
				wantCode(t, err, "not_owner")
			}
		})
	}
}

func TestLateAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*desk, approval.Admission) error
		want string
	}{
		{"allowed", func(d *desk, a approval.Admission) error {
			_, _, err := d.Reply(replyTo(a, "k1"), nil)
			return err
		}, "already_answered"},
		{"denied", func(d *desk, a approval.Admission) error {
			_, _, err := d.Reject(rejectOf(a, "k1"))
			return err
		}, "already_answered"},
		{"expired", func(d *desk, _ approval.Admission) error {
			d.clock.Advance(approval.DefaultWait)
			_, _, err := d.Expire()
			return err
		}, "expired"},
		{"cancelled", func(d *desk, a approval.Admission) error {
			_, _, err := d.Cancel(a.Call.ID, approval.OutcomeCancelled)
			return err
		}, "cancelled"},
		{"origin gone", func(d *desk, _ approval.Admission) error {
			_, err := d.SessionGone("s1")
			return err
		}, "origin_gone"},
		{"answered in the agent", func(d *desk, a approval.Admission) error {
			_, _, err := d.Cancel(a.Call.ID, approval.OutcomeAnsweredInAgent)
			return err
		}, "answered_in_agent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			a := d.ask(t, "c1")
			if err := tt.end(d, a); err != nil {
				t.Fatal(err)
			}
			d.restart()
			before := d.store.Dump()
			for _, version := range []int{1, 2, 7} { // the state is said, not that the version is old
				cmd := replyTo(a, fmt.Sprint("late", version))
				cmd.Version = version
				_, _, err := d.Reply(cmd, nil)
				wantCode(t, err, tt.want)
			}
			_, _, err := d.Reject(rejectOf(a, "late"))
			wantCode(t, err, tt.want)
			if tt.want == "origin_gone" || tt.want == "answered_in_agent" {
				if !errors.Is(err, approval.ErrCancelled) {
					t.Errorf("%v is not also cancelled", err)
				}
			}
			if diff := cmp.Diff(before, d.store.Dump()); diff != "" {
				t.Errorf("a late answer changed:\n%s", diff)
			}
		})
	}
}

// An answer that comes after the deadline but before the timer closes the question as expired, and says so.
func TestAnswerAfterDeadline(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	d.clock.Advance(approval.DefaultWait)
	_, events, err := d.Reply(replyTo(a, "k1"), nil)
	wantCode(t, err, "expired")
	if got := frames(events); got != "question.closed closed(expired); call.updated finished(expired)" {
		t.Errorf("published %q", got)
	}
	wantState(t, d.call(t, a.Call.ID), approval.CallFinished, approval.OutcomeExpired)
	consistent(t, d.store)
}
