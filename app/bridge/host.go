package bridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
)

// closeTimeout is how long Close waits for the core: a little longer than the core takes at most. A keyring that blocks
// is not waited for any longer; the process ends anyway.
const closeTimeout = core.StopTimeout + 2*time.Second

// Options says what a host needs. All functions are set.
type Options struct {
	Dirs     config.Dirs
	Agents   agents.Table
	Version  string
	Demo     bool   // a desk that is thrown away
	Language string // of the desktop
	// Passphrase is where the passphrase comes from without anybody being asked; ok is false where nobody knows it.
	Passphrase func(config.Config) (secret desk.Secret, ok bool, err error)
	Start      Start
	Stop       func(ctx context.Context, dirs config.Dirs) (pid int, err error)
	// Emit sends an event to the page. It may be called before the page is there, and returns at once.
	Emit func(name, payload string)
	// Follow is called for every core that runs, in a goroutine of its own, with a context that ends before it closes.
	Follow           func(ctx context.Context, c Core)
	Subscribed       func() // the page has a subscription: what happens from now on reaches it
	Changed          func(AppStatus)
	Quit             func()
	Hide             func()
	TestNotification func(ctx context.Context) error
	Log              *slog.Logger
}

// Host opens the core for the window and keeps it.
//
// Lock order: emitting, then mu. Nothing that waits is called under mu.
type Host struct {
	options Options
	ctx     context.Context
	cancel  context.CancelCauseFunc
	orders  chan event       // retry or take over; one at a time
	secrets chan desk.Secret // the passphrase on its way from the page to who asked for it

	emitting sync.Mutex // held while a status is sent, so that the last one sent is the newest

	mu      sync.Mutex // guards the following
	status  AppStatus
	core    Core       // with PhaseReady
	verdict chan error // who gave the passphrase waits here for what became of it
	window  struct{ present, open bool }
	done    <-chan struct{} // run's goroutine; nil before Open

	subscribing  sync.Mutex // guards subscription; held while one is opened or ended
	subscription *subscription
}

// New returns a host that has done nothing yet.
func New(o Options) *Host {
	h := &Host{options: o, orders: make(chan event, 1), secrets: make(chan desk.Secret)}
	h.status = AppStatus{Phase: PhaseOpening, Version: o.Version, Platform: runtime.GOOS, Language: o.Language, Demo: o.Demo}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// Open opens the core, once; Close ends it.
func (h *Host) Open() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil && h.status.Phase == PhaseOpening {
		h.done = Go(h.options.Log, "host", h.run)
	}
}

// Page returns what the page is given.
func (h *Host) Page() *Bridge { return &Bridge{host: h} }

// Close ends the core. Pending approvals stay. It reports whether everything ended in time.
func (h *Host) Close() bool {
	h.happened(eventClose, nil)
	h.cancel(desk.ErrStopping)
	h.mu.Lock()
	done := h.done
	h.mu.Unlock()
	if done == nil {
		return true // it was never opened
	}
	select {
	case <-done:
		return true
	case <-time.After(closeTimeout):
		h.options.Log.Error("the core did not close in time")
		return false
	}
}

// Status returns what the app knows about itself.
func (h *Host) Status() AppStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// SetTray and SetNotifications say whether these parts of the desktop are there.
func (h *Host) SetTray(p Part) { h.change(func(s *AppStatus) { s.Tray = p }) }

// SetNotifications says whether the desktop shows notifications.
func (h *Host) SetNotifications(p Part) { h.change(func(s *AppStatus) { s.Notifications = p }) }

// SetWindow says whether the window is there, and whether it is open before the owner.
func (h *Host) SetWindow(present, open bool) {
	h.mu.Lock()
	h.window.present, h.window.open = present, open
	c := h.core
	h.mu.Unlock()
	if c != nil {
		c.SetWindow(present, open)
	}
}

// Core returns the core that runs, nil where none does.
func (h *Host) Core() Core {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.core
}

// happened takes an event, with what it changes besides the phase, and tells the page. ok is false where the event means
// nothing now.
func (h *Host) happened(e event, also func(*AppStatus)) (ok bool) {
	h.mu.Lock()
	to, ok := next(h.status.Phase, e)
	if ok {
		h.status.Phase, h.status.Fault, h.status.Elsewhere = to, nil, nil
		if also != nil {
			also(&h.status)
		}
	}
	h.mu.Unlock()
	if ok {
		h.tell()
	}
	return ok
}

func (h *Host) change(fn func(*AppStatus)) {
	h.mu.Lock()
	before := h.status
	fn(&h.status)
	same := before.Tray == h.status.Tray && before.Notifications == h.status.Notifications
	h.mu.Unlock()
	if !same {
		h.tell()
	}
}

func (h *Host) tell() {
	h.emitting.Lock()
	defer h.emitting.Unlock()
	status := h.Status()
	h.options.Changed(status)
	h.Emit(EventApp, status)
}

// Emit sends an event to the page.
func (h *Host) Emit(name string, data any) {
	payload, err := json.Marshal(data)
	if err != nil {
		h.options.Log.Error("event cannot be sent", "event", name, "error", err)
		return
	}
	h.options.Emit(name, string(payload))
}
