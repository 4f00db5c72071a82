package approval

// EventKind is what happens to a call.
type EventKind string

// The events of a call's life.
const (
	EventAllow           EventKind = "allow"             // the policy decided
	EventDeny            EventKind = "deny"              // the policy decided
	EventAsk             EventKind = "ask"               // the policy decided: a person is needed
	EventAnswerAllow     EventKind = "answer_allow"      // the owner
	EventAnswerDeny      EventKind = "answer_deny"       // the owner
	EventExpire          EventKind = "expire"            // the wait or the allow is over
	EventCancel          EventKind = "cancel"            // the client withdrew
	EventOriginGone      EventKind = "origin_gone"       // the agent's process ended
	EventAnsweredInAgent EventKind = "answered_in_agent" // in the agent's own prompt
	EventRedeem          EventKind = "redeem"            // it starts here
	EventRelease         EventKind = "release"           // it is given to the agent to execute
	EventDone            EventKind = "done"              // it ended here
	EventFail            EventKind = "fail"              // it could not be started here
	EventReport          EventKind = "report"            // the agent reported that it ran
	EventSilence         EventKind = "silence"           // nothing will be heard of it any more
	EventRestart         EventKind = "restart"           // the core started and found it running
)

// States returns every state, in the order of a life.
func States() []CallState {
	return []CallState{CallProposed, CallWaiting, CallAllowed, CallRunning, CallReleased, CallFinished}
}

// EventKinds returns every event.
func EventKinds() []EventKind {
	return []EventKind{
		EventAllow, EventDeny, EventAsk, EventAnswerAllow, EventAnswerDeny, EventExpire, EventCancel,
		EventOriginGone, EventAnsweredInAgent, EventRedeem, EventRelease, EventDone, EventFail, EventReport,
		EventSilence, EventRestart,
	}
}

// Next is the life of a call. An empty cell is a *TransitionError; "(x)" is finished with outcome x. A finished call
// takes no event at all, which is what makes every answer and every execution happen once.
//
//	event              proposed   waiting              allowed              running    released
//	allow              allowed
//	deny               (denied)
//	ask                waiting
//	answer_allow                  allowed
//	answer_deny                   (refused)
//	expire                        (expired)            (expired)
//	cancel                        (cancelled)          (cancelled)
//	origin_gone                   (origin_gone)        (origin_gone)                   (unreported)
//	answered_in_agent             (answered_in_agent)  (answered_in_agent)
//	redeem                                             running
//	release                                            released
//	done                                                                    (done)
//	fail                                                                    (failed)
//	report                                                                             (reported)
//	silence                                                                            (unreported)
//	restart                                                                 (unknown)
//
// An agent that ends while its call runs here does not end the call: the broker kills the tree and says so with an
// end of its own. Waits and allows keep their state over a restart; their deadlines are by wall clock.
func Next(state CallState, event EventKind) (CallState, CallOutcome, error) {
	switch state {
	case CallProposed:
		switch event {
		case EventAllow:
			return CallAllowed, "", nil
		case EventDeny:
			return CallFinished, OutcomeDenied, nil
		case EventAsk:
			return CallWaiting, "", nil
		}
	case CallWaiting:
		switch event {
		case EventAnswerAllow:
			return CallAllowed, "", nil
		case EventAnswerDeny:
			return CallFinished, OutcomeRefused, nil
		}
		if outcome, ok := withdrawal(event); ok {
			return CallFinished, outcome, nil
		}
	case CallAllowed:
		switch event {
		case EventRedeem:
			return CallRunning, "", nil
		case EventRelease:
			return CallReleased, "", nil
		}
		if outcome, ok := withdrawal(event); ok {
			return CallFinished, outcome, nil
		}
	case CallRunning:
		switch event {
		case EventDone:
			return CallFinished, OutcomeDone, nil
		case EventFail:
			return CallFinished, OutcomeFailed, nil
		case EventRestart:
			return CallFinished, OutcomeUnknown, nil
		}
	case CallReleased:
		switch event {
		case EventReport:
			return CallFinished, OutcomeReported, nil
		case EventSilence, EventOriginGone:
			return CallFinished, OutcomeUnreported, nil
		}
	}
	return state, "", &TransitionError{State: state, Event: event}
}

// withdrawal is how a call ends that was never started and that nobody denied.
func withdrawal(event EventKind) (CallOutcome, bool) {
	switch event {
	case EventExpire:
		return OutcomeExpired, true
	case EventCancel:
		return OutcomeCancelled, true
	case EventOriginGone:
		return OutcomeOriginGone, true
	case EventAnsweredInAgent:
		return OutcomeAnsweredInAgent, true
	}
	return "", false
}
