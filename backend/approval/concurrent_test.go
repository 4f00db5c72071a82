package approval_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"countersign/backend/approval"
	"countersign/backend/policy"

	"github.com/google/go-cmp/cmp"
)

// 32 surfaces answer the same question, each with its own command: exactly one is applied.
func TestConcurrentAnswers(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	const n = 32
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex // guards what follows
		applied []string
		stands  []string
		closed  int
		saved   int
	)
	for i := range n {
		wg.Go(func() {
			command := fmt.Sprint("k", i)
			var result approval.AnswerResult
			var events []approval.Event
			var err error
			if i%2 == 0 {
				result, events, err = d.Reply(replyTo(a, command), func(approval.Tx, approval.Question, approval.Offer) error {
					mu.Lock()
					defer mu.Unlock()
					saved++
					return nil
				})
			} else {
				result, events, err = d.Reject(rejectOf(a, command))
			}
			mu.Lock()
			defer mu.Unlock()
			var already *approval.AlreadyAnswered
			switch {
			case err == nil && result.Applied:
				applied = append(applied, result.Outcome)
			case errors.As(err, &already):
				stands = append(stands, already.Outcome)
			default:
				t.Errorf("%s: %+v, %v", command, result, err)
			}
			for _, e := range events {
				if e.Frame == approval.FrameClosed {
					closed++
				}
			}
		})
	}
	wg.Wait()
	if len(applied) != 1 || len(stands) != n-1 || closed != 1 {
		t.Fatalf("%d applied, %d refused, %d closed", len(applied), len(stands), closed)
	}
	for _, outcome := range stands {
		if outcome != applied[0] {
			t.Errorf("told %q while %q stands", outcome, applied[0])
		}
	}
	if want := map[string]int{"allow": 1, "deny": 0}[applied[0]]; saved != want {
		t.Errorf("saved %d times for %q", saved, applied[0])
	}
	consistent(t, d.store)
}

// The same command, retried by 32 connections at once: all get the one result.
func TestConcurrentRetries(t *testing.T) {
	d := newDesk()
	a := d.ask(t, "c1")
	var wg sync.WaitGroup
	var mu sync.Mutex
	published := 0
	for range 32 {
		wg.Go(func() {
			result, events, err := d.Reply(replyTo(a, "k1"), nil)
			if err != nil || !result.Applied || result.Version != 2 {
				t.Errorf("%+v, %v", result, err)
			}
			mu.Lock()
			defer mu.Unlock()
			published += len(events)
		})
	}
	wg.Wait()
	if published != 2 {
		t.Errorf("%d events, want those of one answer", published)
	}
}

// 32 clients redeem one allow at the same time: one execution.
func TestConcurrentRedeem(t *testing.T) {
	d := newDesk()
	a := d.admit(t, proposal("c1", "sha256:1", policy.Allow))
	var wg sync.WaitGroup
	var mu sync.Mutex // guards codes
	codes := map[string]int{}
	for i := range 32 {
		wg.Go(func() {
			var err error
			if i%4 == 3 {
				_, _, err = d.Release(a.Call.ID)
			} else {
				_, _, err = d.Redeem(a.Call.ID, "sha256:1")
			}
			mu.Lock()
			defer mu.Unlock()
			codes[code(err)]++
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[string]int{"": 1, "already_redeemed": 31}, codes); diff != "" {
		t.Error(diff)
	}
}

// Clients of an agent without tool call ids ask at the same time: as many waits as clients.
func TestConcurrentOrdinals(t *testing.T) {
	d := newDesk()
	var wg sync.WaitGroup
	ids := make([]string, 32)
	for i := range ids {
		wg.Go(func() {
			a, err := d.Admit(proposal("", "sha256:same", policy.Ask))
			if err != nil {
				t.Error(err)
			}
			ids[i] = a.Call.ID
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			t.Fatal("two clients share a wait")
		}
		seen[id] = true
	}
	if open, err := d.Pending(); err != nil || len(open) != len(ids) {
		t.Errorf("%d open, %v", len(open), err)
	}
}
