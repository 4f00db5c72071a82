package app

import (
	"context"
	"time"

	"countersign/app/bridge"
	"countersign/app/i18n"
	"countersign/backend/wire"
)

// show brings the window before the owner. It is called for a gesture outside of the window and for nothing else.
func (s *shell) show() {
	s.mu.Lock()
	if s.quitting {
		s.mu.Unlock()
		return
	}
	s.hidden = false
	w := s.window
	s.mu.Unlock()
	w.Show()
	s.host.SetWindow(true, true)
}

// hide hides the window, where a tray can bring it back.
func (s *shell) hide() {
	s.mu.Lock()
	if s.quitting {
		s.mu.Unlock()
		return
	}
	s.hidden = true
	w := s.window
	s.mu.Unlock()
	s.host.SetWindow(true, false)
	w.Hide()
}

// hideByPage is the page's wish: hidden where that is possible, else minimised, never out of reach.
func (s *shell) hideByPage() {
	if s.trayShows() {
		s.hide()
		return
	}
	s.view().Minimise()
	s.host.SetWindow(true, false)
}

// navigate shows the window at a page or a card, as soon as its page listens.
func (s *shell) navigate(to bridge.Navigate) {
	s.show()
	s.mu.Lock()
	listens := s.listens
	if !listens {
		s.wanted = &to
	}
	s.mu.Unlock()
	if listens {
		s.host.Emit(bridge.EventNavigate, to)
	}
}

// beforeClose is asked when the owner closes the window; true keeps it. With a tray the window hides and the desk goes on.
// Without one, closing ends the desk, as the owner expects of a window that is the whole program: the first attempt says
// so, because agents are refused from then on, and the next one ends it. A throw-away desk just ends.
func (s *shell) beforeClose() (keep bool) {
	if !s.guarded("closing the window", func() { keep = s.closing() }) {
		return false
	}
	return keep
}

func (s *shell) closing() (keep bool) {
	s.mu.Lock()
	quitting, told, w := s.quitting, s.told, s.window
	s.mu.Unlock()
	switch {
	case quitting, s.flags.demo != "":
		return false
	case s.trayShows():
		s.hide()
		return true
	case told:
		return false
	}
	s.mu.Lock()
	s.told, s.telling = true, true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.telling = false
	}()
	language := s.language()
	w.Tell(i18n.T(language, "app.close_told_title", nil), i18n.T(language, "app.close_told_body", nil))
	return true
}

// How long the library may take to end.
const (
	quitAgain = 500 * time.Millisecond
	// quitBlind is how often the end is not asked for because the page was never there.
	quitBlind = 20
)

// quit ends the app.
func (s *shell) quit() {
	s.mu.Lock()
	first := !s.quitting
	s.quitting = true
	telling, w, loaded := s.telling, s.window, s.loaded
	s.mu.Unlock()
	switch {
	case telling:
		// The library's loop waits inside the dialog until somebody has read it, and somebody may be far away.
		bridge.Go(s.log, "ending below a dialog", func() {
			s.shutdown()
			s.exit(0)
		})
	case loaded:
		w.Quit()
	}
	if first && !telling {
		s.goWhile("ending", s.untilEnded)
	}
}

// untilEnded asks for the end until it comes. Before its loop runs, the library loses the wish and complains; the page
// is loaded by that loop.
func (s *shell) untilEnded() {
	again := time.NewTicker(quitAgain)
	defer again.Stop()
	for n := 1; ; n++ {
		select {
		case <-s.ctx.Done():
			return
		case <-again.C:
		}
		s.mu.Lock()
		w, loaded := s.window, s.loaded
		s.mu.Unlock()
		if loaded || n > quitBlind {
			w.Quit()
		}
	}
}

// open opens a link, now or when the page is there to show it.
func (s *shell) open(url string) {
	s.mu.Lock()
	s.link = &url
	s.mu.Unlock()
	if c := s.host.Core(); c != nil {
		s.openLink(c)
	}
}

// pageListens is called when the page gets frames: a link that was given before, and where a click in the tray led,
// would have been missed.
func (s *shell) pageListens() {
	s.mu.Lock()
	s.listens = true
	wanted := s.wanted
	s.wanted = nil
	s.mu.Unlock()
	if wanted != nil {
		s.host.Emit(bridge.EventNavigate, *wanted)
	}
	s.goWhile("a link", func() {
		if c := s.host.Core(); c != nil {
			s.openLink(c)
		}
	})
}

// openLink gives the waiting link to the core, whose frame then shows the window and tells the page where to go.
func (s *shell) openLink(c bridge.Core) {
	s.mu.Lock()
	link := s.link
	s.link = nil
	s.mu.Unlock()
	if link == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, handOverTimeout)
	defer cancel()
	if err := bridge.Call(ctx, c, wire.ActionOpenLink, wire.OpenLink{URL: *link}, nil); err != nil {
		s.log.Warn("open a link", "error", err)
	}
}
