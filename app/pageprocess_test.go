package app

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPageWatch: after the death of WebKit's process the window stayed blank, and the desk went on behind it
// unnoticed. It was noticed by looking every two seconds, which kept an idle desk from resting: between its start
// and its end nothing looks.
func TestPageWatch(t *testing.T) {
	gone := func(n int) []int { return make([]int, n) }
	for _, tt := range []struct {
		name  string
		finds []int
		waits []int
		lost  bool
	}{
		{"never found", gone(pageStartLooks), nil, false},
		{"comes late, and is gone", slices.Concat(gone(3), []int{7}, gone(pageAgainLooks)), []int{7}, true},
		{"replaced, and then gone", slices.Concat([]int{7}, gone(2), []int{8}, gone(pageAgainLooks)), []int{7, 8}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var looks int
				var waits []int
				watch := pageWatch{
					find: func() int { looks++; return tt.finds[looks-1] },
					wait: func(_ context.Context, pid int) { waits = append(waits, pid) },
				}
				if lost := watch.lost(t.Context()); lost != tt.lost {
					t.Errorf("lost: %t", lost)
				}
				if diff := cmp.Diff(tt.waits, waits); diff != "" || looks != len(tt.finds) {
					t.Errorf("%d looks of %d; waited for (-want +got):\n%s", looks, len(tt.finds), diff)
				}
			})
		})
	}
	t.Run("the end of the app", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			looks := 0
			watch := pageWatch{find: func() int { looks++; return 7 }, wait: func(ctx context.Context, _ int) { <-ctx.Done() }}
			time.AfterFunc(24*time.Hour, stop)
			if watch.lost(ctx) || looks != 1 {
				t.Errorf("lost, or looked %d times in a day", looks)
			}
		})
	})
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
