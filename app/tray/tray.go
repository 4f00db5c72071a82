package tray

import (
	"log/slog"
	"sync"
	"time"
)

// Options say how the tray is run.
type Options struct {
	Program string      // absolute path of the helper
	OnEvent func(Event) // called for each click, one after the other, never after Close; it may take its time
	// OnStatus is called after each change of what Status answers, one after the other, never after Close.
	OnStatus func(available bool, code string)
	Log      *slog.Logger // nil: nothing is logged
}

// The codes of a tray that is not there. The screens have words for them.
const (
	CodeStarting    = "tray_starting"    // not there yet
	CodeMissing     = "tray_missing"     // the helper could not be started
	CodeUnsupported = "tray_unsupported" // this build of the helper has no tray
	CodeNoDesktop   = "tray_no_desktop"  // the helper found no display or no session bus
	CodeFailed      = "tray_failed"      // it ended too often; the next Set after a while tries again
	CodeClosed      = "tray_closed"
)

// Tray is a running tray. Its methods may be called from anywhere and never wait for the helper, except Close.
type Tray struct {
	options Options
	start   func() (process, error)
	closing chan struct{}
	done    chan struct{}
	nudge   chan struct{} // buffered by one: state changed

	mu        sync.Mutex // guards what follows
	state     *State     // the last one that was set
	setAt     time.Time
	available bool
	code      string
	closed    bool
}

// Start starts the tray. A helper that cannot be started is a status, not an error: a desk without a tray goes on.
func Start(o Options) *Tray {
	return startWith(o, func() (process, error) { return startHelper(o.Program) })
}

func startWith(o Options, start func() (process, error)) *Tray {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Tray{
		options: o, start: start, closing: make(chan struct{}), done: make(chan struct{}), nudge: make(chan struct{}, 1), code: CodeStarting,
	}
	go t.supervise()
	return t
}

// Set makes s what the tray shows. The last state wins; those a slow helper did not get to are left out.
func (t *Tray) Set(s State) {
	t.mu.Lock()
	t.state, t.setAt = &s, time.Now()
	t.mu.Unlock()
	select {
	case t.nudge <- struct{}{}:
	default: // the last nudge was not taken yet
	}
}

// Status says whether the helper shows the tray, and otherwise why not.
func (t *Tray) Status() (available bool, code string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.available, t.code
}

// Close ends the helper and waits until it is gone. No event or status is reported after it returned; it must not be
// called from within OnEvent or OnStatus.
func (t *Tray) Close() {
	t.mu.Lock()
	first := !t.closed
	t.closed = true
	t.mu.Unlock()
	if first {
		close(t.closing)
	}
	<-t.done
}
