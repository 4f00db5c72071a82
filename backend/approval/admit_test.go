package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

func TestAdmitVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		outcome policy.Outcome
		state   approval.CallState
		ended   approval.CallOutcome
		frames  string
	}{
		{"allow", policy.Allow, approval.CallAllowed, "", "call.updated allowed()"},
		{"ask", policy.Ask, approval.CallWaiting, "", "call.updated waiting(); question.asked open()"},
		{"deny", policy.Deny, approval.CallFinished, approval.OutcomeDenied, "call.updated finished(denied)"},
		{"zero verdict denies", "", approval.CallFinished, approval.OutcomeDenied, "call.updated finished(denied)"},
		{"not yet classified denies", policy.Classify, approval.CallFinished, approval.OutcomeDenied, "call.updated finished(denied)"},
		{"unknown verdict denies", "perhaps", approval.CallFinished, approval.OutcomeDenied, "call.updated finished(denied)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			a := d.admit(t, proposal("c1", "sha256:1", tt.outcome))
			wantState(t, a.Call, tt.state, tt.ended)
			if got := frames(a.Events); got != tt.frames {
				t.Errorf("published %q, want %q", got, tt.frames)
			}
			if a.Existing || (a.Question != nil) != (tt.outcome == policy.Ask) {
				t.Errorf("existing %v, question %v", a.Existing, a.Question)
			}
			if diff := cmp.Diff(d.call(t, a.Call.ID), a.Call); diff != "" {
				t.Errorf("stored and returned call differ:\n%s", diff)
			}
			consistent(t, d.store)
		})
	}
}

func TestAdmitSetsWhatTheCallSays(t *testing.T) {
	d := newDesk()
	p := proposal("c1", "sha256:1", policy.Ask)
	p.Call.State, p.Call.Outcome, p.Call.StartedAt, p.Call.Answerer = approval.CallRunning, approval.OutcomeDone, start, "me"
	p.Question.Session, p.Question.Call, p.Question.Outcome, p.Question.Version = "other", "other", "allow", 9
	before := *p.Question
	a := d.admit(t, p)
	if diff := cmp.Diff(before, *p.Question); diff != "" {
		t.Errorf("the proposal was changed:\n%s", diff)
	}
	q, err := d.Question(a.Question.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(q, *a.Question); diff != "" {
		t.Errorf("stored and returned question differ:\n%s", diff)
	}
	if q.Session != "s1" || q.Execution != "t1" || q.Call != a.Call.ID || q.Agent != "demo" || q.Tool != "Bash" ||
		q.Reason != policy.ReasonApprovalRequired || q.Version != 1 || q.Outcome != "" || !q.CreatedAt.Equal(start) {
		t.Errorf("the question does not follow its call: %+v", q)
	}
	c := a.Call
	if c.Question != q.ID || c.Answerer != "" || !c.StartedAt.IsZero() || !c.Deadline.Equal(q.ExpiresAt) {
		t.Errorf("the call brought its own life along: %+v", c)
	}
}

func TestAdmitRefuses(t *testing.T) {
	call := func(fn func(*approval.Call)) func(*approval.Proposal) {
		return func(p *approval.Proposal) { fn(&p.Call) }
	}
	question := func(fn func(*approval.Question)) func(*approval.Proposal) {
		return func(p *approval.Proposal) { fn(p.Question) }
	}
	long := strings.Repeat("x", approval.MaxName+1)
	for _, tt := range []struct {
		name string
		edit func(*approval.Proposal)
		want string
	}{
		{"no session", call(func(c *approval.Call) { c.Session = "" }), "invalid_call"},
		{"NUL in the session", call(func(c *approval.Call) { c.Session = "s\x001" }), "invalid_call"},
		{"NUL in the digest", call(func(c *approval.Call) { c.Digest = "a\x00b" }), "invalid_call"},
		{"no digest", call(func(c *approval.Call) { c.Digest = "" }), "invalid_call"},
		{"long turn", call(func(c *approval.Call) { c.Execution = long }), "invalid_call"},
		{"long tool call", call(func(c *approval.Call) { c.ToolCall = long }), "invalid_call"},
		{"arguments not JSON", call(func(c *approval.Call) { c.Args = json.RawMessage("{") }), "invalid_call"},
		{"preconditions not JSON", call(func(c *approval.Call) { c.Preconditions = json.RawMessage("{") }), "invalid_call"},
		{"arguments too large", call(func(c *approval.Call) {
			c.Args = json.RawMessage(`"` + strings.Repeat("x", approval.MaxArgs) + `"`)
		}), "args_too_large"},
		{"no identity", call(func(c *approval.Call) { c.Principal.ID = "" }), "identity_missing"},
		{"no kind of principal", call(func(c *approval.Call) { c.Principal.Kind = "" }), "identity_missing"},
		{"ask without a question", func(p *approval.Proposal) { p.Question = nil }, "invalid_question"},
		{"allow with a question", call(func(c *approval.Call) { c.Verdict.Outcome = policy.Allow }), "invalid_question"},
		{"kind of a later version", question(func(q *approval.Question) { q.Kind = approval.KindForm }), "invalid_question"},
		{"long question id", question(func(q *approval.Question) { q.ID = long }), "invalid_question"},
		{"detail not JSON", question(func(q *approval.Question) { q.Detail = json.RawMessage("x") }), "invalid_question"},
		{"detail too large", question(func(q *approval.Question) { q.Prompt = strings.Repeat("x", approval.MaxDetail+1) }), "invalid_question"},
		{"nothing offered", question(func(q *approval.Question) { q.Offers = nil }), "invalid_question"},
		{"too many offers", question(func(q *approval.Question) {
			q.Offers = make([]approval.Offer, approval.MaxOffers+1)
		}), "invalid_question"},
		{"offer without a number", question(func(q *approval.Question) { q.Offers[0].Number = 0 }), "invalid_question"},
		{"two offers of one number", question(func(q *approval.Question) { q.Offers[1].Number = 1 }), "invalid_question"},
		{"offer of unknown scope", question(func(q *approval.Question) { q.Offers[0].Scope = "ever" }), "invalid_question"},
		{"once with a rule", question(func(q *approval.Question) { q.Offers[0].Rules = []string{"Bash"} }), "invalid_question"},
		{"session without a rule", question(func(q *approval.Question) { q.Offers[1].Rules = nil }), "invalid_question"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			p := proposal("c1", "sha256:1", policy.Ask)
			tt.edit(&p)
			_, err := d.Admit(p)
			wantCode(t, err, tt.want)
			if dump := d.store.Dump(); len(dump) != 0 {
				t.Errorf("something was stored: %v", dump)
			}
		})
	}
}

