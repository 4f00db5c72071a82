package app

import (
	"os"
	"time"

	"countersign/app/i18n"
	"countersign/backend/core"
	"countersign/backend/desk"
)

const (
	// missedLooks is how often the process that draws the page must be missing before it counts as lost: the web view may be
	// about to replace it.
	missedLooks = 2
	// restartAge is how long a page must have lived for the desk to start again by itself. One that dies at once would
	// otherwise do so for ever.
	restartAge = 15 * time.Second
)

// pageWatch watches the process that draws the page. Neither the web view nor the library brings another one, and the
// library does not tell: the window would stay blank while the desk goes on behind it.
type pageWatch struct {
	find   func(known int) int // the process, looked for first under a known number; 0 where there is none
	pid    int
	missed int
}

// lost reports that the process is gone for good. Where it was never found nothing is known.
func (p *pageWatch) lost() bool {
	if found := p.find(p.pid); found != 0 || p.pid == 0 {
		p.pid, p.missed = found, 0
		return false
	}
	p.missed++
	return p.missed >= missedLooks
}

// pageLost ends the app, to be started again. What waits is kept.
func (s *shell) pageLost() {
	s.mu.Lock()
	if s.quitting {
		s.mu.Unlock()
		return
	}
	w, hidden := s.window, s.hidden
	s.mu.Unlock()
	again := s.flags.demo == "" && time.Since(s.started) >= restartAge
	s.log.Error("the process that draws the page ended", "starting_again", again)
	if again {
		hidden = hidden || w.Minimised()
		s.mu.Lock()
		s.again, s.againHidden = true, hidden
		s.mu.Unlock()
	} else {
		language := s.language()
		w.Tell(i18n.T(language, "app.page_lost_title", nil), i18n.T(language, "app.page_lost_body", nil))
	}
	s.quit()
}

// startAgain starts the program anew where its page was lost; nobody else holds the desk any more.
func (s *shell) startAgain() error {
	s.mu.Lock()
	again, hidden := s.again, s.againHidden
	s.mu.Unlock()
	if !again {
		return nil
	}
	program, err := core.DeskProgram()
	if err != nil {
		return err
	}
	var args []string
	if hidden {
		args = []string{"--hidden"}
	}
	return desk.StartCore(program, args, os.Environ())
}
