package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/approval/approvaltest"
	"countersign/backend/policy"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is when every test begins.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// desk is a registry on an in-memory store with a clock that stands still.
type desk struct {
	store *approvaltest.Store
	clock *approvaltest.Clock
	*approval.Registry
}

func newDesk() *desk {
	d := &desk{store: approvaltest.NewStore(), clock: approvaltest.NewClock(start)}
	d.restart()
	return d
}

// restart is what a crash leaves: the store, and nothing in memory.
func (d *desk) restart() { d.Registry = approval.New(d.store, d.clock, approval.Options{}) }

var owner = policy.Authority{
	ID: "owner/0123", Kind: policy.PrincipalOwner, Capabilities: []policy.Capability{policy.CapApprovalAnswer},
}

var agent = policy.Authority{
	ID: "agent/demo/s1", Kind: policy.PrincipalAgent, Capabilities: []policy.Capability{policy.CapApprovalRequest},
}

// proposal is a call of session s1, turn t1.
func proposal(toolCall, digest string, outcome policy.Outcome) approval.Proposal {
	p := approval.Proposal{Call: approval.Call{
		Session: "s1", Execution: "t1", ToolCall: toolCall, Principal: agent, Agent: "demo", Tool: "Bash",
		AgentTool: "bash", Args: json.RawMessage(`{"command":"make"}`), Digest: digest,
		Verdict: policy.Verdict{Outcome: outcome, Reason: policy.ReasonApprovalRequired, Step: 13},
	}}
	if outcome == policy.Ask {
		p.Question = &approval.Question{
			Kind: approval.KindApproval, Prompt: "Run make?", ExpiresAt: start.Add(approval.DefaultWait),
			Offers: []approval.Offer{
				{Number: 1, Scope: approval.ScopeOnce},
				{Number: 2, Scope: approval.ScopeSession, Rules: []string{"Bash(make)"}},
			},
		}
	}
	return p
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (d *desk) admit(t fataler, p approval.Proposal) approval.Admission {
	t.Helper()
	a, err := d.Admit(p)
	if err != nil {
		t.Fatalf("admit: %v", err)
	}
	return a
}

// ask admits a call that asks, and the owner looks at its card.
func (d *desk) ask(t fataler, toolCall string) approval.Admission {
	t.Helper()
	a := d.admit(t, proposal(toolCall, "sha256:"+toolCall, policy.Ask))
	if a.Question != nil && a.Question.State == approval.QuestionOpen {
		d.shown(t, a)
	}
	return a
}

// shown has had the card of an admission in front of the owner since ShownDelay ago: the clock stands where it stood.
func (d *desk) shown(t fataler, a approval.Admission) {
	t.Helper()
	d.clock.Advance(-approval.ShownDelay)
	defer d.clock.Advance(approval.ShownDelay)
	if _, _, err := d.Shown(a.Question.ID, a.Question.Version); err != nil {
		t.Fatalf("shown: %v", err)
	}
}

func (d *desk) call(t fataler, id string) approval.Call {
	t.Helper()
	c, err := d.Get(id)
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return c
}

// allow has the owner look at the card of an admission and take its first offer.
func (d *desk) allow(t fataler, a approval.Admission, command string) {
	t.Helper()
	d.shown(t, a)
	if _, _, err := d.Reply(replyTo(a, command), nil); err != nil {
		t.Fatalf("reply: %v", err)
	}
}

func replyTo(a approval.Admission, command string) approval.ReplyCommand {
	return approval.ReplyCommand{
		CommandID: command, Question: a.Question.ID, Version: a.Question.Version, Offer: 1, Answerer: owner,
	}
}

func rejectOf(a approval.Admission, command string) approval.RejectCommand {
	return approval.RejectCommand{
		CommandID: command, Question: a.Question.ID, Version: a.Question.Version, Answerer: owner,
	}
}

// code is the code of an error, "" for none and "?" for an error without one.
func code(err error) string {
	var coded interface{ Code() string }
	switch {
	case err == nil:
		return ""
	case errors.As(err, &coded):
		return coded.Code()
	}
	return "?"
}

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Errorf("got code %q (%v), want %q", got, err, want)
	}
}

