package approval_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// modelCall is a call as simply as it can be told.
type modelCall struct {
	id, question, session, digest string
	state                         approval.CallState
	outcome                       approval.CallOutcome
	answer                        string // outcome of the question, "" while it is open
	deadline, decided             time.Time
	shown, hold                   time.Time // of the question
	started                       bool
}

// model knows nothing of transactions, indexes or the table.
type model struct {
	*desk
	calls    map[string]*modelCall // by session and tool call id
	commands map[string]string     // command id → what it was and what it gave
	rules    int                   // rules saved
	broken   bool                  // the next commit fails
}

func (m *model) end(c *modelCall, outcome approval.CallOutcome) {
	if c.state == approval.CallWaiting && c.answer == "" {
		c.answer = string(outcome)
	}
	c.state, c.outcome, c.deadline = approval.CallFinished, outcome, time.Time{}
}

func (m *model) late(c *modelCall) bool {
	now := m.clock.Now()
	if c.state == approval.CallAllowed && now.Before(c.decided.Add(-approval.ClockTolerance)) {
		return true
	}
	return !c.deadline.IsZero() && !now.Before(c.deadline)
}

func (m *model) allowed(c *modelCall) {
	c.state, c.decided = approval.CallAllowed, m.clock.Now()
	c.deadline = c.decided.Add(approval.DefaultAllowTTL)
}

// guard runs an operation; while the disk is broken it must fail and change nothing. want is the code the model
// expects, apply what it then does to itself.
func (m *model) guard(t *rapid.T, name string, do func() error, want string, apply func()) {
	t.Helper()
	before := m.store.Dump()
	if m.broken {
		m.store.FailCommits(errPower)
	}
	err := do()
	m.store.FailCommits(nil)
	if m.broken && errors.Is(err, errPower) {
		m.broken = false
		if diff := cmp.Diff(before, m.store.Dump()); diff != "" {
			t.Fatalf("%s: a failed commit left:\n%s", name, diff)
		}
		return
	}
	if got := code(err); got != want {
		t.Fatalf("%s: code %q (%v), want %q", name, got, err, want)
	}
	if want != "" && want != "expired" {
		if diff := cmp.Diff(before, m.store.Dump()); diff != "" {
			t.Fatalf("%s: a refused operation left:\n%s", name, diff)
		}
	}
	if apply != nil {
		apply()
	}
}

