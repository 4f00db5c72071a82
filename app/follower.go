package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"countersign/app/bridge"
	"countersign/app/notify"
	"countersign/app/tray"
	"countersign/backend/wire"
)

const (
	// trayNewest is how many questions the tray names.
	trayNewest = 3
	// snapshotPause is how long a snapshot that failed is waited for before the next one.
	snapshotPause = 2 * time.Second
)

// follower keeps what the tray and the notifications show in step with the core.
//
// Lock order: mu, then the shell's mu. Nothing that waits is called under mu.
type follower struct {
	shell *shell

	mu       sync.Mutex // guards the following
	schedule *notify.Scheduler
	open     []wire.Question // oldest first
	more     int             // open ones that are not in the list
	boundary tray.Boundary
	paused   bool
	icon     trayIcon // what was told last, and what it was told
	shown    tray.State
}

func newFollower(s *shell) *follower {
	return &follower{shell: s, schedule: notify.New(notify.Wishes{Language: s.language()})}
}

// follow is with one core until the context ends.
func (f *follower) follow(ctx context.Context, c bridge.Core) {
	for ctx.Err() == nil {
		f.once(ctx, c)
	}
	f.mu.Lock()
	f.open, f.more, f.paused, f.boundary = nil, 0, false, ""
	f.schedule.Reset(nil, time.Now())
	f.mu.Unlock()
	f.act()
}

