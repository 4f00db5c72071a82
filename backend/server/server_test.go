package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// The desk is what the server needs.
var _ Desk = (*desk.Desk)(nil)

func TestNewRefusesHalfOptions(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	full := Options{Desk: newFakeDesk(), Signer: newTestSigner(), Epoch: testEpoch, Listener: l}
	for name, change := range map[string]func(*Options){
		"no desk": func(o *Options) { o.Desk = nil }, "no signer": func(o *Options) { o.Signer = nil },
		"no epoch": func(o *Options) { o.Epoch = "" }, "no listener": func(o *Options) { o.Listener = nil },
	} {
		o := full
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(full); err != nil {
		t.Error(err)
	}
}

func TestRequestAndReply(t *testing.T) {
	callers := make(chan desk.Caller, 2)
	d := newFakeDesk()
	d.do = func(_ context.Context, caller desk.Caller, req wire.Request, _ []*os.File) wire.Reply {
		callers <- caller
		if req.Action == "fail" {
			return wire.Reply{Error: &wire.Error{Code: "unknown_call"}}
		}
		return wire.Reply{CommandID: "something else", Applied: true, Result: req.Args}
	}
	r := start(t, d)
	client := r.dial(t)
	var out map[string]int
	if err := client.Do(t.Context(), "echo", map[string]int{"a": 1}, &out); err != nil || out["a"] != 1 {
		t.Errorf("got %v, %v", out, err)
	}
	if err := client.Do(t.Context(), "fail", nil, nil); codeOf(err) != "unknown_call" {
		t.Errorf("error %v", err)
	}
	first, second := <-callers, <-callers
	if first.Connection != second.Connection || first.Connection == 0 || first.Surface != desk.SurfaceSocket {
		t.Errorf("callers %+v and %+v", first, second)
	}
	if first.Peer.UID != os.Geteuid() || first.Peer.Chain[0].PID != os.Getpid() {
		t.Errorf("peer %+v", first.Peer)
	}
	_ = client.Close()
	within(t, d.left, "gone")
	if d.gone[0].Connection != first.Connection {
		t.Errorf("gone: %+v", d.gone[0])
	}
}

func TestMegabyteAndTooLarge(t *testing.T) {
	d := newFakeDesk()
	d.do = func(_ context.Context, _ desk.Caller, req wire.Request, _ []*os.File) wire.Reply {
		switch req.Action {
		case "large":
			return wire.Reply{Applied: true, Result: json.RawMessage(`"` + strings.Repeat("x", wire.MaxMessage) + `"`)}
		case "broken":
			return wire.Reply{Applied: true, Result: json.RawMessage(`{`)}
		}
		return wire.Reply{Applied: true, Result: req.Args}
	}
	client := start(t, d).dial(t)
	in, out := strings.Repeat("é", 1<<19), ""
	if err := client.Do(t.Context(), "echo", in, &out); err != nil || out != in {
		t.Errorf("1 MB: %d bytes came back, %v", len(out), err)
	}
	if err := client.Do(t.Context(), "large", nil, nil); codeOf(err) != wire.CodeTooLarge {
		t.Errorf("a reply beyond the limit: %v", err)
	}
	if err := client.Do(t.Context(), "broken", nil, nil); codeOf(err) != wire.CodeInternal {
		t.Errorf("a reply that is no JSON: %v", err)
	}
	if err := client.Do(t.Context(), "echo", nil, nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// greeted returns a raw connection after the hello, for messages that the client would not send.
func greeted(t *testing.T, r *running) *wire.Conn {
	t.Helper()
	raw, err := net.Dial("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	c := wire.NewConn(raw)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	hello, err := wire.NewClientHello().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(hello, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Receive(); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMalformedMessages(t *testing.T) {
	const id = "0198c0de-0000-7000-8000-000000000001"
	tests := []struct{ name, message, id, problem string }{
		{"not JSON", "hello there", "", "not a JSON object"},
		{"cut off", `{"action":`, "", "not valid JSON"},
		{"NUL bytes", "{\"action\":\"\x00\"}", "", "NUL"},
		{"5 MB", `{"action":"` + strings.Repeat("x", 5<<20), "", "longer than"},
		{"deep", strings.Repeat(`{"a":`, 1000), "", "nested"},
		{"no action", `{"command_id":"` + id + `"}`, id, "action"},
		{"files that were not passed", `{"action":"redeem_call","command_id":"` + id + `","files":3}`, id, "files were announced"},
	}
	d := newFakeDesk()
	d.do = func(context.Context, desk.Caller, wire.Request, []*os.File) wire.Reply {
		t.Error("the desk was asked")
		return wire.Reply{}
	}
	r := start(t, d)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := greeted(t, r)
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				_, _ = c.Write([]byte(tt.message + "\n")) // it may be refused before it is all sent
			}()
			message, err := c.Receive()
			if err != nil {
				t.Fatal(err)
			}
			in, err := wire.DecodeIncoming(message)
			if err != nil || in.Reply == nil || in.Reply.Error == nil {
				t.Fatalf("got %s, %v", message, err)
			}
			e := in.Reply.Error
			if e.Code != wire.CodeBadMessage || !strings.Contains(e.Args["problem"], tt.problem) || e.Args["hint"] == "" || in.Reply.CommandID != tt.id {
				t.Errorf("answered %+v", in.Reply)
			}
			if _, err := c.Receive(); err == nil {
				t.Error("the connection lives on")
			}
			<-sent
		})
	}
}

