package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// emitted is an event that the page got.
type emitted struct{ name, payload string }

// stage is a host with everything around it played.
type stage struct {
	*Host
	events chan emitted

	mu       sync.Mutex // guards the following
	calls    []string
	notified error
}

func newStage(t *testing.T, start Start, change func(s *stage, o *Options)) *stage {
	t.Helper()
	s := &stage{events: make(chan emitted, 1000)}
	dirs, err := config.Resolve(t.TempDir(), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Dirs: dirs, Version: "test", Start: start, Log: slog.New(slog.DiscardHandler),
		Passphrase: func(config.Config) (desk.Secret, bool, error) { return desk.Secret{}, false, nil },
		Stop: func(context.Context, config.Dirs) (int, error) {
			s.called("stop")
			return 1, nil
		},
		Emit:             func(name, payload string) { s.events <- emitted{name, payload} },
		Follow:           func(ctx context.Context, _ Core) { <-ctx.Done() },
		Subscribed:       func() { s.called("subscribed") },
		Changed:          func(AppStatus) {},
		Quit:             func() { s.called("quit") },
		Hide:             func() { s.called("hide") },
		TestNotification: func(context.Context) error { return s.notified },
	}
	if change != nil {
		change(s, &o)
	}
	s.Host = New(o)
	s.Open()
	t.Cleanup(func() {
		if !s.Close() {
			t.Error("the host did not close")
		}
	})
	return s
}

func (s *stage) called(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, what)
}

// until waits for a phase.
func (s *stage) until(t *testing.T, want Phase) AppStatus {
	t.Helper()
	deadline := time.After(patience)
	for {
		if st := s.Status(); st.Phase == want {
			return st
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("the phase stays %+v, want %s", s.Status(), want)
		}
	}
}

// event waits for an event of that name.
func (s *stage) event(t *testing.T, name string) string {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-s.events:
			if e.name == name {
				return e.payload
			}
		case <-deadline:
			t.Fatalf("no event %q came", name)
		}
	}
}

// ask sends a request as the page does.
func (s *stage) ask(t *testing.T, action string, args any) wire.Reply {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	request, err := json.Marshal(wire.Request{Action: action, CommandID: uuid.NewString(), Args: raw})
	if err != nil {
		t.Fatal(err)
	}
	var reply wire.Reply
	if err := json.Unmarshal([]byte(s.Page().Do(string(request))), &reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

func code(r wire.Reply) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}

// fakeCore answers what it is told to.
type fakeCore struct {
	log    *wire.FrameLog
	done   chan struct{}
	answer func(req wire.Request) wire.Reply

	mu     sync.Mutex // guards the following
	window []bool
	closed bool
}

func newFakeCore() *fakeCore {
	return &fakeCore{log: wire.NewFrameLog("epoch", time.Now), done: make(chan struct{}),
		answer: func(wire.Request) wire.Reply { return wire.Reply{Applied: true} }}
}

func (f *fakeCore) Do(_ context.Context, req wire.Request) wire.Reply { return f.answer(req) }

func (f *fakeCore) Subscribe(epoch string, after uint64) (desk.Subscription, error) {
	s := f.log.Subscribe(epoch, after, nil)
	reply, err := json.Marshal(s.Subscribed())
	return desk.Subscription{Reply: reply, Frames: s.Frames(), Cancel: s.Cancel}, err
}

func (f *fakeCore) SetWindow(present, open bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window = []bool{present, open}
}

func (f *fakeCore) Done() <-chan struct{} { return f.done }

func (f *fakeCore) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// starts returns a Start that ends as the list says, one entry after another; the last one stays.
func starts(outcomes ...any) Start {
	var mu sync.Mutex
	return func(context.Context, core.Options, func(*desk.Desk, config.Config) error) (Core, error) {
		mu.Lock()
		defer mu.Unlock()
		next := outcomes[0]
		if len(outcomes) > 1 {
			outcomes = outcomes[1:]
		}
		switch v := next.(type) {
		case error:
			return nil, v
		case Core:
			return v, nil
		}
		panic("on purpose")
	}
}

// coded is an error with a code, as the state's faults are.
type coded struct{ code string }

func (c coded) Error() string           { return "details of " + c.code }
func (c coded) Code() string            { return c.code }
func (c coded) Args() map[string]string { return map[string]string{"path": "/x"} }

var errPlain = errors.New("a plain error")
