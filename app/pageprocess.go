package app

import (
	"context"
	"os"
	"time"

	"countersign/app/i18n"
	"countersign/backend/core"
	"countersign/backend/desk"
)

const (
	// pageLook is how often it is looked for the process that draws the page, while there is none.
	pageLook = 200 * time.Millisecond
	// pageStartLooks and pageAgainLooks are how often it must be missing: at the start, where a slow machine takes
	// its time and nothing is known when it never came, and after its end, where the web view may be about to
	// replace it.
	pageStartLooks, pageAgainLooks = 300, 10
	// restartAge is how long a page must have lived for the desk to start again by itself. One that dies at once would
	// otherwise do so for ever.
	restartAge = 15 * time.Second
)

// pageWatch watches the process that draws the page. Neither the web view nor the library brings another one, and
// the library does not tell: the window would stay blank while the desk goes on behind it. While the process lives
// nothing is done: the kernel tells of its end.
type pageWatch struct {
	find func() int                         // the process; 0 where there is none
	wait func(ctx context.Context, pid int) // until it has ended, or the context
}

// lost returns true once the process is gone for good, and false when the context ended or no process was ever found.
func (p pageWatch) lost(ctx context.Context) bool {
	looks, found := pageStartLooks, false
	for {
		pid := p.search(ctx, looks)
		if pid == 0 {
			return found && ctx.Err() == nil
		}
		looks, found = pageAgainLooks, true
		if p.wait(ctx, pid); ctx.Err() != nil {
			return false
		}
	}
}

// search looks for the process until it is there, 0 where it was missing as often as that.
func (p pageWatch) search(ctx context.Context, looks int) (pid int) {
	for range looks {
		if pid = p.find(); pid != 0 || ctx.Err() != nil {
			break
		}
		pause(ctx, pageLook)
	}
	return pid
}

// lookAfterPage notices when the page is lost.
func (s *shell) lookAfterPage() {
	if (pageWatch{find: findPageProcess, wait: waitForEnd}).lost(s.ctx) {
		s.pageLost()
	}
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
