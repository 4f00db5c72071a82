package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"countersign/app/bridge"
	"countersign/app/notify"
	"countersign/app/tray"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// fakeWindow remembers what was done to the window.
type fakeWindow struct {
	mu        sync.Mutex // guards the following
	done      []string
	minimised bool
	panics    bool
	seen      func()
	read      chan struct{} // when not nil, what is told stands until it is closed
}

func (w *fakeWindow) did(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.panics {
		panic("on purpose")
	}
	w.done = append(w.done, what)
}

func (w *fakeWindow) Show()           { w.did("show") }
func (w *fakeWindow) Hide()           { w.did("hide") }
func (w *fakeWindow) Minimise()       { w.did("minimise") }
func (w *fakeWindow) Background(bool) {}

func (w *fakeWindow) Tell(title, _ string) {
	w.did("tell")
	if w.read != nil {
		<-w.read
	}
}
func (w *fakeWindow) Quit() { w.did("quit") }
func (w *fakeWindow) Emit(name, payload string) {
	if name == bridge.EventNavigate {
		w.did(name + " " + payload)
	}
}

func (w *fakeWindow) Watch(seen func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen
}

func (w *fakeWindow) Minimised() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.minimised
}

// took returns what was done since, and forgets it.
func (w *fakeWindow) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	done := w.done
	w.done = nil
	return done
}

// fakeTray is a tray that is there or not.
type fakeTray struct {
	mu     sync.Mutex // guards the following
	there  bool
	states []tray.State
}

func (f *fakeTray) Set(s tray.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states = append(f.states, s)
}

func (f *fakeTray) Status() (bool, string) { return f.there, "" }
func (f *fakeTray) Close()                 {}

func (f *fakeTray) last() tray.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.states) == 0 {
		return tray.State{}
	}
	return f.states[len(f.states)-1]
}

// fakeNotices is a desktop with notifications.
type fakeNotices struct {
	fails error
	sent  chan notify.Notification

	mu        sync.Mutex // guards the following
	withdrawn []string
}

func (f *fakeNotices) Open(func(string, string)) error { return f.fails }
func (f *fakeNotices) Label(string) error              { return nil }
func (f *fakeNotices) Close()                          {}
func (f *fakeNotices) Send(n notify.Notification) error {
	if f.fails != nil {
		return f.fails
	}
	f.sent <- n
	return nil
}

func (f *fakeNotices) Withdraw(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.withdrawn = append(f.withdrawn, id)
	return nil
}

// fakeCore is a core with what the follower asks for.
type fakeCore struct {
	log  *wire.FrameLog
	done chan struct{}

	mu        sync.Mutex // guards the following
	questions []wire.Question
	status    wire.Status
	asked     []wire.Request
	open      bool // what it was told of the window
}

func (c *fakeCore) Do(_ context.Context, req wire.Request) wire.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, req)
	var out any = wire.Empty{}
	switch req.Action {
	case wire.ActionStatus:
		out = c.status
	case wire.ActionGetPreferences:
		out = wire.Preferences{Language: "en"}
	case wire.ActionListQuestions:
		out = wire.Questions{Questions: c.questions, Epoch: c.log.Epoch(), Seq: c.log.Seq()}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return wire.Reply{Error: &wire.Error{Code: "internal_error"}}
	}
	return wire.Reply{Applied: true, Result: raw}
}

func (c *fakeCore) Subscribe(epoch string, after uint64) (desk.Subscription, error) {
	s := c.log.Subscribe(epoch, after, nil)
	return desk.Subscription{Frames: s.Frames(), Cancel: s.Cancel}, nil
}

func (c *fakeCore) SetWindow(_, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = open
}

func (c *fakeCore) windowOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

func (c *fakeCore) Done() <-chan struct{} { return c.done }
func (c *fakeCore) Close() error          { return nil }

func (c *fakeCore) publish(t *testing.T, frame string, data any) {
	t.Helper()
	if _, err := c.log.Append(frame, data); err != nil {
		t.Fatal(err)
	}
}

// did returns the arguments of the requests of an action.
func (c *fakeCore) did(action string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, req := range c.asked {
		if req.Action == action {
			list = append(list, string(req.Args))
		}
	}
	return list
}

// stage is a shell with everything around it played, the core included.
type stage struct {
	*shell
	window  *fakeWindow
	tray    *fakeTray
	notices *fakeNotices
	core    *fakeCore
}

// newStage returns a shell that follows a core; trayThere says whether a tray can bring the window back.
func newStage(t *testing.T, f flags, trayThere bool) *stage {
	t.Helper()
	dirs, err := config.Resolve(t.TempDir(), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{
		shell: newShell("test", f, dirs, desktop{notifications: true}, slog.New(slog.DiscardHandler)), window: &fakeWindow{},
		tray: &fakeTray{there: trayThere}, notices: &fakeNotices{sent: make(chan notify.Notification, 100)},
		core: &fakeCore{log: wire.NewFrameLog("epoch", time.Now), done: make(chan struct{})},
	}
	s.shell.window, s.shell.tray, s.shell.notices = s.window, s.tray, s.notices
	s.loaded, s.listens = true, true
	s.exit = func(int) { t.Error("the process was ended") }
	t.Cleanup(func() {
		s.stop()
		s.running.Wait()
	})
	return s
}

// withCore gives the shell a host whose core is the played one.
func (s *stage) withCore(t *testing.T) {
	t.Helper()
	s.host = bridge.New(bridge.Options{
		Start: func(context.Context, core.Options, func(*desk.Desk, config.Config) error) (bridge.Core, error) {
			return s.core, nil
		},
		Emit: func(name, payload string) { s.window.Emit(name, payload) }, Follow: func(context.Context, bridge.Core) {},
		Subscribed: func() {}, Changed: func(bridge.AppStatus) {}, Log: s.log,
	})
	s.host.Open()
	t.Cleanup(func() { s.host.Close() })
	until(t, "the core runs", func() bool { return s.host.Core() != nil })
}

// following runs the follower over the played core until the test ends.
func (s *stage) following(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := bridge.Go(s.log, "follow", func() { s.follower.follow(ctx, s.core) })
	t.Cleanup(func() {
		stop()
		<-ended
	})
	until(t, "the follower has its snapshot", func() bool { return s.core.did(wire.ActionListQuestions) != nil })
}

// until waits for something to become true.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !true() {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

var errOnPurpose = errors.New("on purpose")

func TestMain(m *testing.M) {
	// The tests speak one language wherever they run.
	_ = os.Setenv("LANGUAGE", "en")
	os.Exit(m.Run())
}
