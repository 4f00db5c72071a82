package app

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPageWatch: after the death of WebKit's process the window stayed blank, and the desk went on behind it unnoticed.
func TestPageWatch(t *testing.T) {
	for _, tt := range []struct {
		name  string
		finds []int
		want  []bool
	}{
		{"never found", []int{0, 0, 0}, []bool{false, false, false}},
		{"there", []int{7, 7, 7}, []bool{false, false, false}},
		{"gone", []int{0, 7, 0, 0}, []bool{false, false, false, true}},
		{"replaced", []int{7, 0, 8, 0, 0}, []bool{false, false, false, false, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := 0
			watch := pageWatch{find: func(int) int { i++; return tt.finds[i-1] }}
			var got []bool
			for range tt.finds {
				got = append(got, watch.lost())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPageLost(t *testing.T) {
	for _, tt := range []struct {
		name          string
		flags         flags
		age           time.Duration
		hidden        bool
		done          []string
		again, asLeft bool
	}{
		{"starts again", flags{}, restartAge, false, []string{"quit"}, true, false},
		{"stays hidden", flags{}, restartAge, true, []string{"quit"}, true, true},
		{"one that dies at once is told of", flags{}, 0, false, []string{"tell", "quit"}, false, false},
		{"a throw-away desk too", flags{demo: "/x"}, restartAge, false, []string{"tell", "quit"}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, tt.flags, true)
			s.started = time.Now().Add(-tt.age)
			s.hidden = tt.hidden
			s.pageLost()
			s.pageLost() // the next look comes before the end
			if diff := cmp.Diff(tt.done, s.window.took()); diff != "" {
				t.Errorf("done to the window (-want +got):\n%s", diff)
			}
			if s.again != tt.again || s.againHidden != tt.asLeft {
				t.Errorf("again %t, hidden %t", s.again, s.againHidden)
			}
		})
	}
}