func (m *model) pick(t *rapid.T) *modelCall {
	if len(m.calls) == 0 {
		t.Skip("no calls yet")
	}
	var keys []string
	for key := range m.calls {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return m.calls[rapid.SampledFrom(keys).Draw(t, "call")]
}

func (m *model) pickAsked(t *rapid.T) *modelCall {
	c := m.pick(t)
	if c.question == "" {
		t.Skip("was not asked")
	}
	return c
}

func (m *model) admitAny(t *rapid.T) {
	session := rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session")
	toolCall := fmt.Sprint("c", rapid.IntRange(1, 8).Draw(t, "tool call"))
	digest := rapid.SampledFrom([]string{"d1", "d1", "d2"}).Draw(t, "digest")
	outcome := rapid.SampledFrom([]policy.Outcome{policy.Ask, policy.Ask, policy.Allow, policy.Deny}).Draw(t, "verdict")
	p := proposal(toolCall, digest, outcome)
	p.Call.Session = session
	if p.Question != nil {
		p.Question.ExpiresAt = time.Time{}
		if wait := rapid.SampledFrom([]int{0, 10, 300}).Draw(t, "wait"); wait > 0 {
			p.Question.ExpiresAt = m.clock.Now().Add(time.Duration(wait) * time.Second)
			if hold := rapid.SampledFrom([]int{-1, 0, 60, 900}).Draw(t, "hold"); hold >= 0 {
				p.Question.HoldUntil = p.Question.ExpiresAt.Add(time.Duration(hold) * time.Second)
			}
		}
	}
	var a approval.Admission
	do := func() (err error) { a, err = m.Admit(p); return err }
	key := session + "/" + toolCall
	if c := m.calls[key]; c != nil {
		want := ""
		if c.digest != digest {
			want = "approval_mismatch"
		}
		m.guard(t, "admit again", do, want, func() {
			if want != "" {
				return
			}
			if m.late(c) {
				m.end(c, approval.OutcomeExpired)
			}
			if !a.Existing || a.Call.ID != c.id || a.Call.State != c.state || a.Call.Outcome != c.outcome {
				t.Fatalf("came back to %s(%s), want %s(%s)", a.Call.State, a.Call.Outcome, c.state, c.outcome)
			}
		})
		return
	}
	m.guard(t, "admit", do, "", func() {
		c := &modelCall{id: a.Call.ID, session: session, digest: digest}
		switch outcome {
		case policy.Ask:
			c.question, c.state, c.deadline = a.Question.ID, approval.CallWaiting, p.Question.ExpiresAt
			c.hold = p.Question.HoldUntil
		case policy.Allow:
			m.allowed(c)
		default:
			m.end(c, approval.OutcomeDenied)
		}
		m.calls[key] = c
	})
}

// touchWant is what a showing of c, or an answer to it, is told first.
func (m *model) touchWant(c *modelCall, version int) string {
	switch {
	case c.answer == approval.AnswerAllow, c.answer == approval.AnswerDeny:
		return "already_answered"
	case c.answer != "":
		return c.answer // the code is the outcome's name
	case m.late(c):
		return "expired"
	case version != 1:
		return "stale_version"
	}
	return ""
}

// answerWant is what an answer to c is told before its own content matters.
func (m *model) answerWant(c *modelCall, version int, allows bool) string {
	now := m.clock.Now()
	seen := !c.shown.IsZero() && !c.shown.After(now)
	switch want := m.touchWant(c, version); {
	case want != "":
		return want
	case !seen && allows:
		return "not_shown"
	case seen && now.Before(c.shown.Add(approval.ShownDelay)):
		return "too_soon"
	}
	return ""
}

func (m *model) showAny(t *rapid.T) {
	c := m.pickAsked(t)
	version := rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "version")
	want := m.touchWant(c, version)
	var first time.Time
	m.guard(t, "show", func() (err error) { first, _, err = m.Shown(c.question, version); return err }, want, func() {
		now := m.clock.Now()
		switch {
		case want == "expired" && c.answer == "":
			m.end(c, approval.OutcomeExpired)
		case want == "":
			if c.shown.IsZero() || c.shown.After(now) {
				c.shown = now
			}
			if !first.Equal(c.shown) {
				t.Fatalf("shown at %v, want %v", first, c.shown)
			}
		}
	})
}

func (m *model) extendAny(t *rapid.T) {
	c := m.pickAsked(t)
	version := rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "version")
	want := m.touchWant(c, version)
	if want == "" && !c.hold.IsZero() && !c.deadline.Before(c.hold) {
		want = "cannot_extend"
	}
	m.guard(t, "extend", func() error { _, _, err := m.Extend(c.question, version, owner); return err }, want, func() {
		until := m.clock.Now().Add(approval.DefaultWait)
		if !c.hold.IsZero() && until.After(c.hold) {
			until = c.hold
		}
		switch {
		case want == "expired" && c.answer == "":
			m.end(c, approval.OutcomeExpired)
		case want == "" && !c.deadline.IsZero() && until.After(c.deadline):
			c.deadline = until
		}
	})
}

func (m *model) replyAny(t *rapid.T) {
	c := m.pickAsked(t)
	cmd := approval.ReplyCommand{
		CommandID: fmt.Sprint("k", rapid.IntRange(1, 20).Draw(t, "command")), Question: c.question, Answerer: owner,
		Version: rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "version"),
		Offer:   rapid.IntRange(1, 3).Draw(t, "offer"),
	}
	fails := rapid.IntRange(0, 4).Draw(t, "save fails") == 0
	what := fmt.Sprint("reply ", c.question, cmd.Version, cmd.Offer)
	before, known := m.commands[cmd.CommandID]
	want := m.answerWant(c, cmd.Version, true)
	switch {
	case known && before != what:
		want = "command_reused"
	case known:
		want = ""
	case want == "" && cmd.Offer == 3:
		want = "invalid_offer"
	case want == "" && fails:
		want = "rule_not_saved"
	}
	var result approval.AnswerResult
	m.guard(t, "reply", func() (err error) {
		result, _, err = m.Reply(cmd, func(tx approval.Tx, q approval.Question, _ approval.Offer) error {
			if err := tx.Put("rules", q.ID, cmd.CommandID); err != nil || !fails {
				return err
			}
			return errors.New("not saved")
		})
		return err
	}, want, func() {
		m.answered(t, c, cmd.CommandID, what, want, approval.AnswerAllow, known, result)
		if want == "" && !known {
			m.rules++
			m.allowed(c)
		}
	})
}