func wantState(t *testing.T, c approval.Call, state approval.CallState, outcome approval.CallOutcome) {
	t.Helper()
	if c.State != state || c.Outcome != outcome {
		t.Errorf("the call is %s(%s), want %s(%s)", c.State, c.Outcome, state, outcome)
	}
}

// frames prints what events publish.
func frames(events []approval.Event) string {
	var out []string
	for _, e := range events {
		switch {
		case e.Call != nil:
			out = append(out, fmt.Sprintf("%s %s(%s)", e.Frame, e.Call.State, e.Call.Outcome))
		case e.Question != nil:
			out = append(out, fmt.Sprintf("%s %s(%s)", e.Frame, e.Question.State, e.Question.Outcome))
		}
	}
	return strings.Join(out, "; ")
}

// consistent checks what must hold between records and indexes after every transaction.
func consistent(t fataler, store *approvaltest.Store) {
	t.Helper()
	dump := store.Dump()
	want := map[string]map[string]bool{}
	expect := func(bucket string, parts ...string) {
		if want[bucket] == nil {
			want[bucket] = map[string]bool{}
		}
		want[bucket][strings.Join(parts, "\x00")] = true
	}
	open := map[string]string{}
	for id, raw := range dump[approval.BucketQuestions] {
		var q approval.Question
		if err := json.Unmarshal([]byte(raw), &q); err != nil || q.ID != id {
			t.Fatalf("question %s: %v", id, err)
		}
		if q.State == approval.QuestionOpen {
			open[q.Call] = q.ID
			expect(approval.BucketOpenQuestions, q.Session, q.ID)
		} else if q.Outcome == "" || q.ClosedAt.IsZero() {
			t.Fatalf("question %s is closed without an outcome or a time", id)
		}
	}
	for id, raw := range dump[approval.BucketCalls] {
		var c approval.Call
		if err := json.Unmarshal([]byte(raw), &c); err != nil || c.ID != id {
			t.Fatalf("call %s: %v", id, err)
		}
		if (c.State == approval.CallWaiting) != (open[c.ID] != "" && open[c.ID] == c.Question) {
			t.Fatalf("call %s is %s and its open question is %q", id, c.State, open[c.ID])
		}
		if (c.State == approval.CallFinished) != (c.Outcome != "") {
			t.Fatalf("call %s is %s with outcome %q", id, c.State, c.Outcome)
		}
		if c.State != approval.CallFinished {
			expect(approval.BucketLiveCalls, c.Session, c.ID)
		}
		if !c.Deadline.IsZero() {
			expect(approval.BucketDeadlines, fmt.Sprintf("%012d.%09d", c.Deadline.Unix(), c.Deadline.Nanosecond()), c.ID)
			if c.State != approval.CallWaiting && c.State != approval.CallAllowed {
				t.Fatalf("call %s is %s and has a deadline", id, c.State)
			}
		}
		if key := dump[approval.BucketCallKeys][c.Key]; key != fmt.Sprintf("%q", c.ID) {
			t.Fatalf("call %s is not found by its key: %s", id, key)
		}
	}
	for _, bucket := range []string{approval.BucketOpenQuestions, approval.BucketLiveCalls, approval.BucketDeadlines} {
		for key := range want[bucket] {
			if _, ok := dump[bucket][key]; !ok {
				t.Fatalf("%s lacks %q", bucket, key)
			}
		}
		for key := range dump[bucket] {
			if !want[bucket][key] {
				t.Fatalf("%s holds a stale %q", bucket, key)
			}
		}
	}
	if a, b := len(dump[approval.BucketCommands]), len(dump[approval.BucketCommandTimes]); a != b {
		t.Fatalf("%d commands and %d times", a, b)
	}
}
