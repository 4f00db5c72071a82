package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"countersign/backend/approval"
	"countersign/backend/config"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/rules"
	"countersign/backend/sandbox"
	"countersign/backend/state"
	"countersign/backend/wire"
)

// throwAwayFactor is the cost of a guess at the passphrase of a throw-away desk (state.IdentityOptions.WorkFactor).
const throwAwayFactor = 10

// Agents tells agents' processes from others; the adapters implement it.
type Agents interface {
	// Match finds the root process of the named agent in a chain that starts with the peer, and says whether it is
	// the agent's own program as far as its path tells. A negative index means: not there.
	Match(agent string, chain []wire.Process) (index int, verified bool)
	// Find reports the nearest known agent in a chain.
	Find(chain []wire.Process) (agent string, ok bool)
}

// Options configures a desk.
type Options struct {
	Dirs      config.Dirs
	Config    config.Config
	OwnerHome string // the owner's home directory, from the account database
	Binary    string // absolute path of the command line
	Init      string // absolute path of countersign-init
	Agents    Agents
	// OwnPaths are further paths of ours that no agent may change: agents' settings with our hook entries.
	OwnPaths []string
	// Secret are further files and directories that no command may read.
	Secret []string
	// Classifier judges calls in auto mode; nil: there is none, and they ask.
	Classifier Classifier
	// ManagedRules is the administrator's file of rules; "" is the system's own place for it.
	ManagedRules string
	// Passphrase unlocks or protects a file identity; it is asked for at most once.
	Passphrase func() (state.Secret, error)
	// Create allows a new identity to be made where there is none.
	Create bool
	// ThrowAway says that nothing of this desk outlives the process that made its passphrase, so guessing at it need not
	// be made expensive: a demonstration, a test.
	ThrowAway bool
	// Version of the program, for status.
	Version string
	Clock   approval.Clock
	Log     *slog.Logger
}

// Desk is the running core.
//
// Lock order: lockSession, then releasing, then keeping, then mu. Nothing that waits is called under mu.
type Desk struct {
	options  Options
	platform pathid.Platform
	fsys     pathid.FS
	clock    approval.Clock
	log      *slog.Logger
	own      policy.Own
	book     *rules.Book

	identity *state.Identity
	store    *state.Store
	receipts *state.Receipts
	calls    *approval.Registry
	broker   *sandbox.Broker
	frames   *wire.FrameLog
	presence *presence
	links    linkGate
	actions  map[string]Action

	window window
	trial  trial

	releasing sync.Mutex // held while a call is released and recorded
	keeping   sync.Mutex // held while what the desk keeps for itself is changed and published

	mu       sync.Mutex // guards the maps below
	sessions map[string]*Session
	running  map[string]*sandbox.Process
	waiters  map[string]chan struct{}   // call id -> closed at the next change
	turns    map[string]*sync.Mutex     // session id -> one admission at a time
	attached map[string]map[uint64]bool // waiting call -> connections that wait for it
	orphans  map[string]orphan          // waiting call -> the client that left it
	granted  map[string]bool            // released calls whose own prompt in the agent was answered

	started time.Time
	kick    chan struct{} // wakes the expiry loop
	stop    context.CancelFunc
	done    chan struct{}
}

// SystemClock is the wall clock.
type SystemClock struct{}

// Now returns the wall-clock time, without a monotonic reading: a suspended machine does not extend a wait.
func (SystemClock) Now() time.Time { return time.Now().UTC().Round(0) }

