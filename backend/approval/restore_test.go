package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign/backend/approval"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

func TestRestore(t *testing.T) {
	d := newDesk()
	open := d.askUntil(t, "open", start.Add(time.Hour))
	due := d.askUntil(t, "due", start.Add(time.Second))
	allowed := d.admit(t, proposal("allowed", "sha256:1", policy.Allow))
	released := d.admit(t, proposal("released", "sha256:1", policy.Allow))
	running := d.admit(t, proposal("running", "sha256:1", policy.Allow))
	if _, _, err := d.Release(released.Call.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Redeem(running.Call.ID, "sha256:1"); err != nil {
		t.Fatal(err)
	}
	d.clock.Advance(time.Second)
	d.restart()
	restored, events, err := d.Restore()
	if err != nil {
		t.Fatal(err)
	}
	if got := frames(events); got != "call.updated finished(unknown); "+
		"question.closed closed(expired); call.updated finished(expired)" {
		t.Errorf("published %s", got)
	}
	if len(restored.Open) != 1 || len(restored.Unknown) != 1 {
		t.Fatalf("restored %+v", restored)
	}
	if diff := cmp.Diff(*open.Question, restored.Open[0]); diff != "" {
		t.Errorf("the wait changed over the restart:\n%s", diff)
	}
	if restored.Unknown[0].ID != running.Call.ID {
		t.Errorf("unknown is %s", restored.Unknown[0].ToolCall)
	}
	wantState(t, d.call(t, due.Call.ID), approval.CallFinished, approval.OutcomeExpired)
	wantState(t, d.call(t, allowed.Call.ID), approval.CallAllowed, "")
	wantState(t, d.call(t, released.Call.ID), approval.CallReleased, "")
	wantState(t, d.call(t, running.Call.ID), approval.CallFinished, approval.OutcomeUnknown)
	_, _, err = d.Redeem(running.Call.ID, "sha256:1")
	wantCode(t, err, "already_redeemed")
	_, _, err = d.Finish(running.Call.ID, approval.Finish{Outcome: approval.OutcomeDone})
	wantCode(t, err, "invalid_transition")
	d.shown(t, open)
	if _, _, err := d.Reply(replyTo(open, "k1"), nil); err != nil {
		t.Errorf("the restored wait is not answered: %v", err)
	}
	again, events, err := d.Restore()
	if err != nil || len(events) != 0 || len(again.Open) != 0 || len(again.Unknown) != 0 {
		t.Errorf("a second start: %+v, %s, %v", again, frames(events), err)
	}
	consistent(t, d.store)
}

func TestRestoreMany(t *testing.T) {
	d := newDesk()
	for n := range 300 {
		a := d.admit(t, proposal(fmt.Sprint("c", n), "sha256:1", policy.Allow))
		if _, _, err := d.Redeem(a.Call.ID, "sha256:1"); err != nil {
			t.Fatal(err)
		}
	}
	restored, events, err := d.Restore()
	if err != nil || len(restored.Unknown) != 300 || len(events) != 300 {
		t.Errorf("%d unknown, %d events, %v", len(restored.Unknown), len(events), err)
	}
	consistent(t, d.store)
}

// A store that contradicts itself is named, and nothing is made up in its place.
func TestDamage(t *testing.T) {
	for _, tt := range []struct {
		name, bucket string
		all          any // put in the place of every value of the bucket; nil deletes
		do           func(*desk, approval.Admission) error
		want         string
	}{
		{"reply, call gone", approval.BucketCalls, nil, func(d *desk, a approval.Admission) error {
			_, _, err := d.Reply(replyTo(a, "k"), nil)
			return err
		}, "approval_damaged"},
		{"cancel, question gone", approval.BucketQuestions, nil, func(d *desk, a approval.Admission) error {
			_, _, err := d.Cancel(a.Call.ID, approval.OutcomeCancelled)
			return err
		}, "approval_damaged"},
		{"pending, question gone", approval.BucketQuestions, nil, func(d *desk, _ approval.Admission) error {
			_, err := d.Pending()
			return err
		}, "approval_damaged"},
		{"restore, question gone", approval.BucketQuestions, nil, func(d *desk, _ approval.Admission) error {
			_, _, err := d.Restore()
			return err
		}, "approval_damaged"},
		{"restore, index unreadable", approval.BucketLiveCalls, 7, func(d *desk, _ approval.Admission) error {
			_, _, err := d.Restore()
			return err
		}, "approval_damaged"},
		{"restore, running call gone", approval.BucketLiveCalls, approval.CallRunning, func(d *desk, a approval.Admission) error {
			if err := d.store.Update(func(tx approval.Tx) error { return tx.Delete(approval.BucketCalls, a.Call.ID) }); err != nil {
				return err
			}
			_, _, err := d.Restore()
			return err
		}, "approval_damaged"},
		{"restore, waiting call indexed as running", approval.BucketLiveCalls, approval.CallRunning, func(d *desk, _ approval.Admission) error {
			_, _, err := d.Restore()
			return err
		}, "invalid_transition"},
		{"re-attach, call gone", approval.BucketCalls, nil, func(d *desk, _ approval.Admission) error {
			_, err := d.Admit(proposal("c1", "sha256:c1", policy.Ask))
			return err
		}, "approval_damaged"},
		{"re-attach, question gone", approval.BucketQuestions, nil, func(d *desk, _ approval.Admission) error {
			_, err := d.Admit(proposal("c1", "sha256:c1", policy.Ask))
			return err
		}, "approval_damaged"},
		{"calls, call gone", approval.BucketCalls, nil, func(d *desk, _ approval.Admission) error {
			_, err := d.Calls("s1", 1)
			return err
		}, "approval_damaged"},
		{"session gone, call gone", approval.BucketCalls, nil, func(d *desk, _ approval.Admission) error {
			_, err := d.SessionGone("s1")
			return err
		}, "approval_damaged"},
		{"parked, call gone", approval.BucketCalls, nil, func(d *desk, _ approval.Admission) error {
			_, _, _, err := d.Reattach("s1", "sha256:c1", "")
			return err
		}, "approval_damaged"},
		{"call unreadable", approval.BucketCalls, 7, func(d *desk, a approval.Admission) error {
			_, err := d.Get(a.Call.ID)
			return err
		}, "?"},
		{"question unreadable", approval.BucketQuestions, 7, func(d *desk, a approval.Admission) error {
			_, err := d.Question(a.Question.ID)
			return err
		}, "?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			a := d.ask(t, "c1")
			if _, _, err := d.Park(a.Call.ID); err != nil {
				t.Fatal(err)
			}
			var keys []string
			if err := d.store.Update(func(tx approval.Tx) error {
				err := tx.Each(tt.bucket, "", func(key string, _ json.RawMessage) error {
					keys = append(keys, key)
					return nil
				})
				for _, key := range keys {
					if tt.all == nil {
						err = errors.Join(err, tx.Delete(tt.bucket, key))
					} else {
						err = errors.Join(err, tx.Put(tt.bucket, key, tt.all))
					}
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			wantCode(t, tt.do(d, a), tt.want)
		})
	}
}

func TestStopTurnDamage(t *testing.T) {
	for _, bucket := range []string{approval.BucketCalls, approval.BucketQuestions} {
		d := newDesk()
		a, b := d.ask(t, "c1"), d.ask(t, "c2")
		if err := d.store.Update(func(tx approval.Tx) error {
			return errors.Join(tx.Delete(bucket, b.Call.ID), tx.Delete(bucket, b.Question.ID))
		}); err != nil {
			t.Fatal(err)
		}
		cmd := rejectOf(a, "k")
		cmd.StopTurn = true
		_, _, err := d.Reject(cmd)
		wantCode(t, err, "approval_damaged")
		wantState(t, d.call(t, a.Call.ID), approval.CallWaiting, "")
	}
}
