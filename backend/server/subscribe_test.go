package server

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

func TestSubscribe(t *testing.T) {
	d := newFakeDesk()
	client := start(t, d).dial(t)
	add := func() {
		if _, err := d.log.Append(wire.FrameCallUpdated, wire.CallRef{Call: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	add()
	var sub wire.Subscribed
	if err := client.Do(t.Context(), wire.ActionSubscribe, wire.Subscribe{Epoch: testEpoch}, &sub); err != nil {
		t.Fatal(err)
	}
	cursor := wire.Cursor{Epoch: sub.Epoch, Seq: sub.Seq}
	add()
	for range 2 {
		f := within(t, client.Frames(), "a frame")
		if fresh, err := cursor.Accept(f); !fresh || err != nil {
			t.Errorf("frame %d: fresh %v, %v", f.Seq, fresh, err)
		}
	}
	// Again, from the middle: the first subscription is replaced.
	if err := client.Do(t.Context(), wire.ActionSubscribe, wire.Subscribe{Epoch: testEpoch, After: 1}, &sub); err != nil {
		t.Fatal(err)
	}
	if f := within(t, client.Frames(), "a frame"); f.Seq != 2 || f.PrevSeq != 1 {
		t.Errorf("resumed with frame %d after %d", f.Seq, f.PrevSeq)
	}
	add()
	if f := within(t, client.Frames(), "a frame"); f.Seq != 3 {
		t.Errorf("then frame %d", f.Seq)
	}
	if err := client.Do(t.Context(), wire.ActionSubscribe, []int{1}, nil); codeOf(err) != wire.CodeBadArgument {
		t.Errorf("error %v, want bad_arguments", err)
	}
	if err := client.Do(t.Context(), wire.ActionSubscribe, wire.Subscribe{Epoch: "an earlier run"}, &sub); err != nil || !sub.Reload {
		t.Errorf("reload %v, %v", sub.Reload, err)
	}
}

// coded is an error with a code.
type coded struct{}

func (coded) Error() string { return "a sentence for logs" }
func (coded) Code() string  { return "capability_denied" }

func TestSubscribeErrors(t *testing.T) {
	for want, err := range map[string]error{
		"capability_denied": coded{}, "wire_code": &wire.Error{Code: "wire_code"}, wire.CodeInternal: errors.New("x"),
	} {
		d := newFakeDesk()
		d.subscribe = func(desk.Caller, string, uint64) (desk.Subscription, error) { return desk.Subscription{}, err }
		if got := codeOf(start(t, d).dial(t).Do(t.Context(), wire.ActionSubscribe, nil, nil)); got != want {
			t.Errorf("code %q, want %q", got, want)
		}
	}
}

// A subscriber that does not read is cut off. The core never waits for it: Append returns at once.
func TestSlowSubscriberIsCutOff(t *testing.T) {
	d := newFakeDesk()
	r := start(t, d)
	c := greeted(t, r)
	if _, err := c.Send([]byte(`{"action":"subscribe","command_id":"0198c0de-0000-7000-8000-000000000001"}`), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Receive(); err != nil {
		t.Fatal(err)
	}
	quick := r.dial(t)
	data := strings.Repeat("x", 64<<10)
	for cut := false; !cut; {
		if _, err := d.log.Append("big", data); err != nil {
			t.Fatal(err)
		}
		select {
		case <-d.left:
			cut = true
		default:
			runtime.Gosched() // let the server forward; the test ends by the cut alone
		}
	}
	if err := quick.Do(t.Context(), "ping", nil, nil); err != nil {
		t.Errorf("another client: %v", err)
	}
}

func TestFrameThatCannotBeSentCutsTheConnection(t *testing.T) {
	d := newFakeDesk()
	frames := make(chan wire.Frame, 1)
	frames <- wire.Frame{Frame: "x", Data: json.RawMessage("{")}
	d.subscribe = func(desk.Caller, string, uint64) (desk.Subscription, error) {
		return desk.Subscription{Reply: json.RawMessage(`{}`), Frames: frames, Cancel: func() {}}, nil
	}
	client := start(t, d).dial(t)
	_ = client.Do(t.Context(), wire.ActionSubscribe, nil, nil)
	within(t, client.Done(), "the end of the connection")
}

func TestSubscriptionEndedByTheDeskEndsTheConnection(t *testing.T) {
	d := newFakeDesk()
	client := start(t, d).dial(t)
	if err := client.Do(t.Context(), wire.ActionSubscribe, nil, nil); err != nil {
		t.Fatal(err)
	}
	d.log.Close()
	within(t, client.Done(), "the end of the connection")
}

func TestOutboxLimits(t *testing.T) {
	fill := func(size int) (n int) {
		o := newOutbox(nil)
		for o.push(make([]byte, size)) {
			if n++; n > 2*MaxQueue {
				break
			}
		}
		if !o.push(nil) {
			t.Error("a broken outbox complains again")
		}
		if _, _, end := o.next(); !end {
			t.Error("a broken outbox goes on")
		}
		return n
	}
	if n := fill(1); n != MaxQueue {
		t.Errorf("%d small messages, want %d", n, MaxQueue)
	}
	if n := fill(4 << 20); n != MaxQueueBytes/(4<<20) {
		t.Errorf("%d large messages", n)
	}
}
