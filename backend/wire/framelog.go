package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Limits of a FrameLog.
const (
	// frameBacklog is how many frames are kept for subscribers that resume.
	frameBacklog = 4096
	// frameBacklogBytes bounds them in bytes of data.
	frameBacklogBytes = 16 << 20
	// maxFrameData is the longest data of one frame: it must fit a message together with its envelope, or no client could
	// ever get past it.
	maxFrameData = MaxMessage - 4<<10
	// frameQueue is how many frames a subscriber may be behind, beyond the backlog it resumed with, before it is cut off.
	frameQueue = 1024
)

// errLogClosed is returned by Append after Close.
var errLogClosed = errors.New("frame log: closed")

// FrameLog numbers what happens in one run of the core, keeps the latest of it, and hands it to subscribers in order.
// It has no goroutine: Append delivers, and never waits for a subscriber.
type FrameLog struct {
	epoch string
	now   func() time.Time

	mu     sync.Mutex // guards everything below, and seen and closed of every subscription
	seq    uint64
	kept   []Frame // the latest frames; kept[i].Seq = seq - len(kept) + 1 + i
	bytes  int     // of data in kept
	subs   map[*FrameSubscription]struct{}
	closed bool
}

// NewFrameLog returns an empty log for one run of the core. now is the clock for Frame.Time.
func NewFrameLog(epoch string, now func() time.Time) *FrameLog {
	return &FrameLog{epoch: epoch, now: now, subs: map[*FrameSubscription]struct{}{}}
}

// Epoch returns the run of the core that this log is of.
func (l *FrameLog) Epoch() string { return l.epoch }

// Seq returns the number of the latest frame, 0 when there was none. A snapshot taken after reading it holds at least
// everything up to that frame.
func (l *FrameLog) Seq() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}

// Append adds a frame and delivers it. The caller publishes in the order of its commits.
func (l *FrameLog) Append(name string, data any) (Frame, error) {
	raw, err := Encode(data)
	if err == nil && (len(raw) > maxFrameData || len(name) > maxName || name == "") {
		err = ErrTooLarge
	}
	if err == nil {
		err = checkDepth(raw, MaxDepth-1)
	}
	if err != nil {
		return Frame{}, fmt.Errorf("frame %q: %w", name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return Frame{}, errLogClosed
	}
	l.seq++
	f := Frame{Frame: name, Epoch: l.epoch, Seq: l.seq, PrevSeq: l.seq - 1, Time: l.now().UTC(), Data: json.RawMessage(raw)}
	l.kept = append(l.kept, f)
	l.bytes += len(raw)
	for len(l.kept) > frameBacklog || (l.bytes > frameBacklogBytes && len(l.kept) > 1) {
		l.bytes -= len(l.kept[0].Data)
		l.kept[0] = Frame{} // its data is freed now, not when the array is
		l.kept = l.kept[1:]
	}
	for s := range l.subs {
		s.deliverLocked(f)
	}
	return f, nil
}

// Subscribe delivers the frames after seq after of the run epoch for which show answers true; a nil show shows all.
// show is called with the log locked: it must be quick and must not call the log. When the frames between are not all
// there (another epoch, too old, from the future) the subscription starts now and Reload says that the client must take
// a new snapshot. An empty epoch starts now.
func (l *FrameLog) Subscribe(epoch string, after uint64, show func(Frame) bool) *FrameSubscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &FrameSubscription{log: l, show: show, Epoch: l.epoch, Seq: after}
	first := l.seq - uint64(len(l.kept)) // seq before the oldest frame kept
	var backlog []Frame
	switch {
	case epoch == "":
		s.Seq = l.seq
	case epoch != l.epoch || after > l.seq || after < first:
		s.Seq, s.Reload = l.seq, true
	default:
		backlog = l.kept[after-first:]
	}
	s.seen = s.Seq
	s.frames = make(chan Frame, len(backlog)+frameQueue)
	if l.closed {
		s.closed = true
		close(s.frames)
		return s
	}
	for _, f := range backlog {
		s.deliverLocked(f)
	}
	l.subs[s] = struct{}{}
	return s
}

// Close ends every subscription. Frames already delivered can still be received.
func (l *FrameLog) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for s := range l.subs {
		s.closeLocked()
	}
}

// FrameSubscription is one subscriber's share of a FrameLog.
type FrameSubscription struct {
	Epoch  string
	Seq    uint64 // frames follow after this one
	Reload bool   // frames were lost before Seq: a new snapshot is needed

	log    *FrameLog
	show   func(Frame) bool
	frames chan Frame
	seen   uint64 // seq of the last frame shown
	closed bool
}

// Frames delivers the frames. It is closed after Cancel, and when the subscriber fell too far behind.
func (s *FrameSubscription) Frames() <-chan Frame { return s.frames }

// Subscribed returns what the subscribe action answers.
func (s *FrameSubscription) Subscribed() Subscribed {
	return Subscribed{Epoch: s.Epoch, Seq: s.Seq, Reload: s.Reload}
}

// Cancel ends the subscription. It may be called more than once.
func (s *FrameSubscription) Cancel() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.closeLocked()
}

func (s *FrameSubscription) closeLocked() {
	if !s.closed {
		s.closed = true
		close(s.frames)
		delete(s.log.subs, s)
	}
}

func (s *FrameSubscription) deliverLocked(f Frame) {
	if s.closed || (s.show != nil && !s.show(f)) {
		return
	}
	f.PrevSeq = s.seen
	select {
	case s.frames <- f:
		s.seen = f.Seq
	default:
		s.closeLocked()
	}
}

// Cursor follows a client's frames and notices when one is missing. Set it from a snapshot (its epoch and seq) or from
// a Subscribed. It is not safe for concurrent use.
type Cursor struct {
	Epoch string
	Seq   uint64
}

// Accept reports whether f is new: a frame the snapshot already holds is not. ErrGap means that a frame meant for this
// client was missed, or that the core was restarted: take a new snapshot and set the cursor from it.
func (c *Cursor) Accept(f Frame) (fresh bool, err error) {
	switch {
	case f.Epoch != c.Epoch:
		return false, fmt.Errorf("%w: the core was restarted", ErrGap)
	case f.Seq <= c.Seq:
		return false, nil
	case f.PrevSeq > c.Seq:
		return false, fmt.Errorf("%w: %d follows %d, and %d was the last seen", ErrGap, f.Seq, f.PrevSeq, c.Seq)
	}
	c.Seq = f.Seq
	return true, nil
}
