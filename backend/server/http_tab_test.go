package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// tab is one page's connection.
type tab struct {
	*websocket.Conn
	t *testing.T
}

func (b *browsing) tab(t *testing.T, c *http.Client) tab {
	t.Helper()
	conn, resp, err := b.dialTab(t, c)
	if err != nil {
		t.Fatalf("open a tab: %v (%v)", err, resp)
	}
	return tab{conn, t}
}

func (b *browsing) dialTab(t *testing.T, c *http.Client) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	whole := *c
	whole.Timeout = 0 // it would end the connection
	conn, resp, err := websocket.Dial(t.Context(), "ws://"+b.host+"/wire", &websocket.DialOptions{
		HTTPClient: &whole, HTTPHeader: http.Header{"Origin": {"http://" + b.host}, "Sec-Fetch-Site": {"same-origin"}},
		Subprotocols: []string{keyProtocol + b.keyOf(c)},
	})
	if err == nil {
		conn.SetReadLimit(wire.MaxMessage)
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, resp, err
}

func (c tab) send(action string, args any) (commandID string) {
	c.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	commandID = uuid.NewString()
	message, err := wire.Encode(wire.Request{Action: action, CommandID: commandID, Args: raw})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.Write(c.t.Context(), websocket.MessageText, message); err != nil {
		c.t.Fatal(err)
	}
	return commandID
}

func (c tab) next() (wire.Incoming, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	_, text, err := c.Read(ctx)
	if err != nil {
		return wire.Incoming{}, err
	}
	in, err := wire.DecodeIncoming(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return in, nil
}

// do asks and returns the reply, which must come next.
func (c tab) do(action string, args any) wire.Reply {
	c.t.Helper()
	id := c.send(action, args)
	in, err := c.next()
	if err != nil || in.Reply == nil || in.Reply.CommandID != id {
		c.t.Fatalf("%s: %+v, %v", action, in, err)
	}
	return *in.Reply
}

func TestTwoTabs(t *testing.T) {
	d := newFakeDesk()
	callers := make(chan desk.Caller, 2)
	d.do = func(_ context.Context, c desk.Caller, req wire.Request, _ []*os.File) wire.Reply {
		callers <- c
		return wire.Reply{Applied: true, Result: req.Args}
	}
	b := startHTTP(t, d, nil)
	c := b.paired(t)
	first, second := b.tab(t, c), b.tab(t, c)
	if r := first.do("echo", 1); !r.Applied || string(r.Result) != "1" {
		t.Errorf("first: %+v", r)
	}
	if r := second.do("echo", "é"); !r.Applied || string(r.Result) != `"é"` {
		t.Errorf("second: %+v", r)
	}
	one, two := <-callers, <-callers
	if one.Surface != desk.SurfaceBrowser || one.Connection == 0 || one.Connection == two.Connection || len(one.Peer.Chain) != 0 {
		t.Errorf("callers %+v and %+v", one, two)
	}
	var sub wire.Subscribed
	for _, c := range []tab{first, second} {
		if err := json.Unmarshal(c.do(wire.ActionSubscribe, wire.Subscribe{}).Result, &sub); err != nil || sub.Epoch != testEpoch {
			t.Fatalf("subscribed %+v, %v", sub, err)
		}
	}
	if _, err := d.log.Append(wire.FrameCallUpdated, wire.CallRef{Call: "c"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []tab{first, second} {
		if in, err := c.next(); err != nil || in.Frame == nil || in.Frame.Frame != wire.FrameCallUpdated {
			t.Errorf("frame %+v, %v", in, err)
		}
	}
	_ = first.Close(websocket.StatusNormalClosure, "")
	within(t, d.left, "gone")
	if got := d.gone[0].Connection; got != one.Connection {
		t.Errorf("connection %d is gone, want %d", got, one.Connection)
	}
	if r := second.do("echo", 2); !r.Applied {
		t.Errorf("the other tab afterwards: %+v", r)
	}
}

// The surface says who may answer (package desk): it is set by what the server was started as, never by a message.
func TestTheOwnersBrowser(t *testing.T) {
	d := newFakeDesk()
	d.do = func(_ context.Context, c desk.Caller, _ wire.Request, _ []*os.File) wire.Reply {
		if c.Surface != desk.SurfaceOwner {
			return wire.Reply{Error: &wire.Error{Code: "presence_required"}}
		}
		return wire.Reply{Applied: true}
	}
	for owner, applied := range map[bool]bool{false: false, true: true} {
		b := startHTTP(t, d, func(o *HTTPOptions) { o.Owner = owner })
		if r := b.tab(t, b.paired(t)).do(wire.ActionQuestionReply, wire.QuestionReply{}); r.Applied != applied {
			t.Errorf("owner %t: %+v", owner, r)
		}
	}
}

func TestTabMessagesThatAreRefused(t *testing.T) {
	d := newFakeDesk()
	d.do = func(context.Context, desk.Caller, wire.Request, []*os.File) wire.Reply {
		t.Error("the desk was asked")
		return wire.Reply{}
	}
	b := startHTTP(t, d, nil)
	c := b.paired(t)
	tests := []struct {
		name, message string
		kind          websocket.MessageType
		problem       string // "": the connection just ends
	}{
		{"not JSON", "hello", websocket.MessageText, "not a JSON object"},
		{"files", `{"action":"redeem_call","command_id":"0198c0de-0000-7000-8000-000000000001","files":3}`, websocket.MessageText, "files cannot"},
		{"binary", `{"action":"ping","command_id":"0198c0de-0000-7000-8000-000000000001"}`, websocket.MessageBinary, ""},
		{"huge", `{"action":"` + strings.Repeat("x", wire.MaxMessage), websocket.MessageText, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := b.tab(t, c)
			_ = c.Write(t.Context(), tt.kind, []byte(tt.message)) // it may be refused before it is all sent
			in, err := c.next()
			if tt.problem != "" {
				if err != nil || in.Reply == nil || in.Reply.Error == nil || in.Reply.Error.Code != wire.CodeBadMessage ||
					!strings.Contains(in.Reply.Error.Args["problem"], tt.problem) {
					t.Fatalf("%+v, %v", in, err)
				}
				_, err = c.next()
			}
			if err == nil {
				t.Error("the connection lives on")
			}
			within(t, d.left, "gone")
		})
	}
}

func TestAMegabyteThroughATab(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	c := b.tab(t, b.paired(t))
	in, out := strings.Repeat("é", 1<<19), ""
	if err := json.Unmarshal(c.do("echo", in).Result, &out); err != nil || out != in {
		t.Errorf("%d bytes came back, %v", len(out), err)
	}
}

func TestTooManyTabs(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	c := b.paired(t)
	var last tab
	for range MaxTabs {
		last = b.tab(t, c)
	}
	if _, resp, err := b.dialTab(t, c); err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %v, %v", resp, err)
	}
	_ = last.Close(websocket.StatusNormalClosure, "")
	within(t, b.desk.left, "gone")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, _, err := b.dialTab(t, c); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("after one was closed: %v", err)
		}
	}
}

