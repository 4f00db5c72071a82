package app

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/wailsapp/wails/v2/pkg/options"

	"countersign/app/bridge"
	"countersign/app/i18n"
	"countersign/app/tray"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/wire"
)

// endWait is how long the end waits for the app's own goroutines: one may be inside a call of the desktop.
const endWait = 3 * time.Second

// shell is the app around its core.
//
// Lock order: the host's locks are never taken under mu.
type shell struct {
	version  string
	flags    flags
	dirs     config.Dirs
	desktop  desktop
	log      *slog.Logger
	host     *bridge.Host
	follower *follower
	ctx      context.Context // ends with the app
	stop     context.CancelFunc
	running  sync.WaitGroup // goroutines that end with ctx
	started  time.Time
	exit     func(status int) // os.Exit

	mu          sync.Mutex // guards the following
	window      window
	tray        trayIcon
	notices     noticeBoard
	hidden      bool
	loaded      bool // the page was there once
	told        bool // that closing ends the app
	telling     bool // it is being told, in a dialog
	quitting    bool
	again       bool // the program is to start again after its end
	againHidden bool
	link        *string          // to be opened when the page is there
	listens     bool             // the page gets events
	wanted      *bridge.Navigate // where the page is to go when it does
	preferences wire.Preferences
}

func newShell(version string, f flags, dirs config.Dirs, d desktop, log *slog.Logger) *shell {
	s := &shell{version: version, flags: f, dirs: dirs, desktop: d, log: log, started: time.Now(), exit: os.Exit, window: noWindow{}, tray: noTray{}, notices: noNotices{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if f.url != "" {
		s.link = &f.url
	}
	s.hidden = s.startsHidden()
	s.follower = newFollower(s)
	known, err := knownAgents(f)
	if err != nil {
		log.Error("find the demonstration's agent", "error", err)
	}
	s.host = bridge.New(bridge.Options{
		Dirs: dirs, Agents: known, Version: version, Language: i18n.Language(i18n.System, os.Getenv), Demo: f.demo != "", Passphrase: knownPassphrase(f),
		Start: bridge.StartCore, Stop: core.Stop, Emit: func(name, payload string) { s.view().Emit(name, payload) },
		Follow: s.follower.follow, Subscribed: s.pageListens, Changed: func(bridge.AppStatus) { s.follower.look() },
		Quit: s.quit, Hide: s.hideByPage, TestNotification: s.testNotification, Log: log,
	})
	// What is on its way is not missing: the page would say so for a moment.
	s.host.SetTray(bridge.Part{Code: codeNoTrayHost})
	if s.canTray() {
		s.host.SetTray(bridge.Part{Code: tray.CodeStarting})
	}
	s.host.SetNotifications(bridge.Part{Code: codeNoNotifications})
	if d.notifications {
		s.host.SetNotifications(bridge.Part{Code: codeNoticesStarting})
	}
	return s
}

// goWhile runs fn in a guarded goroutine that shutdown waits for; fn ends with ctx.
func (s *shell) goWhile(what string, fn func()) {
	s.running.Add(1)
	bridge.Go(s.log, what, func() {
		defer s.running.Done()
		fn()
	})
}

func (s *shell) guarded(what string, fn func()) bool { return bridge.Guarded(s.log, what, fn) }

// view returns the window, or what stands for it before there is one.
func (s *shell) view() window {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window
}

// language is the owner's.
func (s *shell) language() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return i18n.Language(s.preferences.Language, os.Getenv)
}

// startsHidden reports whether the window begins hidden: only where a tray can bring it back.
func (s *shell) startsHidden() bool { return s.flags.hidden && s.canTray() }

// startState is minimised where the window should be hidden and cannot.
func (s *shell) startState() options.WindowStartState {
	if s.flags.hidden && !s.canTray() {
		return options.Minimised
	}
	return options.Normal
}

// canTray reports whether a tray can be expected: something draws icons, and the helper is beside this program. A
// throw-away desk has none, because closing its window ends it.
func (s *shell) canTray() bool {
	if !s.desktop.trayHost || s.flags.demo != "" {
		return false
	}
	program, err := core.TrayProgram()
	if err != nil {
		return false
	}
	_, err = os.Stat(program)
	return err == nil
}

// webViewData is where WebView2 keeps its files: with the desk's own, so that two desks do not share them.
func (s *shell) webViewData() string { return filepath.Join(s.dirs.State, "webview") }

// startup is called once, when the library runs.
func (s *shell) startup(w window, n noticeBoard) {
	s.mu.Lock()
	s.window = w
	hidden := s.hidden
	s.mu.Unlock()
	signals := catchSignals()
	s.host.SetWindow(true, !hidden)
	s.host.Open()
	s.startTray()
	s.goWhile("notifications", func() { s.startNotices(n) })
	s.goWhile("signals", func() { s.untilSignal(signals) })
	s.goWhile("looking after the page", s.lookAfterPage)
}

// showsWhenReady reports whether the window waits hidden for its page, so that nothing white flashes. On Linux the
// library shows a window that is to be hidden for a moment, which is just that flash, and the background colour is
// enough.
func (s *shell) showsWhenReady() bool { return runtime.GOOS != "linux" && !s.flags.hidden }

// pageReady is called whenever the page was loaded.
func (s *shell) pageReady() {
	s.mu.Lock()
	first := !s.loaded
	s.loaded = true
	hidden, w := s.hidden, s.window
	s.mu.Unlock()
	if first && !hidden && s.showsWhenReady() {
		w.Show()
	}
	w.Watch(func() { s.guarded("looking after the window", s.report) })
	s.report()
}

// catchSignals returns the signals that ask for the end. The library listens too, but takes them as if the owner had
// closed the window, and writes to the terminal: it is not given them any more. A signal in the moment between the
// two ends the program, which has nothing open yet.
func catchSignals() chan os.Signal {
	caught := make(chan os.Signal, 1)
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	return caught
}

// untilSignal ends the app on such a signal.
func (s *shell) untilSignal(caught chan os.Signal) {
	defer signal.Stop(caught)
	select {
	case <-caught:
		s.quit()
	case <-s.ctx.Done():
	}
}

// report tells the core whether the window is open before the owner.
func (s *shell) report() { s.host.SetWindow(true, s.isOpen()) }

func (s *shell) isOpen() bool {
	s.mu.Lock()
	hidden, w := s.hidden, s.window
	s.mu.Unlock()
	return !hidden && !w.Minimised()
}

// shutdown is called once, after the window is gone. What waits is kept.
func (s *shell) shutdown() {
	s.stop()
	s.mu.Lock()
	icon, board := s.tray, s.notices
	s.window = noWindow{} // the web view is gone; nothing may be sent to it any more
	s.mu.Unlock()
	icon.Close()
	s.host.Close()
	select {
	case <-bridge.Go(s.log, "waiting for the end", s.running.Wait):
	case <-time.After(endWait):
		s.log.Error("something of the app did not end in time")
	}
	board.Close()
}
