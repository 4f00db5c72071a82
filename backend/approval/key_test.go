package approval_test

import (
	"errors"
	"fmt"
	"testing"

	"countersign/backend/approval"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

func TestReattachByKey(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	again := func(want approval.CallState, outcome approval.CallOutcome) approval.Admission {
		t.Helper()
		b := d.ask(t, "c1")
		if !b.Existing || b.Call.ID != a.Call.ID || b.Question == nil || b.Question.ID != a.Question.ID {
			t.Fatalf("not the same call: %+v", b)
		}
		wantState(t, b.Call, want, outcome)
		return b
	}
	if b := again(approval.CallWaiting, ""); len(b.Events) != 0 {
		t.Errorf("coming back published %s", frames(b.Events))
	}
	d.restart()
	again(approval.CallWaiting, "")
	d.allow(t, a, "k1")
	if b := again(approval.CallAllowed, ""); b.Question.Outcome != approval.AnswerAllow {
		t.Errorf("the question is %+v", b.Question)
	}
	d.clock.Advance(approval.DefaultAllowTTL)
	if b := again(approval.CallFinished, approval.OutcomeExpired); frames(b.Events) != "call.updated finished(expired)" {
		t.Errorf("published %s", frames(b.Events))
	}
	again(approval.CallFinished, approval.OutcomeExpired)
	consistent(t, d.store)
}

func TestReattachExpiresTheWait(t *testing.T) {
	d := newDesk()
	d.ask(t, "c1")
	d.clock.Advance(approval.DefaultWait)
	b := d.ask(t, "c1")
	wantState(t, b.Call, approval.CallFinished, approval.OutcomeExpired)
	if got := frames(b.Events); got != "question.closed closed(expired); call.updated finished(expired)" {
		t.Errorf("published %s", got)
	}
}

func TestReattachRefusesAnythingElse(t *testing.T) {
	d := newDesk()
	first := d.ask(t, "c1")
	for _, tt := range []struct {
		name string
		edit func(*approval.Call)
	}{
		{"another digest", func(c *approval.Call) { c.Digest = "sha256:other" }},
		{"another principal", func(c *approval.Call) { c.Principal.ID = "agent/demo/s2" }},
		{"another kind of principal", func(c *approval.Call) { c.Principal.Kind = policy.PrincipalSubagent }},
		{"another session's key", func(c *approval.Call) { c.Key, c.Session = first.Call.Key, "s2" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := proposal("c1", "sha256:c1", policy.Ask)
			tt.edit(&p.Call)
			before := d.store.Dump()
			_, err := d.Admit(p)
			wantCode(t, err, "approval_mismatch")
			if diff := cmp.Diff(before, d.store.Dump()); diff != "" {
				t.Errorf("changed:\n%s", diff)
			}
		})
	}
}

// A binding covers files, which may change while a call waits. The client that comes back is known by what it sent;
// what was admitted binds.
func TestRecognition(t *testing.T) {
	d := newDesk()
	propose := func(toolCall, proposed, digest string) (approval.Admission, error) {
		p := proposal(toolCall, digest, policy.Ask)
		p.Call.Proposed = proposed
		return d.Admit(p)
	}
	first, err := propose("c1", "sent:1", "bound:1")
	if err != nil {
		t.Fatal(err)
	}
	again, err := propose("c1", "sent:1", "bound:2")
	if err != nil || !again.Existing || again.Call.ID != first.Call.ID || again.Call.Digest != "bound:1" {
		t.Errorf("%+v, %v", again.Call, err)
	}
	for _, other := range []string{"sent:2", ""} {
		_, err = propose("c1", other, "bound:1")
		wantCode(t, err, "approval_mismatch")
	}
	d.allow(t, first, "k1")
	_, _, err = d.Redeem(first.Call.ID, "sent:1")
	wantCode(t, err, "approval_mismatch")

	one, err := propose("", "sent:1", "bound:1")
	if err != nil {
		t.Fatal(err)
	}
	d.Lost(one.Call.ID)
	if back, err := propose("", "sent:1", "bound:2"); err != nil || back.Call.ID != one.Call.ID {
		t.Errorf("the lost client did not find its call: %v", err)
	}
	if _, _, err := d.Park(one.Call.ID); err != nil {
		t.Fatal(err)
	}
	if c, ok, _, err := d.Reattach("s1", "sent:1", ""); err != nil || !ok || c.ID != one.Call.ID {
		t.Errorf("the parked call was not found: %v", err)
	}
}

func TestFind(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	c, ok, err := d.Find(approval.Key("s1", "t1", "c1", "", 0))
	if err != nil || !ok || c.ID != a.Call.ID {
		t.Errorf("%s, %v, %v", c.ID, ok, err)
	}
	if _, ok, err := d.Find("no"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if err := d.store.Update(func(tx approval.Tx) error { return tx.Delete(approval.BucketCalls, a.Call.ID) }); err != nil {
		t.Fatal(err)
	}
	_, _, err = d.Find(a.Call.Key)
	wantCode(t, err, "approval_damaged")
}

// Agents without tool call ids: equal calls are told apart by their ordinal, a lost client finds its call again.
func TestOrdinals(t *testing.T) {
	d := newDesk()
	same := func() approval.Admission { return d.admit(t, proposal("", "sha256:same", policy.Ask)) }
	one, two := same(), same()
	if two.Existing || one.Call.ID == two.Call.ID {
		t.Fatal("two calls at the same time share one wait: one answer would allow both")
	}
	d.Lost(two.Call.ID)
	if back := same(); back.Call.ID != two.Call.ID || !back.Existing {
		t.Error("the lost client did not find its call")
	}
	d.allow(t, one, "k1")
	if third := same(); third.Existing {
		t.Error("a third call was given an answered one whose client is there")
	}
	d.Lost(one.Call.ID)
	if _, _, err := d.Redeem(one.Call.ID, "sha256:same"); err != nil {
		t.Fatal(err)
	}
	if back := same(); back.Call.ID != one.Call.ID || back.Call.State != approval.CallRunning {
		t.Errorf("the lost client of an answered call got %+v", back.Call.State)
	}

	d.restart() // nobody is connected now: what waits is free, what ended is not
	if back := same(); back.Call.ID != two.Call.ID {
		t.Error("after a restart the oldest wait was not taken up")
	}
	p := proposal("", "sha256:same", policy.Ask)
	p.Call.Execution = "t2"
	if next := d.admit(t, p); next.Existing {
		t.Error("another turn shares the call")
	}
	if _, err := d.SessionGone("s1"); err != nil {
		t.Fatal(err)
	}
	if after := same(); after.Existing {
		t.Error("an ended call was given to a new one")
	}
	d.Lost("never seen")
	consistent(t, d.store)
}

// A commit that fails must not leave the client attached in memory: the same client comes again.
func TestOrdinalAfterFailedCommit(t *testing.T) {
	d := newDesk()
	p := proposal("", "sha256:same", policy.Ask)
	one := d.admit(t, p)
	d.restart()
	d.store.FailCommits(errors.New("disk full"))
	if _, err := d.Admit(p); err == nil {
		t.Fatal("admitted on a full disk")
	}
	d.store.FailCommits(nil)
	if back := d.admit(t, p); back.Call.ID != one.Call.ID {
		t.Error("the failed attempt holds the call")
	}
	d.Lost(one.Call.ID)
	d.store.FailCommits(errors.New("disk full"))
	if _, err := d.Admit(p); err == nil {
		t.Fatal("admitted on a full disk")
	}
	d.store.FailCommits(nil)
	if back := d.admit(t, p); back.Call.ID != one.Call.ID {
		t.Error("the failed attempt made the lost client present")
	}
}

func TestTooManyRepeats(t *testing.T) {
	if testing.Short() {
		t.Skip("admits thousands of calls")
	}
	d := newDesk()
	p := proposal("", "sha256:same", policy.Deny)
	for n := range approval.MaxRepeats {
		p.Call.ID = fmt.Sprint("n", n)
		p.Call.Key = approval.Key("s1", "t1", "", "sha256:same", n)
		d.admit(t, p)
	}
	p.Call.ID, p.Call.Key = "", ""
	_, err := d.Admit(p)
	wantCode(t, err, "too_many_repeats")
}

func TestKey(t *testing.T) {
	seen := map[string]string{}
	for name, key := range map[string]string{
		"id":              approval.Key("s", "e", "c", "d", 0),
		"id, other turn":  approval.Key("s", "e2", "c", "d", 0),
		"id, shifted":     approval.Key("se", "", "c", "d", 0),
		"digest":          approval.Key("s", "e", "", "d", 0),
		"digest, second":  approval.Key("s", "e", "", "d", 1),
		"digest, shifted": approval.Key("s", "ed", "", "", 0),
		"id like digest":  approval.Key("s", "e", "d", "", 0),
	} {
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q have the same key", name, other)
		}
		seen[key] = name
	}
	if approval.Key("s", "e", "c", "d", 0) != approval.Key("s", "e", "c", "other", 5) {
		t.Error("the key of a tool call id depends on the digest: another digest would not be noticed")
	}
}
