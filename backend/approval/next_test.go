package approval_test

import (
	"errors"
	"testing"

	"countersign/backend/approval"
)

// TestNext walks every cell of the table; what is not listed must be refused and leave the state alone.
func TestNext(t *testing.T) {
	type cell struct {
		state approval.CallState
		event approval.EventKind
	}
	type result struct {
		state   approval.CallState
		outcome approval.CallOutcome
	}
	finished := func(o approval.CallOutcome) result { return result{approval.CallFinished, o} }
	table := map[cell]result{
		{approval.CallProposed, approval.EventAllow}: {state: approval.CallAllowed},
		{approval.CallProposed, approval.EventDeny}:  finished(approval.OutcomeDenied),
		{approval.CallProposed, approval.EventAsk}:   {state: approval.CallWaiting},

		{approval.CallWaiting, approval.EventAnswerAllow}:     {state: approval.CallAllowed},
		{approval.CallWaiting, approval.EventAnswerDeny}:      finished(approval.OutcomeRefused),
		{approval.CallWaiting, approval.EventExpire}:          finished(approval.OutcomeExpired),
		{approval.CallWaiting, approval.EventCancel}:          finished(approval.OutcomeCancelled),
		{approval.CallWaiting, approval.EventOriginGone}:      finished(approval.OutcomeOriginGone),
		{approval.CallWaiting, approval.EventAnsweredInAgent}: finished(approval.OutcomeAnsweredInAgent),

		{approval.CallAllowed, approval.EventRedeem}:          {state: approval.CallRunning},
		{approval.CallAllowed, approval.EventRelease}:         {state: approval.CallReleased},
		{approval.CallAllowed, approval.EventExpire}:          finished(approval.OutcomeExpired),
		{approval.CallAllowed, approval.EventCancel}:          finished(approval.OutcomeCancelled),
		{approval.CallAllowed, approval.EventOriginGone}:      finished(approval.OutcomeOriginGone),
		{approval.CallAllowed, approval.EventAnsweredInAgent}: finished(approval.OutcomeAnsweredInAgent),

		{approval.CallRunning, approval.EventDone}:    finished(approval.OutcomeDone),
		{approval.CallRunning, approval.EventFail}:    finished(approval.OutcomeFailed),
		{approval.CallRunning, approval.EventRestart}: finished(approval.OutcomeUnknown),

		{approval.CallReleased, approval.EventReport}:     finished(approval.OutcomeReported),
		{approval.CallReleased, approval.EventSilence}:    finished(approval.OutcomeUnreported),
		{approval.CallReleased, approval.EventOriginGone}: finished(approval.OutcomeUnreported),
	}
	states := append(approval.States(), "", "asleep")
	events := append(approval.EventKinds(), "", "dream")
	walked := 0
	for _, state := range states {
		for _, event := range events {
			gotState, gotOutcome, err := approval.Next(state, event)
			want, ok := table[cell{state, event}]
			if !ok {
				var refused *approval.TransitionError
				if !errors.As(err, &refused) || refused.State != state || refused.Event != event {
					t.Errorf("Next(%q, %q): error %v, want a TransitionError", state, event, err)
				}
				if gotState != state || gotOutcome != "" {
					t.Errorf("Next(%q, %q) = %q(%q) beside its error", state, event, gotState, gotOutcome)
				}
				continue
			}
			walked++
			if err != nil || gotState != want.state || gotOutcome != want.outcome {
				t.Errorf("Next(%q, %q) = %q(%q), %v; want %q(%q)", state, event, gotState, gotOutcome, err, want.state, want.outcome)
			}
		}
	}
	if walked != len(table) {
		t.Errorf("%d of %d cells were walked: a state or an event is not in its list", walked, len(table))
	}
}
