package app

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/app/bridge"
	"countersign/app/notify"
	"countersign/app/tray"
	"countersign/backend/capability"
	"countersign/backend/wire"
)

func TestFlags(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want flags
		err  bool
	}{
		{"none", nil, flags{}, false},
		{"hidden", []string{"--hidden"}, flags{hidden: true}, false},
		{"link", []string{"countersign://approval/1"}, flags{url: "countersign://approval/1"}, false},
		{"demo", []string{"--demo", "/tmp/x"}, flags{demo: "/tmp/x"}, false},
		{"two links", []string{"a", "b"}, flags{}, true},
		{"unknown", []string{"--owner"}, flags{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseFlags(tt.args, &strings.Builder{})
			if (err != nil) != tt.err || err == nil && got != tt.want {
				t.Errorf("parseFlags = %+v, %v", got, err)
			}
		})
	}
}

func TestClosing(t *testing.T) {
	tests := []struct {
		name  string
		flags flags
		tray  bool
		quit  bool
		keeps []bool
		done  []string
	}{
		{"hides in the tray, again and again", flags{}, true, false, []bool{true, true}, []string{"hide", "hide"}},
		{"without a tray it says so once and then ends", flags{}, false, false, []bool{true, false}, []string{"tell"}},
		{"a throw-away desk ends", flags{demo: "/x"}, true, false, []bool{false}, nil},
		{"quitting ends, tray or not", flags{}, true, true, []bool{false}, []string{"quit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, tt.flags, tt.tray)
			if tt.quit {
				s.quit()
			}
			for i, want := range tt.keeps {
				if got := s.beforeClose(); got != want {
					t.Errorf("close %d keeps the window: %t, want %t", i+1, got, want)
				}
			}
			if diff := cmp.Diff(tt.done, s.window.took()); diff != "" {
				t.Errorf("done to the window (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a panic on the way lets the window close", func(t *testing.T) {
		s := newStage(t, flags{}, true)
		s.window.panics = true
		if s.beforeClose() {
			t.Error("the window can never be closed")
		}
	})
}

// TestWindowIsSeen: whether the window was minimised was looked for every two seconds, in an idle desk too. The web
// view tells its page now, and nothing is looked for in between.
func TestWindowIsSeen(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.withCore(t)
	s.pageReady()
	for _, minimised := range []bool{true, false} {
		s.window.mu.Lock()
		s.window.minimised = minimised
		seen := s.window.seen
		s.window.mu.Unlock()
		seen()
		if s.core.windowOpen() == minimised {
			t.Errorf("minimised: %t, and the core was told the opposite", minimised)
		}
	}
	s.hide()
	s.window.seen()
	if s.core.windowOpen() {
		t.Error("a hidden window is open")
	}
}

// TestNothingRaisesTheWindow: whatever happens in the core, only a link shows the window.
func TestNothingRaisesTheWindow(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.following(t)
	for _, frame := range []string{wire.FrameQuestionAsked, wire.FrameQuestionUpdated, wire.FrameQuestionClosed} {
		s.core.publish(t, frame, wire.Question{ID: "a", Session: "1"})
	}
	s.core.publish(t, wire.FrameDeskPaused, wire.DeskPause{Paused: true})
	s.core.publish(t, "something.new", 1)
	until(t, "the tray is paused", func() bool { return s.tray.last().Shape == tray.ShapePaused })
	if done := s.window.took(); done != nil {
		t.Errorf("done to the window: %v", done)
	}
	s.core.publish(t, wire.FrameLinkOpened, wire.Link{})
	until(t, "the link shows the window", func() bool { return cmp.Equal(s.window.took(), []string{"show"}) })
}

// TestNothingIsRaisedOverACard: a detached process opened links as fast as it could, and each raised the window over
// what its owner did. The page says what was opened where a card stands.
func TestNothingIsRaisedOverACard(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.following(t)
	s.core.publish(t, wire.FrameQuestionAsked, wire.Question{ID: "a", Session: "1", ShownAt: time.Now()})
	s.core.publish(t, wire.FrameLinkOpened, wire.Link{})
	s.core.publish(t, wire.FrameDeskPaused, wire.DeskPause{Paused: true})
	until(t, "the tray is paused", func() bool { return s.tray.last().Shape == tray.ShapePaused })
	if done := s.window.took(); done != nil {
		t.Errorf("done to the window: %v", done)
	}
	s.hide()
	s.window.took()
	s.core.publish(t, wire.FrameLinkOpened, wire.Link{})
	until(t, "the link shows a hidden window", func() bool { return cmp.Equal(s.window.took(), []string{"show"}) })
}

// TestTrayAsksInTheWindow: any program of the session's bus can send a click of the tray's menu, and lifted the owner's
// pause, or ended the desk.
func TestTrayAsksInTheWindow(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.withCore(t)
	for id, want := range map[string]string{tray.IDResume: `navigate {"page":"settings"}`, tray.IDQuit: `navigate {"page":"quit"}`} {
		s.clicked(tray.Event{ID: id})
		if diff := cmp.Diff([]string{"show", want}, s.window.took()); diff != "" {
			t.Errorf("%s: done to the window (-want +got):\n%s", id, diff)
		}
	}
	if got := s.core.did(wire.ActionPauseDesk); got != nil {
		t.Errorf("the tray lifted the pause: %v", got)
	}
	s.clicked(tray.Event{ID: tray.IDPauseShort})
	if got := s.core.did(wire.ActionPauseDesk); len(got) != 1 {
		t.Errorf("paused %v", got)
	}
}

// TestClicksBeforeThePageListens: the window opened and stayed where it was.
func TestClicksBeforeThePageListens(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.withCore(t)
	s.listens = false
	s.clicked(tray.Event{ID: tray.IDSettings})
	s.clicked(tray.Event{ID: tray.IDQuit})
	if diff := cmp.Diff([]string{"show", "show"}, s.window.took()); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	s.pageListens()
	s.pageListens()
	if diff := cmp.Diff([]string{`navigate {"page":"quit"}`}, s.window.took()); diff != "" {
		t.Errorf("then (-want +got):\n%s", diff)
	}
}

// TestQuitInTheFirstSecond: the library forgot the end that was asked for before its loop ran, and the desk never
// ended.
func TestQuitInTheFirstSecond(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.loaded = false
	s.quit()
	if done := s.window.took(); done != nil {
		t.Errorf("done to the window before its loop runs: %v", done)
	}
	s.pageReady()
	until(t, "it ends", func() bool { return cmp.Equal(s.window.took(), []string{"quit"}) })
}

// TestQuitBelowADialog: without a tray, closing the window tells what that means in a dialog, in whose loop the library
// waits: a signal to end was not heard until somebody read it.
func TestQuitBelowADialog(t *testing.T) {
	s := newStage(t, flags{}, false)
	ended := make(chan int, 1)
	s.exit = func(status int) { ended <- status }
	s.window.read = make(chan struct{})
	closing := bridge.Go(s.log, "closing", func() { s.beforeClose() })
	until(t, "it is told", func() bool { return cmp.Equal(s.window.took(), []string{"tell"}) })
	s.quit()
	select {
	case status := <-ended:
		if status != 0 || s.ctx.Err() == nil {
			t.Errorf("exit status %d, and shut down: %t", status, s.ctx.Err() != nil)
		}
	case <-time.After(patience):
		t.Error("it did not end")
	}
	close(s.window.read)
	<-closing
}

// TestNotForAgents: an agent opened the desk on a display of its own and allowed what it wanted.
func TestNotForAgents(t *testing.T) {
	for name, tt := range map[string]struct {
		byAgent, refused bool
		err              error
	}{"a person": {}, "an agent": {byAgent: true, refused: true}, "nobody knows": {err: errOnPurpose, refused: true}} {
		err := notForAgents(tt.byAgent, tt.err)
		if (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "An agent started this") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTrayClicks(t *testing.T) {
	tests := []struct {
		id   string
		done []string
	}{
		{tray.QuestionPrefix + "a", []string{"show", `navigate {"page":"inbox","question":"a"}`}},
		{tray.IDOpen, []string{"show"}},
		{tray.IDProjects, []string{"show", `navigate {"page":"projects"}`}},
		{tray.IDSettings, []string{"show", `navigate {"page":"settings"}`}},
		{tray.IDQuit, []string{"quit"}},
		{tray.IDPauseShort, nil}, // no core runs
		{"allow", nil},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			s := newStage(t, flags{}, true)
			s.clicked(tray.Event{ID: tt.id})
			if diff := cmp.Diff(tt.done, s.window.took()); diff != "" {
				t.Errorf("done to the window (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTrayLost: a window that was hidden in a tray that went away would never be found again.
func TestTrayLost(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.hide()
	s.window.took()
	s.trayChanged(false, tray.CodeStarting)
	if done := s.window.took(); done != nil {
		t.Errorf("a starting tray: %v", done)
	}
	s.trayChanged(false, tray.CodeFailed)
	if diff := cmp.Diff([]string{"show", "minimise"}, s.window.took()); diff != "" {
		t.Errorf("done to the window (-want +got):\n%s", diff)
	}
	if st := s.host.Status(); st.Tray != (bridge.Part{Code: tray.CodeFailed}) {
		t.Errorf("status %+v", st.Tray)
	}
}

func TestHideByPage(t *testing.T) {
	for there, want := range map[bool]string{true: "hide", false: "minimise"} {
		s := newStage(t, flags{}, there)
		s.hideByPage()
		if got := s.window.took(); len(got) != 1 || got[0] != want {
			t.Errorf("with a tray %t: %v, want %s", there, got, want)
		}
	}
}

func TestFollower(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.core.status = wire.Status{Boundary: wire.Boundary{Enforcement: capability.Enforced}}
	s.core.questions = []wire.Question{{ID: "a", Version: 1, Session: "1", Agent: "demo", Tool: "bash", Detail: []byte(`{"project":"/home/x/payments-api","command":"ls"}`)}}
	s.following(t)
	first := <-s.notices.sent
	if first.Body != "Demo agent asks to use bash in payments-api" || !first.Deny {
		t.Errorf("sent %+v", first)
	}
	s.core.publish(t, wire.FrameQuestionAsked, wire.Question{ID: "b", Version: 1, Session: "1", Agent: "demo", Tool: "bash", Detail: []byte(`{"project":"/home/x/payments-api"}`)})
	second := <-s.notices.sent
	if second.Body != "2 requests from Demo agent in payments-api" || second.Deny {
		t.Errorf("sent %+v", second)
	}
	// One card was shown, the other answered: the notification goes.
	s.core.publish(t, wire.FrameQuestionUpdated, wire.Question{ID: "a", Session: "1", ShownAt: time.Now()})
	s.core.publish(t, wire.FrameQuestionClosed, wire.Question{ID: "b", Session: "1"})
	until(t, "it is taken back", func() bool {
		s.notices.mu.Lock()
		defer s.notices.mu.Unlock()
		return cmp.Equal(s.notices.withdrawn, []string{first.ID, second.ID})
	})
	until(t, "one is left in the tray", func() bool { return s.tray.last().Waiting == 1 })
	if got := s.tray.last().Tooltip; !strings.Contains(got, "1 waiting") {
		t.Errorf("the tray says %q", got)
	}
	// A preference that names the command counts for what comes next.
	s.core.publish(t, wire.FramePreferences, wire.Preferences{Language: "zh-CN", NotifyCommand: true})
	s.core.publish(t, wire.FrameQuestionAsked, wire.Question{ID: "c", Session: "2", Agent: "demo", Tool: "bash", Detail: []byte(`{"command":"ls -l"}`)})
	if third := <-s.notices.sent; !strings.Contains(third.Body, "ls -l") || !strings.Contains(third.Body, "请求") {
		t.Errorf("sent %+v", third)
	}
}

// TestFollowerSurvives: the frames end when the follower was too slow, and a notification service can fail.
func TestFollowerSurvives(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.notices.fails = errOnPurpose
	s.core.questions = []wire.Question{{ID: "a", Session: "1"}}
	s.following(t)
	until(t, "the failure is shown", func() bool {
		return s.host.Status().Notifications == bridge.Part{Code: codeNoNotifications}
	})
	if err := s.testNotification(t.Context()); err == nil {
		t.Error("the test notification says that it came")
	}
}

func TestResponded(t *testing.T) {
	s := newStage(t, flags{}, true)
	s.core.questions = []wire.Question{{ID: "a", Version: 3, Session: "1"}}
	s.following(t)
	n := <-s.notices.sent
	s.responded(n.ID, "DEFAULT_ACTION")
	s.responded("another", notify.ActionReview)
	if done := s.window.took(); done != nil {
		t.Errorf("a dismissal did %v", done)
	}
	s.responded(n.ID, notify.ActionReview)
	if diff := cmp.Diff([]string{"show", `navigate {"page":"inbox","question":"a"}`}, s.window.took()); diff != "" {
		t.Errorf("done to the window (-want +got):\n%s", diff)
	}
	if got := s.core.did(wire.ActionQuestionReply); got != nil {
		t.Errorf("a notification allowed: %v", got)
	}
}

// TestInert: an agent chose the words. On Windows the library would have run "$(…)" in a notification's text through
// its PowerShell fallback, and closed the CDATA section it stands in.
func TestInert(t *testing.T) {
	tests := []struct {
		name    string
		desktop desktop
		want    string
	}{
		{"plain text", desktop{}, "<b>& $(calc) `x` \"@ ]]>"},
		{"markup", desktop{markup: true}, "&lt;b&gt;&amp; $(calc) `x` &#34;@ ]]&gt;"},
		{"script", desktop{script: true}, "<b>& ＄(calc) ˋxˋ ”@ ]]＞"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, flags{}, true)
			s.desktop = tt.desktop
			if err := s.send(s.notices, notify.Notification{Body: "<b>& $(calc) `x` \"@ ]]>"}); err != nil {
				t.Fatal(err)
			}
			if n := <-s.notices.sent; n.Body != tt.want {
				t.Errorf("sent %q, want %q", n.Body, tt.want)
			}
		})
	}
}

// panicking is a file system that panics, as a fault of ours would.
type panicking struct{}

func (panicking) Open(string) (fs.File, error) { panic("on purpose") }

func TestPages(t *testing.T) {
	pages := fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "assets/a.js": {Data: []byte("1")}}
	log := slog.New(slog.DiscardHandler)
	tests := []struct {
		name, method, path string
		pages              fs.FS
		status             int
	}{
		{"index", http.MethodGet, "/", pages, http.StatusOK},
		{"script", http.MethodGet, "/assets/a.js", pages, http.StatusOK},
		{"no listing", http.MethodGet, "/assets/", pages, http.StatusNotFound},
		{"not there", http.MethodGet, "/etc/passwd", pages, http.StatusNotFound},
		{"only reading", http.MethodPost, "/", pages, http.StatusNotFound},
		{"a panic", http.MethodGet, "/", panicking{}, http.StatusInternalServerError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			servePages(tt.pages, log).ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
			if w.Code != tt.status || w.Header().Get("Content-Security-Policy") != contentSecurityPolicy {
				t.Errorf("answered %d with %v", w.Code, w.Header())
			}
		})
	}
}

func TestLock(t *testing.T) {
	s := newStage(t, flags{}, true)
	unlock, err := lockWindow(s.dirs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockWindow(s.dirs); !errors.Is(err, errHeld) {
		t.Errorf("the second lock: %v", err)
	}
	unlock()
	again, err := lockWindow(s.dirs)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
