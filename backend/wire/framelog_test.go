package wire

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func testLog() *FrameLog {
	return NewFrameLog("epoch-1", func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) })
}

func add(t *testing.T, l *FrameLog, name string) Frame {
	t.Helper()
	f, err := l.Append(name, map[string]string{"about": name})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// drain takes what was delivered so far.
func drain(s *FrameSubscription) (frames []Frame, open bool) {
	for {
		select {
		case f, ok := <-s.Frames():
			if !ok {
				return frames, false
			}
			frames = append(frames, f)
		default:
			return frames, true
		}
	}
}

func seqs(frames []Frame) (pairs [][2]uint64) {
	for _, f := range frames {
		pairs = append(pairs, [2]uint64{f.PrevSeq, f.Seq})
	}
	return pairs
}

func TestFrameLogSubscribe(t *testing.T) {
	tests := []struct {
		name   string
		epoch  string
		after  uint64
		want   [][2]uint64 // of the backlog and one frame more
		seq    uint64
		reload bool
	}{
		{"from the beginning", "epoch-1", 0, [][2]uint64{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 0, false},
		{"resumed", "epoch-1", 2, [][2]uint64{{2, 3}, {3, 4}}, 2, false},
		{"up to date", "epoch-1", 3, [][2]uint64{{3, 4}}, 3, false},
		{"from now", "", 0, [][2]uint64{{3, 4}}, 3, false},
		{"the core was restarted", "epoch-0", 2, [][2]uint64{{3, 4}}, 3, true},
		{"from the future", "epoch-1", 9, [][2]uint64{{3, 4}}, 3, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := testLog()
			for _, name := range []string{"a", "b", "c"} {
				add(t, l, name)
			}
			s := l.Subscribe(tt.epoch, tt.after, nil)
			defer s.Cancel()
			add(t, l, "d")
			got, open := drain(s)
			if !open {
				t.Error("the subscription was closed")
			}
			if diff := cmp.Diff(tt.want, seqs(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(Subscribed{Epoch: "epoch-1", Seq: tt.seq, Reload: tt.reload}, s.Subscribed()); diff != "" {
				t.Error(diff)
			}
			if l.Seq() != 4 || l.Epoch() != "epoch-1" {
				t.Errorf("log is at %d of %s", l.Seq(), l.Epoch())
			}
		})
	}
}

func TestFrameLogForgets(t *testing.T) {
	l := testLog()
	for range frameBacklog + 10 {
		add(t, l, "a")
	}
	if s := l.Subscribe("epoch-1", 9, nil); !s.Reload {
		t.Error("frame 10 is gone and nobody is told")
	}
	s := l.Subscribe("epoch-1", 10, nil)
	if got, _ := drain(s); s.Reload || len(got) != frameBacklog || got[0].Seq != 11 {
		t.Errorf("reload %v, %d frames", s.Reload, len(got))
	}
	// By bytes, too: the latest frame always stays.
	for range 10 {
		if _, err := l.Append("big", strings.Repeat("x", 3<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if l.bytes > frameBacklogBytes || len(l.kept) != 5 {
		t.Errorf("%d bytes in %d frames are kept", l.bytes, len(l.kept))
	}
}

func TestFrameLogCutsOffTheSlow(t *testing.T) {
	l := testLog()
	slow, quick := l.Subscribe("", 0, nil), l.Subscribe("", 0, nil)
	for range frameQueue + 1 {
		add(t, l, "a")
		if got, open := drain(quick); len(got) != 1 || !open {
			t.Fatal("the quick subscriber pays for the slow one")
		}
	}
	got, open := drain(slow)
	if open || len(got) != frameQueue {
		t.Errorf("open %v after %d frames", open, len(got))
	}
	slow.Cancel() // after it was cut off
	slow.Cancel()
	quick.Cancel()
	if len(l.subs) != 0 {
		t.Errorf("%d subscriptions are left", len(l.subs))
	}
}

func TestFrameLogClose(t *testing.T) {
	l := testLog()
	s := l.Subscribe("", 0, nil)
	add(t, l, "a")
	l.Close()
	if got, open := drain(s); open || len(got) != 1 {
		t.Errorf("open %v, %d frames", open, len(got))
	}
	if _, err := l.Append("b", nil); err == nil {
		t.Error("a closed log took a frame")
	}
	if _, open := drain(l.Subscribe("", 0, nil)); open {
		t.Error("a closed log took a subscriber")
	}
}

func TestFrameLogRefusesWhatNoClientCouldTake(t *testing.T) {
	deep := any(0)
	for range MaxDepth {
		deep = []any{deep}
	}
	for name, data := range map[string]any{
		"too large": strings.Repeat("x", maxFrameData), "too deep": deep, "": 1,
		strings.Repeat("n", maxName+1): 1, "not JSON": func() {},
	} {
		l := testLog()
		if _, err := l.Append(name, data); err == nil || l.Seq() != 0 {
			t.Errorf("%.20q: error %v, seq %d", name, err, l.Seq())
		}
	}
	f, err := testLog().Append("big", strings.Repeat("x", maxFrameData-2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Encode(f); err != nil {
		t.Errorf("the largest frame does not fit a message: %v", err)
	}
}

func TestCursor(t *testing.T) {
	tests := []struct {
		name  string
		frame Frame
		fresh bool
		gap   bool
	}{
		{"next", Frame{Epoch: "e", Seq: 6, PrevSeq: 5}, true, false},
		{"frames of others between", Frame{Epoch: "e", Seq: 9, PrevSeq: 5}, true, false},
		{"the snapshot is newer than the last frame shown", Frame{Epoch: "e", Seq: 9, PrevSeq: 3}, true, false},
		{"already in the snapshot", Frame{Epoch: "e", Seq: 5, PrevSeq: 4}, false, false},
		{"missed one", Frame{Epoch: "e", Seq: 9, PrevSeq: 8}, false, true},
		{"another run of the core", Frame{Epoch: "f", Seq: 6, PrevSeq: 5}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Cursor{Epoch: "e", Seq: 5}
			fresh, err := c.Accept(tt.frame)
			if fresh != tt.fresh || errors.Is(err, ErrGap) != tt.gap {
				t.Errorf("fresh %v, error %v", fresh, err)
			}
			if tt.fresh != (c.Seq == tt.frame.Seq) && c.Seq != 5 {
				t.Errorf("the cursor is at %d", c.Seq)
			}
		})
	}
}

// Whatever a subscriber is shown, and however often it comes back: it sees each of its frames once, in order, and its
// cursor never reports a gap.
func TestResumeMissesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := testLog()
		show := func(f Frame) bool { return f.Frame == "mine" }
		var want, got []uint64
		cursor := Cursor{Epoch: "epoch-1"}
		var s *FrameSubscription
		take := func() {
			if s == nil {
				return
			}
			frames, _ := drain(s)
			for _, f := range frames {
				fresh, err := cursor.Accept(f)
				if err != nil || !fresh {
					t.Fatalf("frame %d after %d: fresh %v, %v", f.Seq, cursor.Seq, fresh, err)
				}
				got = append(got, f.Seq)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"mine", "other", "resume", "lose"}).Draw(t, "step") {
			case "mine":
				f, err := l.Append("mine", 1)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, f.Seq)
			case "other":
				if _, err := l.Append("other", 1); err != nil {
					t.Fatal(err)
				}
			case "resume":
				take()
				if s != nil {
					s.Cancel()
				}
				s = l.Subscribe(cursor.Epoch, cursor.Seq, show)
				if s.Reload {
					t.Fatal("told to reload")
				}
			case "lose": // the connection breaks with frames in it
				if s != nil {
					s.Cancel()
				}
				s = nil
			}
		}
		if s == nil {
			s = l.Subscribe(cursor.Epoch, cursor.Seq, show)
		}
		take()
		if !cmp.Equal(want, got) {
			t.Fatalf("shown %v, want %v", got, want)
		}
	})
}