func TestWrongHello(t *testing.T) {
	r := start(t, newFakeDesk())
	for name, tt := range map[string]struct{ message, code string }{
		"request first": {`{"action":"ping","command_id":"0198c0de-0000-7000-8000-000000000001"}`, wire.CodeBadHello},
		"not JSON":      {`GET / HTTP/1.1`, wire.CodeBadHello},
		"5 MB":          {strings.Repeat("x", 5<<20), wire.CodeBadMessage},
		"newer":         {`{"hello":{"version":9,"nonce":""}}`, wire.CodeBadVersion},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := net.Dial("unix", r.socket)
			if err != nil {
				t.Fatal(err)
			}
			c := wire.NewConn(raw)
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			go func() { _, _ = c.Write([]byte(tt.message + "\n")) }()
			message, err := c.Receive()
			if err != nil {
				t.Fatal(err)
			}
			in, err := wire.DecodeIncoming(message)
			if err != nil || in.Reply == nil || in.Reply.Error == nil || in.Reply.Error.Code != tt.code {
				t.Errorf("got %s, %v", message, err)
			}
			if _, err := c.Receive(); err == nil {
				t.Error("the connection lives on")
			}
		})
	}
	t.Run("hangs up before", func(t *testing.T) {
		raw, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Close()
	})
	if len(r.desk.gone) != 0 {
		t.Errorf("the desk heard of %d callers", len(r.desk.gone))
	}
	if _, err := wire.Dial(t.Context(), wire.DialOptions{Socket: r.socket, PinnedCore: "another"}); !errors.Is(err, wire.ErrWrongCore) {
		t.Errorf("another core is pinned: %v", err)
	}
}

func TestPanicInHandler(t *testing.T) {
	d := newFakeDesk()
	d.do = func(_ context.Context, _ desk.Caller, req wire.Request, _ []*os.File) wire.Reply {
		if req.Action == "panic" {
			panic("kaboom")
		}
		return wire.Reply{Applied: true}
	}
	d.subscribe = func(desk.Caller, string, uint64) (desk.Subscription, error) { panic("kaboom") }
	r := start(t, d)
	client := r.dial(t)
	for _, action := range []string{"panic", wire.ActionSubscribe, wire.ActionSubscribe} {
		if err := client.Do(t.Context(), action, nil, nil); codeOf(err) != wire.CodeInternal {
			t.Errorf("%s: %v, want internal_error", action, err)
		}
	}
	if err := client.Do(t.Context(), "fine", nil, nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if !strings.Contains(r.log.String(), "kaboom") {
		t.Error("the panic was not logged")
	}
}

func TestFilesArriveAndAreClosed(t *testing.T) {
	var kept *os.File
	d := newFakeDesk()
	d.do = func(_ context.Context, _ desk.Caller, _ wire.Request, files []*os.File) wire.Reply {
		if len(files) != 3 {
			return wire.Reply{Error: &wire.Error{Code: fmt.Sprintf("%d files", len(files))}}
		}
		b, err := io.ReadAll(files[0])
		if err != nil {
			return wire.Reply{Error: &wire.Error{Code: err.Error()}}
		}
		_, _ = files[1].Write(b)
		kept, files[1] = files[1], nil // the desk keeps this one
		return wire.Reply{Applied: true}
	}
	client := start(t, d).dial(t)
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = r.Close(), w.Close() })
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	_, _ = inW.WriteString("hello")
	_ = inW.Close()
	if err := client.DoWith(t.Context(), "", wire.ActionRedeemCall, wire.RedeemCall{}, []*os.File{inR, outW, errW}, nil); err != nil {
		t.Fatal(err)
	}
	_, _ = outW.Close(), errW.Close()
	_ = errR.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := errR.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the file that nobody kept is open: %v", err)
	}
	_, _ = kept.WriteString(" there")
	_ = kept.Close()
	if b, err := io.ReadAll(outR); err != nil || string(b) != "hello there" {
		t.Errorf("got %q, %v", b, err)
	}
}

