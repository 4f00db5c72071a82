package notify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func question(id, session string) Question {
	return Question{ID: id, Version: 1, Session: session, Agent: "demo", Tool: "bash", Project: "payments-api", Command: "git push"}
}

// sent is what one look at the clock did, in short.
type sent struct {
	at       time.Duration
	title    string
	body     string
	deny     bool
	withdrew int
}

// play runs steps and looks at the clock exactly when the scheduler asks for it, up to the end.
func play(s *Scheduler, end time.Duration, steps map[time.Duration]func(now time.Time)) []sent {
	var out []sent
	look := func(now time.Time) {
		e := s.Due(now)
		for i, n := range e.Send {
			one := sent{at: now.Sub(start), title: n.Title, body: n.Body, deny: n.Deny}
			if i == 0 {
				one.withdrew = len(e.Withdraw)
			}
			out = append(out, one)
		}
		if len(e.Send) == 0 && len(e.Withdraw) > 0 {
			out = append(out, sent{at: now.Sub(start), withdrew: len(e.Withdraw)})
		}
	}
	for at := time.Duration(0); at <= end; at += 100 * time.Millisecond {
		now := start.Add(at)
		if step := steps[at]; step != nil {
			step(now)
			look(now)
		}
		if next := s.Next(); !next.IsZero() && !next.After(now) {
			look(now)
		}
	}
	return out
}