// A denial is recorded also when nobody can be named: that is why it was denied.
func TestAdmitDenialWithoutIdentity(t *testing.T) {
	d := newDesk()
	p := proposal("c1", "sha256:1", policy.Deny)
	p.Call.Principal = policy.Authority{}
	wantState(t, d.admit(t, p).Call, approval.CallFinished, approval.OutcomeDenied)
}

func TestAdmitTakenIDs(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	p := proposal("c2", "sha256:2", policy.Ask)
	p.Call.ID = a.Call.ID
	_, err := d.Admit(p)
	wantCode(t, err, "invalid_call")
	p = proposal("c2", "sha256:2", policy.Ask)
	p.Question.ID = a.Question.ID
	_, err = d.Admit(p)
	wantCode(t, err, "invalid_question")
	if q, _ := d.Question(a.Question.ID); q.Call != a.Call.ID {
		t.Error("the question was given to another call")
	}
}

func TestAdmitAlso(t *testing.T) {
	d := newDesk()
	p := proposal("c1", "sha256:1", policy.Ask)
	p.Also = func(tx approval.Tx) error { return tx.Put("sessions", "s1", "seen") }
	d.admit(t, p)
	var seen string
	if err := d.store.View(func(tx approval.Tx) error {
		_, err := tx.Get("sessions", "s1", &seen)
		return err
	}); err != nil || seen != "seen" {
		t.Errorf("seen %q, %v", seen, err)
	}
	p.Also = func(approval.Tx) error { t.Error("ran again for a client that came back"); return nil }
	d.admit(t, p)

	boom := errors.New("boom")
	p = proposal("c2", "sha256:2", policy.Ask)
	p.Also = func(approval.Tx) error { return boom }
	before := d.store.Dump()
	if _, err := d.Admit(p); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, d.store.Dump()); diff != "" {
		t.Errorf("a failed admission left:\n%s", diff)
	}
}

func TestTooManyOpenQuestions(t *testing.T) {
	d := newDesk()
	for n := range approval.MaxOpenQuestions {
		d.ask(t, fmt.Sprint("c", n))
	}
	_, err := d.Admit(proposal("more", "sha256:more", policy.Ask))
	wantCode(t, err, "too_many_open")
	p := proposal("more", "sha256:more", policy.Ask)
	p.Call.Session = "s10" // not counted with s1, although its name begins so
	d.admit(t, p)
	if b := d.ask(t, "c7"); !b.Existing {
		t.Error("a client could not come back to its wait")
	}
	if a := d.admit(t, proposal("more", "sha256:more", policy.Allow)); a.Call.State != approval.CallAllowed {
		t.Error("a call that needs no question was held up")
	}
	_, err = d.SessionGone("s1")
	wantCode(t, err, "")
	d.ask(t, "again")
}

// Ids sort as they were made, also within one millisecond and over a clock that is set back.
func TestIDsGrow(t *testing.T) {
	d := newDesk()
	last := ""
	for n := range 5000 {
		if n == 100 {
			d.clock.Advance(-time.Hour)
		}
		p := proposal(fmt.Sprint("c", n), "sha256:1", policy.Deny)
		p.Call.Session = fmt.Sprint("s", n)
		id := d.admit(t, p).Call.ID
		if id <= last || len(id) != 36 || id[14] != '7' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Fatalf("id %q after %q", id, last)
		}
		last = id
	}
}