// waitingDesk has requests that last until their context ends, and tells why it did.
func waitingDesk() (d *fakeDesk, begun chan struct{}, causes chan error) {
	begun, causes = make(chan struct{}, 1000), make(chan error, 1000)
	d = newFakeDesk()
	d.do = func(ctx context.Context, _ desk.Caller, req wire.Request, _ []*os.File) wire.Reply {
		if req.Action != "wait" {
			return wire.Reply{Applied: true}
		}
		begun <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return wire.Reply{Error: &wire.Error{Code: "cancelled"}}
	}
	return d, begun, causes
}

func TestDisconnectEndsRequests(t *testing.T) {
	d, begun, causes := waitingDesk()
	client := start(t, d).dial(t)
	ended := make(chan error, 1)
	go func() { ended <- client.Do(context.Background(), "wait", nil, nil) }()
	within(t, begun, "the request")
	_ = client.Close()
	if cause := within(t, causes, "the end of the request"); !errors.Is(cause, desk.ErrClientGone) {
		t.Errorf("cause %v, want ErrClientGone", cause)
	}
	within(t, d.left, "gone")
	<-ended
}

func TestShutdown(t *testing.T) {
	t.Run("requests are told and answered", func(t *testing.T) {
		d, begun, causes := waitingDesk()
		r := start(t, d)
		client := r.dial(t)
		idle := r.dial(t)
		ended := make(chan error, 1)
		go func() { ended <- client.Do(context.Background(), "wait", nil, nil) }()
		within(t, begun, "the request")
		if err := r.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if cause := within(t, causes, "the end of the request"); !errors.Is(cause, desk.ErrStopping) {
			t.Errorf("cause %v, want ErrStopping", cause)
		}
		if err := within(t, ended, "the answer"); codeOf(err) != "cancelled" {
			t.Errorf("the client got %v, not the answer", err)
		}
		within(t, idle.Done(), "the end of the idle connection")
		if _, err := wire.Dial(t.Context(), wire.DialOptions{Socket: r.socket}); !errors.Is(err, wire.ErrNoCore) {
			t.Errorf("afterwards: %v, want ErrNoCore", err)
		}
		if _, err := os.Lstat(r.socket); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
		if err := r.Serve(); err == nil {
			t.Error("serve twice: no error")
		}
	})
	t.Run("a handler that does not return is left behind", func(t *testing.T) {
		d := newFakeDesk()
		begun, release := make(chan struct{}), make(chan struct{})
		d.do = func(context.Context, desk.Caller, wire.Request, []*os.File) wire.Reply {
			close(begun)
			<-release
			return wire.Reply{}
		}
		r := start(t, d)
		client := r.dial(t)
		ended := make(chan error, 1)
		go func() { ended <- client.Do(context.Background(), "stuck", nil, nil) }()
		within(t, begun, "the request")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := r.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the deadline", err)
		}
		if err := within(t, ended, "the end of the connection"); !errors.Is(err, wire.ErrClosed) {
			t.Errorf("error %v, want ErrClosed", err)
		}
		close(release)
	})
	t.Run("before it served", func(t *testing.T) {
		l, err := Listen(shortDir(t) + "/desk.sock")
		if err != nil {
			t.Skip(err)
		}
		s, err := New(Options{Desk: newFakeDesk(), Signer: newTestSigner(), Epoch: testEpoch, Listener: l})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Serve(); err != nil {
			t.Errorf("serve after shut down: %v", err)
		}
	})
	t.Run("a peer that never says hello does not hold it up", func(t *testing.T) {
		r := start(t, newFakeDesk())
		raw, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = raw.Close() }()
		r.dial(t) // the one before it was accepted
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// failingListener fails to accept for a while, as when the process is out of descriptors.
type failingListener struct {
	net.Listener
	failures int
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, errors.New("too many open files")
	}
	return l.Listener.Accept()
}

func TestAcceptFailuresPass(t *testing.T) {
	socket := shortDir(t) + "/desk.sock"
	l, err := Listen(socket)
	if err != nil {
		t.Skip(err)
	}
	s, err := New(Options{Desk: newFakeDesk(), Signer: newTestSigner(), Epoch: testEpoch, Listener: &failingListener{Listener: l, failures: 3}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	c, err := wire.Dial(t.Context(), wire.DialOptions{Socket: socket, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	_ = l.Close() // from outside, not by Shutdown
	if err := within(t, served, "the end of serve"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want net.ErrClosed", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