func TestSchedule(t *testing.T) {
	const title, again = "Waiting for your answer", "Still waiting for your answer"
	const one, two = "Demo agent asks to use bash in payments-api", "2 requests from Demo agent in payments-api"
	tests := []struct {
		name  string
		end   time.Duration
		steps func(s *Scheduler) map[time.Duration]func(time.Time)
		want  []sent
	}{
		{"after the delay, and one reminder", 10 * time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){0: func(now time.Time) { s.Asked(question("a", "1"), now) }}
		}, []sent{{Delay, title, one, true, 0}, {ReminderAfter, again, one, true, 1}}},
		{"answered at once disturbs nobody", time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){
				0:                      func(now time.Time) { s.Asked(question("a", "1"), now) },
				300 * time.Millisecond: func(time.Time) { s.Settled("a") },
			}
		}, nil},
		{"two at once are one", time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){
				0:                      func(now time.Time) { s.Asked(question("a", "1"), now) },
				200 * time.Millisecond: func(now time.Time) { s.Asked(question("b", "1"), now) },
			}
		}, []sent{{Delay, title, two, false, 0}}},
		{"a later one replaces, and can deny nothing", time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){
				0:               func(now time.Time) { s.Asked(question("a", "1"), now) },
				5 * time.Second: func(now time.Time) { s.Asked(question("b", "1"), now) },
			}
		}, []sent{{Delay, title, one, true, 0}, {5*time.Second + Delay, title, two, false, 1}}},
		{"sessions are apart", time.Second, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){0: func(now time.Time) {
				s.Asked(question("a", "1"), now)
				s.Asked(question("b", "2"), now)
			}}
		}, []sent{{Delay, title, one, true, 0}, {Delay, title, one, true, 0}}},
		{"withdrawn when answered, and no reminder", 5 * time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){
				0:           func(now time.Time) { s.Asked(question("a", "1"), now) },
				time.Second: func(time.Time) { s.Settled("a") },
			}
		}, []sent{{Delay, title, one, true, 0}, {at: time.Second, withdrew: 1}}},
		{"one of two answered leaves it in peace", time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){
				0: func(now time.Time) {
					s.Asked(question("a", "1"), now)
					s.Asked(question("b", "1"), now)
				},
				time.Second:     func(time.Time) { s.Settled("a") },
				2 * time.Second: func(time.Time) { s.Settled("b") },
			}
		}, []sent{{Delay, title, two, false, 0}, {at: 2 * time.Second, withdrew: 1}}},
		{"one reminder for all, also for what came late", 10 * time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){
				0:           func(now time.Time) { s.Asked(question("a", "1"), now) },
				time.Minute: func(now time.Time) { s.Asked(question("b", "1"), now) },
			}
		}, []sent{{Delay, title, one, true, 0}, {time.Minute + Delay, title, two, false, 1}, {ReminderAfter, again, two, false, 1}}},
		{"a snapshot settles what is not in it", time.Minute, func(s *Scheduler) map[time.Duration]func(time.Time) {
			return map[time.Duration]func(time.Time){
				0:           func(now time.Time) { s.Asked(question("a", "1"), now) },
				time.Second: func(now time.Time) { s.Reset([]Question{question("b", "2")}, now) },
			}
		}, []sent{{Delay, title, one, true, 0}, {at: time.Second, withdrew: 1}, {time.Second + Delay, title, one, true, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Wishes{Language: "en"})
			if diff := cmp.Diff(tt.want, play(s, tt.end, tt.steps(s)), cmp.AllowUnexported(sent{})); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRespond(t *testing.T) {
	tests := []struct {
		name      string
		questions []string
		before    func(s *Scheduler, n *Notification)
		action    string
		want      Act
	}{
		{"review opens the card", []string{"a"}, nil, ActionReview, Act{Review: "a"}},
		{"deny denies the one", []string{"a"}, nil, ActionDeny, Act{Deny: "a", Version: 1}},
		// Linux reports a dismissal as this: it must neither decide nor raise the window.
		{"the default action is nothing", []string{"a"}, nil, "DEFAULT_ACTION", Act{}},
		{"an action that was not offered is nothing", []string{"a"}, nil, "allow", Act{}},
		{"several are not denied", []string{"a", "b"}, nil, ActionDeny, Act{}},
		{"several: review opens the oldest", []string{"a", "b"}, nil, ActionReview, Act{Review: "a"}},
		{"review opens what still waits", []string{"a", "b"}, func(s *Scheduler, _ *Notification) { s.Settled("a") }, ActionReview, Act{Review: "b"}},
		// The notification was of two; the one that remains was never offered for denial.
		{"the last of several is not denied", []string{"a", "b"}, func(s *Scheduler, _ *Notification) { s.Settled("a") }, ActionDeny, Act{}},
		{"what was taken back is nothing", []string{"a"}, func(s *Scheduler, _ *Notification) { s.Settled("a") }, ActionDeny, Act{}},
		{"what was replaced is nothing", []string{"a"}, func(s *Scheduler, _ *Notification) {
			s.Asked(question("b", "1"), start.Add(time.Second))
			s.Due(start.Add(2 * time.Second))
		}, ActionDeny, Act{}},
		{"what was never sent is nothing", []string{"a"}, func(_ *Scheduler, n *Notification) { n.ID = "made up" }, ActionDeny, Act{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Wishes{Language: "en"})
			for _, id := range tt.questions {
				s.Asked(question(id, "1"), start)
			}
			e := s.Due(start.Add(Delay))
			if len(e.Send) != 1 {
				t.Fatalf("sent %v", e)
			}
			if tt.before != nil {
				tt.before(s, &e.Send[0])
			}
			if got := s.Respond(e.Send[0].ID, tt.action); got != tt.want {
				t.Errorf("Respond = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		name   string
		wishes Wishes
		change func(q *Question)
		want   string
	}{
		{"no command unless wanted", Wishes{Language: "en"}, nil, "Demo agent asks to use bash in payments-api"},
		{"command", Wishes{Language: "en", Command: true}, nil, "Demo agent asks to use bash in payments-api\nbash: git push"},
		{"no project", Wishes{Language: "en"}, func(q *Question) { q.Project = "" }, "Demo agent asks to use bash in no project"},
		{"Chinese", Wishes{Language: "zh-CN"}, nil, "演示代理 请求在 payments-api 中使用 bash"},
		{"what cannot be seen is written out", Wishes{Language: "en", Command: true}, func(q *Question) { q.Command = "a\u202eb\x1b\u200b\nc" },
			"Demo agent asks to use bash in payments-api\nbash: a\\u{202e}b\\u{1b}\\u{200b} c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(tt.wishes)
			q := question("a", "1")
			if tt.change != nil {
				tt.change(&q)
			}
			s.Asked(q, start)
			if e := s.Due(start.Add(Delay)); len(e.Send) != 1 || e.Send[0].Body != tt.want {
				t.Errorf("sent %+v, want the body %q", e.Send, tt.want)
			}
		})
	}
}
