// Package notify decides when the desktop is told that something waits, and in what words. It shows nothing itself: it is
// told what happened and when, and answers what to send and what to take back.
//
// One notification stands for all that waits in a session, after a short delay, so that what is answered at once disturbs
// nobody; one reminder follows. A notification goes away when all it stands for was answered, or was shown as a card. It
// names tool and project; the command only when the owner wants that. It can deny one question and open a card, and can
// never allow: only a person's act on a shown card does. A dismissal means nothing, and so does a click on the
// notification itself, because some desktops report a dismissal as one.
//
// Limit: a notification that stands for several keeps its count until it is replaced, so that an answer to one of them
// does not make it pop up again.
package notify

import (
	"slices"
	"strconv"
	"time"
)

// The waits.
const (
	// Delay is how long a question waits before anybody is disturbed.
	Delay = 400 * time.Millisecond
	// ReminderAfter is when one reminder follows, counted from the question.
	ReminderAfter = 2 * time.Minute
)

// Question is what a notification needs to know of one.
type Question struct {
	ID      string
	Version int
	Session string
	Agent   string
	Tool    string
	Project string // its name, not its path; "" for none
	Command string // "" where the call has none
}

// Notification is one to be sent.
type Notification struct {
	ID    string // never used twice
	Title string
	Body  string
	Deny  bool // it stands for one question, which it may deny
}

// Effects are what is to be done now: first take back, then send.
type Effects struct {
	Withdraw []string
	Send     []Notification
}

// Wishes are the owner's.
type Wishes struct {
	Language string // one of i18n's
	Command  bool   // name the command, not only tool and project
}

// waiting is a question that nobody has seen yet.
type waiting struct {
	Question
	asked    time.Time
	notified bool
	reminded bool
}

// session is what stands for one session.
type session struct {
	waiting []*waiting // oldest first
	shown   string     // id of the notification on the screen, "" for none
	denies  string     // the question that it may deny, "" for none
}

// Scheduler is what is known. It is not safe for concurrent use: one goroutine owns it.
type Scheduler struct {
	wishes   Wishes
	sessions map[string]*session
	owner    map[string]string // notification id -> session, for those on the screen
	sent     int
	gone     []string // notifications to be taken back
}

// New returns a scheduler for what is waiting nowhere.
func New(w Wishes) *Scheduler {
	return &Scheduler{wishes: w, sessions: map[string]*session{}, owner: map[string]string{}}
}

// SetWishes changes the words of what is sent from now on.
func (s *Scheduler) SetWishes(w Wishes) { s.wishes = w }

// Asked tells that a question waits. One that is known already is left as it is, but for its newest version.
func (s *Scheduler) Asked(q Question, now time.Time) {
	of := s.sessions[q.Session]
	if of == nil {
		of = &session{}
		s.sessions[q.Session] = of
	}
	for _, w := range of.waiting {
		if w.ID == q.ID {
			w.Question = q
			return
		}
	}
	of.waiting = append(of.waiting, &waiting{Question: q, asked: now})
}

// Settled tells that a question was answered, ended, or shown as a card.
func (s *Scheduler) Settled(id string) {
	for name, of := range s.sessions {
		of.waiting = slices.DeleteFunc(of.waiting, func(w *waiting) bool { return w.ID == id })
		switch {
		case len(of.waiting) == 0:
			s.withdraw(of)
			delete(s.sessions, name)
		case of.denies == id:
			s.withdraw(of) // it would deny what is settled; what else waits is announced by itself
		}
	}
}

// Reset tells that what waits is exactly this, after events were missed.
func (s *Scheduler) Reset(open []Question, now time.Time) {
	still := map[string]bool{}
	for _, q := range open {
		still[q.ID] = true
	}
	var settled []string
	for _, of := range s.sessions {
		for _, w := range of.waiting {
			if !still[w.ID] {
				settled = append(settled, w.ID)
			}
		}
	}
	for _, id := range settled {
		s.Settled(id)
	}
	for _, q := range open {
		s.Asked(q, now)
	}
}

func (s *Scheduler) withdraw(of *session) {
	if of.shown == "" {
		return
	}
	s.gone = append(s.gone, of.shown)
	delete(s.owner, of.shown)
	of.shown, of.denies = "", ""
}

// due returns when the session has something to say next, zero for never.
func (of *session) due() time.Time {
	var next time.Time
	for _, w := range of.waiting {
		at := w.asked.Add(Delay)
		switch {
		case w.notified && w.reminded:
			continue
		case w.notified:
			at = w.asked.Add(ReminderAfter)
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// Next returns when Due is to be called again, zero for not before something happens.
func (s *Scheduler) Next() time.Time {
	var next time.Time
	for _, of := range s.sessions {
		if at := of.due(); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// Due returns what is to be done now. What it returns counts as done.
func (s *Scheduler) Due(now time.Time) Effects {
	var out Effects
	for _, name := range s.names() {
		of := s.sessions[name]
		if at := of.due(); at.IsZero() || at.After(now) {
			continue
		}
		reminder := true
		for _, w := range of.waiting {
			if !w.notified {
				reminder = false
				w.notified = true
			}
			if !now.Before(w.asked.Add(ReminderAfter)) {
				w.reminded = true
			}
		}
		if reminder { // one for all of them, however little the others have waited
			for _, w := range of.waiting {
				w.reminded = true
			}
		}
		s.withdraw(of)
		s.sent++
		of.shown = "countersign-" + name + "-" + strconv.Itoa(s.sent)
		s.owner[of.shown] = name
		if len(of.waiting) == 1 {
			of.denies = of.waiting[0].ID
		}
		out.Send = append(out.Send, s.words(of, reminder))
	}
	out.Withdraw, s.gone = s.gone, nil
	return out
}

// names are the sessions in a fixed order, so that what is sent does not depend on a map.
func (s *Scheduler) names() []string {
	names := make([]string, 0, len(s.sessions))
	for name := range s.sessions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