// Open opens the store, the identity and the receipts, restores what was pending, and starts the desk's own loop.
// Close ends it. Nothing is created or replaced where something unreadable stands.
func Open(ctx context.Context, o Options) (_ *Desk, err error) {
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Desk{
		options: o, platform: pathid.Host(), fsys: pathid.OS(), clock: o.Clock, log: o.Log,
		presence: &presence{clock: o.Clock, until: map[terminal]time.Time{}, connections: map[uint64]time.Time{}},
		actions:  map[string]Action{}, sessions: map[string]*Session{}, running: map[string]*sandbox.Process{},
		waiters: map[string]chan struct{}{}, turns: map[string]*sync.Mutex{}, granted: map[string]bool{},
		attached: map[string]map[uint64]bool{}, orphans: map[string]orphan{}, kick: make(chan struct{}, 1),
	}
	d.own = policy.Own{
		Paths:    append([]string{o.Dirs.State, o.Dirs.Config, o.Dirs.Runtime, o.Binary, o.Init}, o.OwnPaths...),
		Binaries: []string{"countersign", "countersign-desk", "countersign-tray", "countersign-init"},
	}
	// A gate that an agent could replace would pass everything.
	var gates []string
	for _, g := range o.Config.Gates {
		gates = append(gates, g.Command[0])
	}
	d.own.Paths = append(d.own.Paths, gates...)
	if d.store, err = state.Open(o.Dirs.State, state.Options{}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = d.store.Close()
		}
	}()
	if d.book, err = rules.Open(rules.Options{
		Store: d.store, Clock: o.Clock, FS: d.fsys, Platform: d.platform, Global: FileRules(o.Dirs.File(), o.Config.Rules), Managed: o.ManagedRules,
	}); err != nil {
		return nil, fmt.Errorf("read the kept rules: %w", err)
	}
	identity := state.IdentityOptions{Store: o.Config.Identity.Store, Dir: o.Dirs.State, Passphrase: o.Passphrase, Create: o.Create}
	if o.ThrowAway {
		identity.WorkFactor = throwAwayFactor
	}
	if d.identity, err = state.OpenIdentity(ctx, d.store, identity); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // unlocking a key file takes a lot of it, once
	if d.receipts, err = state.OpenReceipts(o.Dirs.State, d.store, d.identity, state.SegmentBytes(o.Config.Receipts.SegmentBytes)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = d.receipts.Close()
		}
	}()
	scratch := filepath.Join(o.Dirs.State, "scratch")
	if err = os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	d.broker = sandbox.New(sandbox.Options{Sink: d.receipts, Init: o.Init, Scratch: scratch, OnMissing: o.Config.Sandbox.OnMissing,
		Hidden: hidden(o), Guarded: slices.Concat([]string{o.Binary}, o.OwnPaths, gates),
	})
	d.calls = approval.New(d.store, d.clock, approval.Options{})
	d.frames, d.started = wire.NewFrameLog(newID(), d.clock.Now), d.clock.Now()
	d.registerActions()
	if err = d.restore(); err != nil {
		return nil, err
	}
	loop, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop, d.done = stop, make(chan struct{})
	go d.keepTime(loop)
	return d, nil
}

// hidden is what no command may read, wherever it lies: our own directories and the file that holds the passphrase.
func hidden(o Options) []string {
	list := []string{o.Dirs.State, o.Dirs.Config, o.Dirs.Runtime}
	for _, path := range append([]string{o.Dirs.Home, o.Config.Identity.PassphraseFile}, o.Secret...) {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}

// restore brings back what an earlier run left: pending questions stay open under their ids; what was running when
// the core stopped is finished as unknown and never run twice.
func (d *Desk) restore() error {
	if err := d.loadSessions(); err != nil {
		return fmt.Errorf("load sessions: %w", err)
	}
	restored, events, err := d.calls.Restore()
	if err != nil {
		return fmt.Errorf("restore approvals: %w", err)
	}
	d.publish(events)
	for _, c := range restored.Unknown {
		d.log.Warn("call was running when the core stopped", "call", c.ID)
	}
	d.endTrials()
	d.endGoneSessions()
	return nil
}

// Close stops the loop, ends what runs and closes the store. Pending approvals stay.
func (d *Desk) Close() error {
	d.stop()
	<-d.done
	d.stopTrial()
	d.mu.Lock()
	var running []*sandbox.Process
	for _, p := range d.running {
		running = append(running, p)
	}
	d.mu.Unlock()
	for _, p := range running {
		_ = p.Signal(os.Kill) // one that just ended does not take it any more
	}
	d.frames.Close()
	if c, ok := d.options.Classifier.(interface{ Close() }); ok {
		c.Close()
	}
	return errors.Join(d.broker.Close(), d.receipts.Close(), d.store.Close())
}

// keepTime closes what expires and ends sessions whose process is gone. Where nothing is due and nobody is there to be
// missed, it sleeps until it is woken.
func (d *Desk) keepTime(ctx context.Context) {
	defer close(d.done)
	looked := time.Now()
	for {
		next, events, err := d.calls.Expire()
		d.publish(events)
		if err != nil {
			d.log.Error("expire", "error", err)
		}
		resumes, err := d.endPause()
		if err != nil {
			d.log.Error("end pause", "error", err)
		}
		if time.Since(looked) >= livenessInterval {
			looked = time.Now()
			d.endGoneSessions()
			d.endOrphans()
		}
		var wake <-chan time.Time // nil: nothing is due
		stop := func() bool { return false }
		if wait, ok := d.untilDue(next, resumes); ok {
			timer := time.NewTimer(wait)
			wake, stop = timer.C, timer.Stop
		}
		select {
		case <-ctx.Done():
			stop()
			return
		case <-wake:
		case <-d.kick:
		}
		stop()
	}
}

// untilDue says how long nothing is to be done, and whether there is anything to be done at all. What is due is due by wall
// clock: looking again with every liveness interval keeps a suspended machine honest.
func (d *Desk) untilDue(times ...time.Time) (wait time.Duration, ok bool) {
	wait, ok = livenessInterval, d.watches()
	for _, at := range times {
		if !at.IsZero() {
			wait, ok = min(wait, max(at.Sub(d.clock.Now()), time.Millisecond)), true
		}
	}
	return wait, ok
}

// watches reports whether there are processes whose end is to be noticed: of sessions, or of clients that left a wait.
func (d *Desk) watches() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.orphans) > 0 {
		return true
	}
	for _, s := range d.sessions {
		if s.EndedAt.IsZero() && !s.Own {
			return true
		}
	}
	return false
}

