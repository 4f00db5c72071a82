package wire

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeCore listens on a real socket and plays each connection with a script.
type fakeCore struct {
	socket string
	signer testSigner
}

// startCore serves connections with play after the hello; a nil play answers no hello either.
func startCore(t *testing.T, play func(c *Conn)) *fakeCore {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("unix sockets: on Windows the client takes named pipes only")
	}
	core := &fakeCore{socket: filepath.Join(shortDir(t), "s"), signer: newTestSigner('a')}
	l, err := net.Listen("unix", core.socket)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	stop := make(chan struct{})
	served.Add(1)
	go func() {
		defer served.Done()
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			served.Add(1)
			go func() {
				defer served.Done()
				c := NewConn(raw)
				closed := make(chan struct{})
				go func() {
					select {
					case <-stop:
					case <-closed:
					}
					_ = c.Close()
				}()
				defer close(closed)
				if play == nil {
					<-stop
					return
				}
				message, err := c.Receive()
				if err != nil {
					return
				}
				hello, err := AnswerHello(message, core.signer, "epoch-1")
				if err != nil {
					t.Error(err)
					return
				}
				if message, err = hello.Encode(); err == nil {
					_, err = c.Send(message, nil)
				}
				if err == nil {
					play(c)
				}
			}()
		}
	}()
	t.Cleanup(func() {
		close(stop)
		_ = l.Close()
		served.Wait()
	})
	return core
}

func (f *fakeCore) dial(t *testing.T) *Client {
	t.Helper()
	c, err := Dial(t.Context(), DialOptions{Socket: f.socket, PinnedCore: Fingerprint(f.signer.Public())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func sendJSON(c *Conn, v any) {
	if message, err := Encode(v); err == nil {
		_, _ = c.Send(message, nil)
	}
}

// echo answers every request with its own arguments.
func echo(c *Conn) {
	for {
		message, err := c.Receive()
		if err != nil {
			return
		}
		req, err := DecodeRequest(message)
		if err != nil {
			return
		}
		sendJSON(c, Reply{CommandID: req.CommandID, Applied: true, Result: req.Args})
	}
}

func TestClientConcurrentCalls(t *testing.T) {
	core := startCore(t, func(c *Conn) { // answers in pairs, the later request first
		for {
			var reqs []Request
			for range 2 {
				message, err := c.Receive()
				if err != nil {
					return
				}
				req, err := DecodeRequest(message)
				if err != nil {
					t.Error(err)
					return
				}
				reqs = append(reqs, req)
			}
			for _, i := range []int{1, 0} {
				sendJSON(c, Reply{CommandID: reqs[i].CommandID, Applied: true, Result: reqs[i].Args})
			}
		}
	})
	client := core.dial(t)
	if client.Core() != Fingerprint(core.signer.Public()) || client.Epoch() != "epoch-1" {
		t.Errorf("core %s, epoch %s", client.Core(), client.Epoch())
	}
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Add(1)
		go func() {
			defer calls.Done()
			in, out := AwaitCall{Call: strings.Repeat("c", i), WaitMS: i}, AwaitCall{}
			if err := client.Do(t.Context(), ActionAwaitCall, in, &out); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(in, out); diff != "" {
				t.Error(diff)
			}
		}()
	}
	calls.Wait()
}

func TestClientMegabyte(t *testing.T) {
	client := startCore(t, echo).dial(t)
	in := AdmitCall{Tool: "Bash", Args: json.RawMessage(`{"command":"` + strings.Repeat("é", 1<<19) + `"}`)}
	var out AdmitCall
	if err := client.Do(t.Context(), ActionAdmitCall, in, &out); err != nil {
		t.Fatal(err)
	}
	if string(out.Args) != string(in.Args) {
		t.Error("1 MB of arguments came back changed")
	}
}

// What the core would refuse is refused before it is sent, and the connection lives on.
func TestClientRefusesBeforeSending(t *testing.T) {
	client := startCore(t, echo).dial(t)
	for name, tt := range map[string]struct {
		in   any
		want error
	}{
		"5 MB":         {AdmitCall{Args: json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)}, ErrTooLarge},
		"escaped NUL":  {AdmitCall{Args: json.RawMessage(`"\u0000"`)}, ErrMalformed},
		"not UTF-8":    {AdmitCall{Args: json.RawMessage("\"\xff\"")}, ErrMalformed},
		"key twice":    {json.RawMessage(`{"a":1,"a":2}`), ErrMalformed},
		"not JSON":     {json.RawMessage(`{`), nil},
		"no JSON type": {func() {}, nil},
	} {
		err := client.Do(t.Context(), ActionAdmitCall, tt.in, nil)
		if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) {
			t.Errorf("%s: error %v, want %v", name, err, tt.want)
		}
	}
	if err := client.DoWith(t.Context(), "no-uuid", ActionPing, nil, nil, nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v, want ErrMalformed", err)
	}
	if err := client.Do(t.Context(), ActionPing, Empty{}, nil); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
	if client.Err() != nil {
		t.Error(client.Err())
	}
}