func (m *model) rejectAny(t *rapid.T) {
	c := m.pickAsked(t)
	cmd := approval.RejectCommand{
		CommandID: fmt.Sprint("k", rapid.IntRange(1, 20).Draw(t, "command")), Question: c.question, Answerer: owner,
		Version:  rapid.SampledFrom([]int{1, 1, 1, 0}).Draw(t, "version"),
		StopTurn: rapid.IntRange(0, 3).Draw(t, "stop") == 0,
	}
	what := fmt.Sprint("reject ", c.question, cmd.Version, cmd.StopTurn)
	before, known := m.commands[cmd.CommandID]
	want := m.answerWant(c, cmd.Version, false)
	switch {
	case known && before != what:
		want = "command_reused"
	case known:
		want = ""
	}
	var result approval.AnswerResult
	m.guard(t, "reject", func() (err error) { result, _, err = m.Reject(cmd); return err }, want, func() {
		m.answered(t, c, cmd.CommandID, what, want, approval.AnswerDeny, known, result)
		if want != "" || known {
			return
		}
		m.end(c, approval.OutcomeRefused)
		for _, other := range m.calls {
			if cmd.StopTurn && other.session == c.session && other.state == approval.CallWaiting && !m.late(other) {
				other.answer = approval.AnswerDeny
				m.end(other, approval.OutcomeRefused)
			}
		}
	})
}

// answered is what both answers do to the model.
func (m *model) answered(t *rapid.T, c *modelCall, id, what, want, outcome string, known bool, result approval.AnswerResult) {
	switch {
	case want == "expired" && c.answer == "":
		m.end(c, approval.OutcomeExpired)
	case want != "":
	case result != approval.AnswerResult{Applied: true, Outcome: outcome, Version: 2}:
		t.Fatalf("result %+v", result)
	case !known:
		m.commands[id] = what
		c.answer = outcome
	}
}

func (m *model) useAny(t *rapid.T) {
	c := m.pick(t)
	digest := rapid.SampledFrom([]string{c.digest, c.digest, "d3"}).Draw(t, "digest")
	release := rapid.Bool().Draw(t, "release")
	want := ""
	switch {
	case c.started:
		want = "already_redeemed"
	case c.outcome == approval.OutcomeExpired:
		want = "expired"
	case c.state != approval.CallAllowed:
		want = "not_allowed"
	case m.late(c):
		want = "expired"
	case !release && digest != c.digest:
		want = "approval_mismatch"
	}
	m.guard(t, "use", func() (err error) {
		if release {
			_, _, err = m.Release(c.id)
		} else {
			_, _, err = m.Redeem(c.id, digest)
		}
		return err
	}, want, func() {
		switch {
		case want == "expired" && c.state == approval.CallAllowed:
			m.end(c, approval.OutcomeExpired)
		case want == "" && release:
			c.state, c.started, c.deadline = approval.CallReleased, true, time.Time{}
		case want == "":
			c.state, c.started, c.deadline = approval.CallRunning, true, time.Time{}
		}
	})
}

func (m *model) finishAny(t *rapid.T) {
	c := m.pick(t)
	outcome := rapid.SampledFrom([]approval.CallOutcome{
		approval.OutcomeDone, approval.OutcomeFailed, approval.OutcomeReported, approval.OutcomeUnreported,
	}).Draw(t, "outcome")
	here := outcome == approval.OutcomeDone || outcome == approval.OutcomeFailed
	want := "invalid_transition"
	if here && c.state == approval.CallRunning || !here && c.state == approval.CallReleased {
		want = ""
	}
	m.guard(t, "finish", func() error {
		_, _, err := m.Finish(c.id, approval.Finish{Outcome: outcome})
		return err
	}, want, func() {
		if want == "" {
			m.end(c, outcome)
		}
	})
}

func (m *model) cancelAny(t *rapid.T) {
	c := m.pick(t)
	reason := rapid.SampledFrom([]approval.CallOutcome{
		approval.OutcomeCancelled, approval.OutcomeOriginGone, approval.OutcomeAnsweredInAgent,
	}).Draw(t, "reason")
	want := "invalid_transition"
	if c.state == approval.CallWaiting || c.state == approval.CallAllowed {
		want = ""
	}
	m.guard(t, "cancel", func() error { _, _, err := m.Cancel(c.id, reason); return err }, want, func() {
		if want == "" {
			m.end(c, reason)
		}
	})
}