// once takes a snapshot and follows the frames after it, until one is missing or the context ends.
func (f *follower) once(ctx context.Context, c bridge.Core) {
	sub, err := c.Subscribe("", 0)
	if err != nil {
		f.shell.log.Error("follow the core", "error", err)
		pause(ctx, snapshotPause)
		return
	}
	defer sub.Cancel()
	cursor, err := f.snapshot(ctx, c)
	if err != nil {
		if ctx.Err() == nil {
			f.shell.log.Error("take a snapshot", "error", err)
		}
		pause(ctx, snapshotPause)
		return
	}
	for {
		timer := time.NewTimer(f.act())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case frame, ok := <-sub.Frames:
			timer.Stop()
			if !ok {
				return
			}
			fresh, err := cursor.Accept(frame)
			if err != nil {
				return
			}
			if fresh {
				f.take(frame)
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// snapshot reads what stands. What cannot be read is an error, not an empty desk.
func (f *follower) snapshot(ctx context.Context, c bridge.Core) (wire.Cursor, error) {
	var status wire.Status
	var preferences wire.Preferences
	var questions wire.Questions
	for action, out := range map[string]any{wire.ActionStatus: &status, wire.ActionGetPreferences: &preferences} {
		if err := bridge.Call(ctx, c, action, wire.Empty{}, out); err != nil {
			return wire.Cursor{}, err
		}
	}
	if err := bridge.Call(ctx, c, wire.ActionListQuestions, wire.ListQuestions{}, &questions); err != nil {
		return wire.Cursor{}, err
	}
	f.prefer(preferences)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boundary, f.paused = boundaryOf(status), status.Pause.Paused
	f.open, f.more = questions.Questions, questions.More
	var unseen []notify.Question
	for _, q := range f.open {
		if q.ShownAt.IsZero() {
			unseen = append(unseen, noticeOf(q))
		}
	}
	f.schedule.Reset(unseen, time.Now())
	return wire.Cursor{Epoch: questions.Epoch, Seq: questions.Seq}, nil
}

// enforced is capability.Enforced; a test keeps the two together.
const enforced = "Enforced"

// boundaryOf says in one word what holds commands. Problems of any kind make it a degraded one.
func boundaryOf(s wire.Status) tray.Boundary {
	switch {
	case s.Boundary.Enforcement != enforced:
		return tray.BoundaryUnavailable
	case len(s.Problems) > 0 || s.ReadOnly:
		return tray.BoundaryDegraded
	}
	return tray.BoundaryEnforced
}

// take follows one frame.
func (f *follower) take(frame wire.Frame) {
	var err error
	switch frame.Frame {
	case wire.FrameQuestionAsked, wire.FrameQuestionUpdated, wire.FrameQuestionClosed:
		var q wire.Question
		if err = json.Unmarshal(frame.Data, &q); err == nil {
			f.question(frame.Frame, q)
		}
	case wire.FrameDeskPaused:
		var p wire.DeskPause
		if err = json.Unmarshal(frame.Data, &p); err == nil {
			f.mu.Lock()
			f.paused = p.Paused
			f.mu.Unlock()
		}
	case wire.FramePreferences:
		var p wire.Preferences
		if err = json.Unmarshal(frame.Data, &p); err == nil {
			f.prefer(p)
		}
	case wire.FrameLinkOpened:
		// Somebody followed a link or started the desk once more: that is a gesture, as far as can be told. Where to
		// go, the page hears itself.
		if !f.before() {
			f.shell.show()
		}
	}
	if err != nil {
		f.shell.log.Error("read a frame", "frame", frame.Frame, "error", err)
	}
}

// before reports whether the window is open with a card that was shown: it is not brought over what its owner does now,
// nor under a hand that is about to press. The page says there that something was opened.
func (f *follower) before() bool {
	f.mu.Lock()
	shown := slices.ContainsFunc(f.open, func(q wire.Question) bool { return !q.ShownAt.IsZero() })
	f.mu.Unlock()
	return shown && f.shell.isOpen()
}

func (f *follower) question(frame string, q wire.Question) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.open, func(o wire.Question) bool { return o.ID == q.ID })
	switch {
	case frame == wire.FrameQuestionClosed && i >= 0:
		f.open = slices.Delete(f.open, i, i+1)
	case frame == wire.FrameQuestionClosed:
		f.more = max(f.more-1, 0)
	case i >= 0:
		f.open[i] = q
	case frame == wire.FrameQuestionAsked:
		f.open = append(f.open, q)
	}
	if frame == wire.FrameQuestionClosed || !q.ShownAt.IsZero() {
		f.schedule.Settled(q.ID)
	} else if frame == wire.FrameQuestionAsked || i >= 0 {
		f.schedule.Asked(noticeOf(q), time.Now())
	}
}

// prefer follows the owner's preferences.
func (f *follower) prefer(p wire.Preferences) {
	s := f.shell
	s.mu.Lock()
	before := s.preferences
	s.preferences = p
	board, w := s.notices, s.window
	s.mu.Unlock()
	language := s.language()
	f.mu.Lock()
	f.schedule.SetWishes(notify.Wishes{Language: language, Command: p.NotifyCommand})
	f.mu.Unlock()
	if before.Language != p.Language {
		if err := board.Label(language); err != nil {
			s.log.Error("name the buttons of notifications", "error", err)
		}
	}
	w.Background(p.Theme == "dark" || p.Theme != "light" && s.desktop.dark)
}

// act shows what is due, and returns how long nothing is.
func (f *follower) act() time.Duration {
	f.mu.Lock()
	now := time.Now()
	effects := f.schedule.Due(now)
	next := f.schedule.Next()
	f.mu.Unlock()
	f.shell.carryOut(effects)
	f.look()
	if next.IsZero() {
		return time.Hour
	}
	return max(next.Sub(now), 0)
}

// look makes the tray show what stands. It never waits.
func (f *follower) look() {
	s := f.shell
	opening := s.host == nil || s.host.Status().Phase != bridge.PhaseReady
	language := s.language()
	f.mu.Lock()
	m := tray.Model{Opening: opening, Waiting: len(f.open) + f.more, Boundary: f.boundary, Paused: f.paused}
	for _, q := range slices.Backward(f.open) {
		if len(m.Newest) == trayNewest {
			break
		}
		n := noticeOf(q)
		m.Newest = append(m.Newest, tray.Question{ID: q.ID, Agent: notify.AgentName(language, n.Agent), Tool: n.Tool, Project: n.Project})
	}
	f.mu.Unlock()
	state := tray.Lines(language, m)
	s.mu.Lock()
	icon := s.tray
	s.mu.Unlock()
	f.mu.Lock()
	same := f.icon == icon && reflect.DeepEqual(f.shown, state)
	f.icon, f.shown = icon, state
	f.mu.Unlock()
	if !same { // most frames change nothing that the tray shows
		icon.Set(state)
	}
}

// respond asks what a click on a notification means.
func (f *follower) respond(notification, action string) notify.Act {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.schedule.Respond(notification, action)
}

// noticeOf is a question as a notification names it. What its card does not say stays out.
func noticeOf(q wire.Question) notify.Question {
	var card struct {
		Project string `json:"project"`
		Command string `json:"command"`
	}
	out := notify.Question{ID: q.ID, Version: q.Version, Session: q.Session, Agent: q.Agent, Tool: q.Tool}
	if json.Unmarshal(q.Detail, &card) != nil {
		return out
	}
	out.Command = card.Command
	if card.Project != "" {
		out.Project = filepath.Base(card.Project)
	}
	return out
}
