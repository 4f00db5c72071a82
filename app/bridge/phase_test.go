package bridge

import "testing"

// TestNext walks every cell of the table above next.
func TestNext(t *testing.T) {
	phases := []Phase{PhaseOpening, PhasePassphrase, PhaseNewPassphrase, PhaseFault, PhaseElsewhere, PhaseReady, PhaseClosing}
	events := []event{eventAsk, eventAskNew, eventUnlock, eventOpened, eventFailed, eventHeld, eventRetry, eventTakeOver, eventEnded, eventClose}
	leads := map[Phase]map[event]Phase{
		PhaseOpening: {eventAsk: PhasePassphrase, eventAskNew: PhaseNewPassphrase, eventOpened: PhaseReady, eventFailed: PhaseFault,
			eventHeld: PhaseElsewhere, eventClose: PhaseClosing},
		PhasePassphrase:    {eventUnlock: PhaseOpening, eventFailed: PhaseFault, eventClose: PhaseClosing},
		PhaseNewPassphrase: {eventUnlock: PhaseOpening, eventFailed: PhaseFault, eventClose: PhaseClosing},
		PhaseFault:         {eventRetry: PhaseOpening, eventClose: PhaseClosing},
		PhaseElsewhere:     {eventRetry: PhaseOpening, eventTakeOver: PhaseOpening, eventClose: PhaseClosing},
		PhaseReady:         {eventEnded: PhaseFault, eventClose: PhaseClosing},
		PhaseClosing:       {},
	}
	for _, from := range phases {
		for _, e := range events {
			want, ok := leads[from][e]
			if !ok {
				want = from
			}
			if to, moved := next(from, e); to != want || moved != ok {
				t.Errorf("next(%s, %s) = %s, %t, want %s, %t", from, e, to, moved, want, ok)
			}
		}
	}
}