// A tab whose browser was pushed out by newer ones is a stranger from then on.
func TestATabWithoutItsCookie(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	c := b.tab(t, b.paired(t))
	if r := c.do("echo", 1); !r.Applied {
		t.Fatalf("%+v", r)
	}
	for range MaxBrowsers {
		b.paired(t)
	}
	c.send("echo", 1)
	if in, err := c.next(); err == nil {
		t.Errorf("answered %+v", in)
	}
}

// A tab that does not read is cut off; the core never waits for it.
func TestSlowTabIsCutOff(t *testing.T) {
	d := newFakeDesk()
	b := startHTTP(t, d, nil)
	c := b.paired(t)
	slow, quick := b.tab(t, c), b.tab(t, c)
	slow.do(wire.ActionSubscribe, wire.Subscribe{})
	data := strings.Repeat("x", 64<<10)
	for cut := false; !cut; {
		if _, err := d.log.Append("big", data); err != nil {
			t.Fatal(err)
		}
		select {
		case <-d.left:
			cut = true
		default:
		}
	}
	if r := quick.do("echo", 1); !r.Applied {
		t.Errorf("another tab: %+v", r)
	}
}

func TestShutdownWithOpenTabs(t *testing.T) {
	t.Run("what is under way is answered", func(t *testing.T) {
		d := newFakeDesk()
		begun := make(chan struct{})
		d.do = func(ctx context.Context, _ desk.Caller, _ wire.Request, _ []*os.File) wire.Reply {
			close(begun)
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), desk.ErrStopping) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			return wire.Reply{Error: &wire.Error{Code: "stopping"}}
		}
		b := startHTTP(t, d, nil)
		client := b.paired(t)
		busy, idle := b.tab(t, client), b.tab(t, client)
		busy.send("wait", nil)
		within(t, begun, "the request")
		if err := b.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if in, err := busy.next(); err != nil || in.Reply == nil || in.Reply.Error.Code != "stopping" {
			t.Errorf("answered %+v, %v", in, err)
		}
		if in, err := idle.next(); err == nil {
			t.Errorf("the idle tab got %+v", in)
		}
	})
	t.Run("what does not end is cut", func(t *testing.T) {
		d := newFakeDesk()
		begun, release := make(chan struct{}), make(chan struct{})
		d.do = func(context.Context, desk.Caller, wire.Request, []*os.File) wire.Reply {
			close(begun)
			<-release
			return wire.Reply{}
		}
		b := startHTTP(t, d, nil)
		c := b.tab(t, b.paired(t))
		c.send("stuck", nil)
		within(t, begun, "the request")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the deadline", err)
		}
		if in, err := c.next(); err == nil {
			t.Errorf("it got %+v", in)
		}
		close(release)
	})
}

// A browser sends its cookies to every port of a host: what listened on another port of this machine, a preview that an
// agent started, once got the owner's cookie with the first visit, and could answer with it. The cookie alone opens no
// wire.
func TestTheCookieAloneOpensNothing(t *testing.T) {
	b := startHTTP(t, newFakeDesk(), nil)
	owner, other := b.paired(t), b.paired(t)
	for name, protocols := range map[string][]string{
		"no key": nil, "an empty key": {keyProtocol}, "another browser's key": {keyProtocol + b.keyOf(other)},
	} {
		whole := *owner
		whole.Timeout = 0
		conn, resp, err := websocket.Dial(t.Context(), "ws://"+b.host+"/wire", &websocket.DialOptions{
			HTTPClient: &whole, HTTPHeader: http.Header{"Origin": {"http://" + b.host}}, Subprotocols: protocols,
		})
		if err == nil {
			_ = conn.CloseNow()
			t.Errorf("%s: the wire opened", name)
		} else if resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := b.dialTab(t, owner); err != nil {
		t.Errorf("with its own key: %v", err)
	}
}
