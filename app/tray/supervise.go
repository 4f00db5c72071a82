package tray

import (
	"io"
	"time"
)

const (
	firstPause  = 500 * time.Millisecond // before a helper is started again; doubled each time
	longestWait = 30 * time.Second
	longEnough  = time.Minute // a helper that lived so long did not fail quickly
	mostQuick   = 5           // quick ends in a row until we give up
	restAfter   = time.Minute // after giving up, the next Set that comes later than this tries again
)

// process is a running helper.
type process interface {
	streams() (io.Writer, io.Reader)
	wait() (code int, complaint string)
	close() // ends it, by force when it must, and waits
}

// supervise keeps a helper running until the tray is closed.
func (t *Tray) supervise() {
	defer close(t.done)
	quick := 0
	for {
		began := time.Now()
		code := t.run()
		if t.isClosing() {
			t.set(false, CodeClosed)
			return
		}
		if time.Since(began) >= longEnough {
			quick = 0
		}
		quick++
		switch {
		case code == CodeUnsupported:
			t.set(false, code)
			<-t.closing // it stays so, whatever is tried
		case code == "" && quick < mostQuick:
			t.set(false, CodeStarting)
			t.pause(min(firstPause<<(quick-1), longestWait))
		default:
			if code == "" {
				code = CodeFailed
			}
			t.set(false, code)
			t.options.Log.Warn("the tray is given up for now", "code", code)
			t.rest()
			quick = 0
		}
	}
}

// run runs one helper to its end. It returns a code when starting another at once makes no sense.
func (t *Tray) run() (code string) {
	if t.isClosing() {
		return ""
	}
	p, err := t.start()
	if err != nil {
		t.options.Log.Warn("the tray helper does not start", "error", err)
		return CodeMissing
	}
	why := (&session{tray: t, process: p}).run()
	exit, complaint := p.wait()
	if !t.isClosing() {
		t.options.Log.Info("the tray helper ended", "why", why, "exit", exit, "stderr", complaint)
	}
	switch exit {
	case ExitUnsupported:
		return CodeUnsupported
	case ExitNoDesktop:
		return CodeNoDesktop
	}
	return ""
}

// rest waits until a state is set that is news after a while, or the tray is closed.
func (t *Tray) rest() {
	since := time.Now()
	for {
		select {
		case <-t.closing:
			return
		case <-t.nudge:
			t.mu.Lock()
			late := t.setAt.Sub(since) >= restAfter
			t.mu.Unlock()
			if late {
				return
			}
		}
	}
}

func (t *Tray) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.closing:
	case <-timer.C:
	}
}

func (t *Tray) isClosing() bool {
	select {
	case <-t.closing:
		return true
	default:
		return false
	}
}

// set changes the status and reports a change. Only the supervisor and the session it runs call it.
func (t *Tray) set(available bool, code string) {
	t.mu.Lock()
	same := t.available == available && t.code == code
	t.available, t.code = available, code
	closed := t.closed
	t.mu.Unlock()
	if !same && !closed && t.options.OnStatus != nil {
		t.options.OnStatus(available, code)
	}
}
