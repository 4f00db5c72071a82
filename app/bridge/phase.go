package bridge

// event is what makes the app go from one phase to another.
type event string

const (
	eventAsk      event = "ask"       // the key file needs its passphrase
	eventAskNew   event = "ask_new"   // a passphrase is to be chosen
	eventUnlock   event = "unlock"    // it was given
	eventOpened   event = "opened"    // the core runs
	eventFailed   event = "failed"    // it did not open
	eventHeld     event = "held"      // a core without a window holds the store
	eventRetry    event = "retry"     // the owner asks for it, or the other core has ended
	eventTakeOver event = "take_over" // the owner asks for it
	eventEnded    event = "ended"     // the core ended by itself
	eventClose    event = "close"     // the app ends
)

// next returns where an event leads; ok is false where it means nothing, and then nothing happens.
//
//	                ask         ask_new         unlock   opened  failed  held       retry    take_over  ended  close
//	opening         passphrase  new_passphrase  -        ready   fault   elsewhere  -        -          -      closing
//	passphrase      -           -               opening  -       fault   -          -        -          -      closing
//	new_passphrase  -           -               opening  -       fault   -          -        -          -      closing
//	fault           -           -               -        -       -       -          opening  -          -      closing
//	elsewhere       -           -               -        -       -       -          opening  opening    -      closing
//	ready           -           -               -        -       -       -          -        -          fault  closing
//	closing         -           -               -        -       -       -          -        -          -      -
func next(from Phase, e event) (to Phase, ok bool) {
	if e == eventClose && from != PhaseClosing {
		return PhaseClosing, true
	}
	switch from {
	case PhaseOpening:
		switch e {
		case eventAsk:
			return PhasePassphrase, true
		case eventAskNew:
			return PhaseNewPassphrase, true
		case eventOpened:
			return PhaseReady, true
		case eventFailed:
			return PhaseFault, true
		case eventHeld:
			return PhaseElsewhere, true
		}
	case PhasePassphrase, PhaseNewPassphrase:
		switch e {
		case eventUnlock:
			return PhaseOpening, true
		case eventFailed:
			return PhaseFault, true
		}
	case PhaseFault:
		if e == eventRetry {
			return PhaseOpening, true
		}
	case PhaseElsewhere:
		if e == eventRetry || e == eventTakeOver {
			return PhaseOpening, true
		}
	case PhaseReady:
		if e == eventEnded {
			return PhaseFault, true
		}
	}
	return from, false
}