func TestClientErrorsOfTheCore(t *testing.T) {
	client := startCore(t, func(c *Conn) {
		for {
			message, err := c.Receive()
			if err != nil {
				return
			}
			req, _ := DecodeRequest(message)
			reply := Reply{CommandID: req.CommandID, Error: &Error{Code: "unknown_call", Args: map[string]string{"call": "x"}}}
			if req.Action == ActionStatus {
				reply = Reply{CommandID: req.CommandID, Applied: true, Result: json.RawMessage(`[]`)}
			}
			sendJSON(c, Reply{CommandID: "0198c0de-0000-7000-8000-00000000ffff"}) // for nobody
			sendJSON(c, reply)
		}
	}).dial(t)
	var e *Error
	if err := client.Do(t.Context(), ActionAwaitCall, AwaitCall{}, nil); !errors.As(err, &e) || e.Code != "unknown_call" {
		t.Errorf("error %v, want unknown_call", err)
	}
	var out Status
	if err := client.Do(t.Context(), ActionStatus, nil, &out); err == nil {
		t.Error("a result of the wrong type was taken")
	}
}

// A core that was stopped with SIGSTOP, or that is stuck, must not hold a hook beyond its context.
func TestClientHungCore(t *testing.T) {
	release := make(chan struct{})
	core := startCore(t, func(*Conn) { <-release })
	defer close(release)
	short := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), 100*time.Millisecond)
	}
	t.Run("it reads nothing and answers nothing", func(t *testing.T) {
		client := core.dial(t)
		ctx, cancel := short()
		defer cancel()
		if err := client.Do(ctx, ActionPing, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the deadline", err)
		}
		if client.Err() != nil {
			t.Errorf("the connection was given up: %v", client.Err())
		}
	})
	t.Run("the socket is full in the middle of a message", func(t *testing.T) {
		begun, hold := make(chan struct{}), make(chan struct{})
		client := startCore(t, func(c *Conn) {
			_, _ = c.Read(make([]byte, 1)) // the message is on its way, and does not fit into the socket
			close(begun)
			<-hold
		}).dial(t)
		defer close(hold)
		big := AdmitCall{Args: json.RawMessage(`"` + strings.Repeat("x", 3<<20) + `"`)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := make(chan error, 1)
		go func() { first <- client.Do(ctx, ActionAdmitCall, big, nil) }()
		<-begun
		waiting, cancelWaiting := short()
		defer cancelWaiting()
		if err := client.Do(waiting, ActionPing, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call behind it: %v, want the deadline", err)
		}
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		if err := client.Do(t.Context(), ActionPing, nil, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("after half a message: %v, want ErrClosed", err)
		}
	})
	t.Run("the context is over before", func(t *testing.T) {
		client := core.dial(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := client.Do(ctx, ActionPing, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	})
}

func TestClientConnectionEnds(t *testing.T) {
	tests := []struct {
		name string
		play func(c *Conn)
		want error
	}{
		{"the core dies", func(c *Conn) { _, _ = c.Receive() }, ErrClosed},
		{"the core speaks nonsense", func(c *Conn) { _, _ = c.Receive(); _, _ = c.Send([]byte("nonsense"), nil) }, ErrMalformed},
		{"the core refuses the message", func(c *Conn) {
			_, _ = c.Receive()
			sendJSON(c, Reply{Error: &Error{Code: CodeBadMessage}})
		}, ErrClosed},
		{"the core's message is too long", func(c *Conn) {
			_, _ = c.Receive()
			_, _ = c.Write([]byte(strings.Repeat("x", MaxMessage+1)))
			_, _ = c.Receive()
		}, ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := startCore(t, tt.play).dial(t)
			if err := client.Do(t.Context(), ActionPing, nil, nil); !errors.Is(err, tt.want) || !errors.Is(err, ErrClosed) {
				t.Errorf("error %v, want ErrClosed and %v", err, tt.want)
			}
			<-client.Done()
			if _, open := <-client.Frames(); open {
				t.Error("frames are still open")
			}
			if err := client.Do(t.Context(), ActionPing, nil, nil); !errors.Is(err, ErrClosed) {
				t.Errorf("afterwards: %v, want ErrClosed", err)
			}
		})
	}
}

func TestClientCloseEndsCalls(t *testing.T) {
	got := make(chan struct{})
	client := startCore(t, func(c *Conn) { _, _ = c.Receive(); close(got); _, _ = c.Receive() }).dial(t)
	ended := make(chan error, 1)
	go func() { ended <- client.Do(context.Background(), ActionPing, nil, nil) }()
	<-got
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want ErrClosed", err)
	}
}