// publish sends out what was committed and wakes who waits for it.
func (d *Desk) publish(events []approval.Event) {
	for _, e := range events {
		switch {
		case e.Question != nil:
			d.frame(e.Frame, wireQuestion(*e.Question))
		case e.Call != nil:
			d.frame(e.Frame, wireCall(*e.Call))
		}
		if e.Call != nil {
			d.recordRefusal(*e.Call)
			if e.Call.State == approval.CallFinished {
				d.forget(e.Call.ID)
			}
			d.wake(e.Call.ID)
		}
		if e.Question != nil {
			d.wake(e.Question.Call)
		}
	}
	if len(events) > 0 {
		d.wakeLoop()
	}
}

// wakeLoop has the loop look again at what is due.
func (d *Desk) wakeLoop() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// forget drops what is kept in memory about a call that has ended.
func (d *Desk) forget(call string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.granted, call)
	delete(d.attached, call)
	delete(d.orphans, call)
}

// frame publishes one frame. What cannot be encoded is a fault of ours and is logged.
func (d *Desk) frame(name string, data any) {
	if _, err := d.frames.Append(name, data); err != nil {
		d.log.Error("publish frame", "frame", name, "error", err)
	}
}

// changed returns a channel that is closed when the call changes next.
func (d *Desk) changed(call string) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	ch, ok := d.waiters[call]
	if !ok {
		ch = make(chan struct{})
		d.waiters[call] = ch
	}
	return ch
}

func (d *Desk) wake(call string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ch, ok := d.waiters[call]; ok {
		close(ch)
		delete(d.waiters, call)
	}
}

// lockSession makes admissions of one session one after another, so that a re-attaching client finds what the first
// attempt stored.
func (d *Desk) lockSession(id string) (unlock func()) {
	d.mu.Lock()
	m, ok := d.turns[id]
	if !ok {
		m = &sync.Mutex{}
		d.turns[id] = m
	}
	d.mu.Unlock()
	m.Lock()
	return m.Unlock
}

// Fingerprint names the owner's device key, to be pinned by hooks.
func (d *Desk) Fingerprint() string { return d.identity.Fingerprint() }

// Identity returns the owner's device identity, which signs the hello of the wire.
func (d *Desk) Identity() *state.Identity { return d.identity }

// Epoch names this run of the core.
func (d *Desk) Epoch() string { return d.frames.Epoch() }

// Subscribe gives a caller the frames after seq of an epoch, or tells it to reload.
func (d *Desk) Subscribe(caller Caller, epoch string, after uint64) (Subscription, error) {
	if _, below := d.authorityOf(caller); below {
		return Subscription{}, &wire.Error{Code: "agent_not_allowed", Args: map[string]string{"action": "subscribe"}}
	}
	sub := d.frames.Subscribe(epoch, after, nil)
	reply, err := json.Marshal(sub.Subscribed())
	if err != nil {
		sub.Cancel()
		return Subscription{}, d.bug(err)
	}
	return Subscription{Reply: reply, Frames: sub.Frames(), Cancel: sub.Cancel}, nil
}

// Gone is called when a connection ended. Waits live in the core, so a client that comes back loses nothing; what ran for
// the connection is ended by its context.
func (d *Desk) Gone(c Caller) {
	d.presence.gone(c.Connection)
	d.detach(c)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func itoa(n int) string { return strconv.Itoa(n) }

// sessionsNewestFirst copies the known sessions.
func (d *Desk) sessionsNewestFirst() []Session {
	d.mu.Lock()
	list := make([]Session, 0, len(d.sessions))
	for _, s := range d.sessions {
		list = append(list, *s)
	}
	d.mu.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].ID > list[j].ID })
	return list
}
