package tray

import (
	"sync"
	"time"
)

const (
	readyWithin = 20 * time.Second // a helper that was started on a busy machine
	shownWithin = 10 * time.Second // a state that was sent
	mostClicks  = 16               // that wait for OnEvent; more are dropped
)

// session is one life of the helper. run's goroutine owns its fields.
type session struct {
	tray    *Tray
	process process

	ready    bool
	sent     *State // the last one
	number   int64  // of the last one
	awaiting int64  // the number of a sent state that is not reported as shown; 0: none
	offered  [2]map[string]bool
}

// run talks to the helper until one side is through, and returns why.
func (s *session) run() string {
	input, output := s.process.streams()
	reports, stop := make(chan Report), make(chan struct{})
	orders, clicks := make(chan Order, 1), make(chan Event, mostClicks)
	ended, written := make(chan error, 1), make(chan error, 1)

	var parts sync.WaitGroup
	parts.Go(func() { // until the output ends: at the latest when the process is closed below
		r := NewReader(output)
		for {
			var report Report
			if err := r.Read(&report); err != nil {
				ended <- err
				return
			}
			select {
			case reports <- report:
			case <-stop:
				return
			}
		}
	})
	parts.Go(func() { // a write that is stuck ends when the process is closed
		for order := range orders {
			if err := Write(input, order); err != nil {
				written <- err
				return
			}
		}
	})
	parts.Go(func() {
		for event := range clicks {
			if !s.tray.isClosing() && s.tray.options.OnEvent != nil {
				s.tray.options.OnEvent(event)
			}
		}
	})
	why := s.loop(reports, ended, written, orders, clicks)
	close(stop)
	close(orders)
	close(clicks)
	s.process.close()
	parts.Wait()
	return why
}

func (s *session) loop(reports <-chan Report, ended, written <-chan error, orders chan<- Order, clicks chan<- Event) string {
	patience := time.NewTimer(readyWithin)
	defer patience.Stop()
	for {
		if s.ready && s.awaiting == 0 && s.next(orders) {
			patience.Reset(shownWithin)
		}
		select {
		case <-s.tray.closing:
			return "closing"
		case err := <-ended:
			return "its output ended: " + err.Error()
		case err := <-written:
			return "its input ended: " + err.Error()
		case <-s.tray.nudge:
		case <-patience.C:
			return "it does not answer"
		case report := <-reports:
			switch report.Kind {
			case ReportReady:
				if !s.ready {
					s.ready = true
					patience.Stop()
					s.tray.set(true, "")
				}
			case ReportShown:
				if s.awaiting != 0 && report.Number == s.awaiting {
					s.awaiting = 0
					patience.Stop()
				}
			case ReportClicked:
				if !s.offered[0][report.ID] && !s.offered[1][report.ID] {
					continue // not in the menu, nor in the one before it
				}
				select {
				case clicks <- Event{report.ID}:
				default:
				}
			}
		}
	}
}

// next sends the state that was set last, unless the helper has it. The helper showed the one before.
func (s *session) next(orders chan<- Order) bool {
	s.tray.mu.Lock()
	state := s.tray.state
	s.tray.mu.Unlock()
	if state == nil || state == s.sent {
		return false
	}
	s.sent = state
	s.number++
	s.awaiting = s.number
	ids := map[string]bool{}
	for _, item := range state.Items {
		if item.ID != "" && item.Enabled {
			ids[item.ID] = true
		}
	}
	s.offered = [2]map[string]bool{ids, s.offered[0]}
	select {
	case orders <- Order{Number: s.number, State: *state}:
	default: // a helper that reports what it did not read yet; it is not heard of again, and runs out of time
	}
	return true
}
