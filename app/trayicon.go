package app

import (
	"context"

	"countersign/app/bridge"
	"countersign/app/tray"
	"countersign/backend/core"
	"countersign/backend/wire"
)

// codeNoTrayHost says that this desktop draws no tray icons.
const codeNoTrayHost = "no_tray_host"

// The pauses that the tray offers, in seconds.
const (
	pauseShort = 15 * 60
	pauseLong  = 60 * 60
)

// trayIcon is the icon in the tray.
type trayIcon interface {
	Set(tray.State)
	Status() (available bool, code string)
	Close()
}

// noTray stands for a tray that is not there.
type noTray struct{}

func (noTray) Set(tray.State)         {}
func (noTray) Status() (bool, string) { return false, codeNoTrayHost }
func (noTray) Close()                 {}

// startTray starts the helper where something would draw its icon.
func (s *shell) startTray() {
	if !s.canTray() {
		if s.desktop.trayHost {
			s.host.SetTray(bridge.Part{Code: tray.CodeMissing})
		}
		return
	}
	program, err := core.TrayProgram()
	if err != nil {
		s.log.Error("find the tray's program", "error", err)
		return
	}
	icon := tray.Start(tray.Options{
		Program: program, Log: s.log,
		OnEvent: func(e tray.Event) { s.guarded("a click in the tray", func() { s.clicked(e) }) },
		OnStatus: func(available bool, code string) {
			s.guarded("the tray's status", func() { s.trayChanged(available, code) })
		},
	})
	s.mu.Lock()
	s.tray = icon
	s.mu.Unlock()
	s.follower.look()
}

// trayShows reports whether the window may hide, because the tray is there to bring it back.
func (s *shell) trayShows() bool {
	s.mu.Lock()
	icon := s.tray
	s.mu.Unlock()
	available, _ := icon.Status()
	return available
}

// trayChanged tells the page, and brings the window back to where it can be found when the tray went away: minimised,
// because nobody asked to see it.
func (s *shell) trayChanged(available bool, code string) {
	s.host.SetTray(bridge.Part{Available: available, Code: code})
	s.mu.Lock()
	lost := !available && s.hidden && code != tray.CodeStarting && code != tray.CodeClosed
	if lost {
		s.hidden = false
	}
	w := s.window
	s.mu.Unlock()
	if lost {
		w.Show()
		w.Minimise()
	}
}

// clicked does what a line of the tray says. Every program of the session's bus can send a click. So it shows and
// navigates, and decides one thing, pausing, which refuses; to resume and to quit is asked for in the window. Quitting
// ends the desk only where no core of it runs, and nothing can be answered in its window.
func (s *shell) clicked(e tray.Event) {
	if question, ok := e.Question(); ok {
		s.navigate(bridge.Navigate{Page: pageInbox, Question: question})
		return
	}
	switch e.ID {
	case tray.IDOpen:
		s.show()
	case tray.IDProjects:
		s.navigate(bridge.Navigate{Page: pageProjects})
	case tray.IDSettings:
		s.navigate(bridge.Navigate{Page: pageSettings})
	case tray.IDPauseShort:
		s.pause(pauseShort)
	case tray.IDPauseLong:
		s.pause(pauseLong)
	case tray.IDPauseForever:
		s.pause(wire.PauseForever)
	case tray.IDResume:
		s.navigate(bridge.Navigate{Page: pageSettings})
	case tray.IDQuit:
		if s.host.Core() == nil {
			s.quit()
			return
		}
		s.navigate(bridge.Navigate{Page: pageQuit})
	}
}

// The pages of the window that something outside of it leads to.
const (
	pageInbox    = "inbox"
	pageProjects = "projects" // with the rules
	pageSettings = "settings"
	pageQuit     = "quit" // a part of the settings
)

func (s *shell) pause(seconds int) {
	c := s.host.Core()
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, handOverTimeout)
	defer cancel()
	if err := bridge.Call(ctx, c, wire.ActionPauseDesk, wire.PauseDesk{Seconds: seconds}, nil); err != nil {
		s.log.Error("pause the desk", "error", err)
	}
}
