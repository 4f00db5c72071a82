package server

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// roleVariable makes the test binary play another program: see the roles.
const roleVariable = "COUNTERSIGN_SERVER_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play, ok := roles[role]
		if !ok {
			os.Exit(99)
		}
		os.Exit(play())
	}
	goleak.VerifyTestMain(m)
}

const testEpoch = "0198c0de-0000-7000-8000-00000000e0e0"

// testSigner is the identity of the core under test.
type testSigner struct{ key ed25519.PrivateKey }

func newTestSigner() testSigner {
	return testSigner{ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))}
}

func (s testSigner) Public() ed25519.PublicKey  { return s.key.Public().(ed25519.PublicKey) }
func (s testSigner) Sign(message []byte) []byte { return ed25519.Sign(s.key, message) }

// fakeDesk answers with functions of the test.
type fakeDesk struct {
	do        func(ctx context.Context, caller desk.Caller, req wire.Request, files []*os.File) wire.Reply
	subscribe func(caller desk.Caller, epoch string, after uint64) (desk.Subscription, error)
	log       *wire.FrameLog

	mu   sync.Mutex // guards gone
	gone []desk.Caller
	left chan struct{} // one token for every caller that is gone
}

func (d *fakeDesk) Do(ctx context.Context, caller desk.Caller, req wire.Request, files []*os.File) wire.Reply {
	if d.do == nil {
		return wire.Reply{Applied: true, Result: req.Args}
	}
	return d.do(ctx, caller, req, files)
}

func (d *fakeDesk) Subscribe(caller desk.Caller, epoch string, after uint64) (desk.Subscription, error) {
	if d.subscribe != nil {
		return d.subscribe(caller, epoch, after)
	}
	s := d.log.Subscribe(epoch, after, nil)
	reply, err := json.Marshal(s.Subscribed())
	return desk.Subscription{Reply: reply, Frames: s.Frames(), Cancel: s.Cancel}, err
}

func (d *fakeDesk) Gone(caller desk.Caller) {
	d.mu.Lock()
	d.gone = append(d.gone, caller)
	d.mu.Unlock()
	d.left <- struct{}{}
}

func newFakeDesk() *fakeDesk {
	return &fakeDesk{log: wire.NewFrameLog(testEpoch, time.Now), left: make(chan struct{}, 10_000)}
}

// shortDir returns a private directory whose path is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// running is a server under test.
type running struct {
	*Server
	desk   *fakeDesk
	socket string
	log    *lockedLog
}

// lockedLog keeps what the server logs.
type lockedLog struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func start(t *testing.T, d *fakeDesk) *running {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("these tests speak over unix sockets")
	}
	r := &running{desk: d, socket: filepath.Join(shortDir(t), "desk.sock"), log: &lockedLog{}}
	l, err := Listen(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	r.Server, err = New(Options{Desk: d, Signer: newTestSigner(), Epoch: testEpoch, Listener: l, Log: slog.New(slog.NewTextHandler(r.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- r.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.Shutdown(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return r
}

func (r *running) dial(t *testing.T) *wire.Client {
	t.Helper()
	c, err := wire.Dial(t.Context(), wire.DialOptions{Socket: r.socket, PinnedCore: wire.Fingerprint(newTestSigner().Public()), Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// codeOf returns the code of an error that the core answered, or its text.
func codeOf(err error) string {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// within fails the test when ch does not deliver in time.
func within[T any](t *testing.T, ch <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s did not happen in time", what)
	}
	return v
}