func (m *model) goneAny(t *rapid.T) {
	session := rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session")
	m.guard(t, "session gone", func() error { _, err := m.SessionGone(session); return err }, "", func() {
		for _, c := range m.calls {
			if c.session != session {
				continue
			}
			switch c.state {
			case approval.CallWaiting, approval.CallAllowed:
				m.end(c, approval.OutcomeOriginGone)
			case approval.CallReleased:
				m.end(c, approval.OutcomeUnreported)
			}
		}
	})
}

// expired closes in the model what a timer closes: by deadline only, an allow from the future is found when it is used.
func (m *model) expired() (next time.Time) {
	now := m.clock.Now()
	for _, c := range m.calls {
		switch {
		case c.deadline.IsZero():
		case !now.Before(c.deadline):
			m.end(c, approval.OutcomeExpired)
		case next.IsZero() || c.deadline.Before(next):
			next = c.deadline
		}
	}
	return next
}

func (m *model) expireAny(t *rapid.T) {
	var next time.Time
	m.guard(t, "expire", func() (err error) { next, _, err = m.Expire(); return err }, "", func() {
		if want := m.expired(); !next.Equal(want) {
			t.Fatalf("expire: next %v, want %v", next, want)
		}
	})
}

func (m *model) restartAny(t *rapid.T) {
	m.restart()
	var restored approval.Restored
	m.guard(t, "restore", func() (err error) { restored, _, err = m.Restore(); return err }, "", func() {
		unknown := 0
		for _, c := range m.calls {
			if c.state == approval.CallRunning {
				unknown++
				m.end(c, approval.OutcomeUnknown)
			}
		}
		m.expired()
		if len(restored.Unknown) != unknown {
			t.Fatalf("restore: %d unknown, want %d", len(restored.Unknown), unknown)
		}
	})
}

// check compares everything that can be read with the model.
func (m *model) check(t *rapid.T) {
	consistent(t, m.store)
	waiting := 0
	for key, c := range m.calls {
		got := m.call(t, c.id)
		if got.State != c.state || got.Outcome != c.outcome || !got.Deadline.Equal(c.deadline) {
			t.Fatalf("%s is %s(%s) until %v, want %s(%s) until %v",
				key, got.State, got.Outcome, got.Deadline, c.state, c.outcome, c.deadline)
		}
		if c.question == "" {
			continue
		}
		q, err := m.Question(c.question)
		if c.answer == "" && (!q.ShownAt.Equal(c.shown) || !q.ExpiresAt.Equal(c.deadline)) {
			t.Fatalf("%s: shown at %v and open until %v, want %v and %v", key, q.ShownAt, q.ExpiresAt, c.shown, c.deadline)
		}
		if err != nil || q.Outcome != c.answer || (q.State == approval.QuestionOpen) != (c.answer == "") {
			t.Fatalf("%s: question %s(%s), %v, want %q", key, q.State, q.Outcome, err, c.answer)
		}
		if c.answer == "" {
			waiting++
		}
	}
	open, err := m.Pending()
	if err != nil || len(open) != waiting {
		t.Fatalf("%d pending, %v, want %d", len(open), err, waiting)
	}
	if got := len(m.store.Dump()["rules"]); got != m.rules {
		t.Fatalf("%d rules saved, want %d", got, m.rules)
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{desk: newDesk(), calls: map[string]*modelCall{}, commands: map[string]string{}}
		t.Repeat(map[string]func(*rapid.T){
			"":             m.check,
			"admit":        m.admitAny,
			"show":         m.showAny,
			"extend":       m.extendAny,
			"reply":        m.replyAny,
			"reject":       m.rejectAny,
			"use":          m.useAny,
			"finish":       m.finishAny,
			"cancel":       m.cancelAny,
			"session gone": m.goneAny,
			"expire":       m.expireAny,
			"restart":      m.restartAny,
			"break": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "breaks") == 0 {
					m.broken = true
				}
			},
			"clock": func(t *rapid.T) {
				ms := rapid.SampledFrom([]int{-30_000, -1_000, 200, 500, 1_000, 5_000, 30_000, 60_000, 300_000}).Draw(t, "milliseconds")
				m.clock.Advance(time.Duration(ms) * time.Millisecond)
			},
		})
	})
}