func TestClientDuplicateCommand(t *testing.T) {
	got, release := make(chan struct{}), make(chan struct{})
	client := startCore(t, func(c *Conn) {
		message, err := c.Receive()
		if err != nil {
			return
		}
		req, _ := DecodeRequest(message)
		close(got)
		<-release
		sendJSON(c, Reply{CommandID: req.CommandID, Applied: true})
		echo(c)
	}).dial(t)
	first := make(chan error, 1)
	go func() { first <- client.DoWith(t.Context(), testID, ActionPing, nil, nil, nil) }()
	<-got
	if err := client.DoWith(t.Context(), testID, ActionPing, nil, nil, nil); !errors.Is(err, ErrDuplicateCommand) {
		t.Errorf("error %v, want ErrDuplicateCommand", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := client.DoWith(t.Context(), testID, ActionPing, nil, nil, nil); err != nil {
		t.Errorf("sent again after its reply: %v", err)
	}
}

func TestClientFrames(t *testing.T) {
	client := startCore(t, func(c *Conn) {
		for seq := uint64(1); seq <= 3; seq++ {
			sendJSON(c, Frame{Frame: FrameCallUpdated, Epoch: "epoch-1", Seq: seq, PrevSeq: seq - 1})
		}
		echo(c)
	}).dial(t)
	cursor := Cursor{Epoch: client.Epoch()}
	for range 3 {
		if fresh, err := cursor.Accept(<-client.Frames()); !fresh || err != nil {
			t.Errorf("fresh %v, error %v", fresh, err)
		}
	}
}

// A client that subscribes and does not look must not hold memory without end, nor lose a frame unnoticed.
func TestClientBacklog(t *testing.T) {
	client := startCore(t, func(c *Conn) {
		for seq := uint64(1); seq <= frameBuffer+1; seq++ {
			sendJSON(c, Frame{Frame: FrameCallUpdated, Epoch: "epoch-1", Seq: seq, PrevSeq: seq - 1})
		}
		_, _ = c.Receive()
	}).dial(t)
	<-client.Done()
	if !errors.Is(client.Err(), ErrBacklog) {
		t.Errorf("error %v, want ErrBacklog", client.Err())
	}
	n := 0
	for range client.Frames() {
		n++
	}
	if n != frameBuffer {
		t.Errorf("%d frames, want %d", n, frameBuffer)
	}
}
