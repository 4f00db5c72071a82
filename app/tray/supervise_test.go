package tray

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// player is a helper without a process: script is its side, and what it returns is its exit code.
type player struct {
	in      *io.PipeReader
	out     *io.PipeWriter
	toward  *io.PipeWriter
	from    *io.PipeReader
	ended   chan struct{}
	code    int
	closing sync.Once
}

// stuckFor is how long a helper that ignores the end of its input lives until it is killed.
const stuckFor = 2 * time.Second

func play(script func(*player) int) *player {
	p := &player{ended: make(chan struct{})}
	p.in, p.toward = io.Pipe()
	p.from, p.out = io.Pipe()
	go func() {
		p.code = script(p)
		p.out.Close()
		p.in.Close()
		close(p.ended)
	}()
	return p
}

func (p *player) streams() (io.Writer, io.Reader) { return p.toward, p.from }
func (p *player) wait() (int, string)             { <-p.ended; return p.code, "its words" }
func (p *player) close() {
	p.closing.Do(func() {
		p.toward.Close()
		select {
		case <-p.ended:
		case <-time.After(stuckFor):
			p.in.Close()
			p.from.Close()
		}
	})
	<-p.ended
}

// good is a helper that shows what it is told, and clicks what click returns.
func good(shown func(Order), click func(Order) []string) func(*player) int {
	return func(p *player) int {
		_ = Write(p.out, Report{Kind: ReportReady})
		r := NewReader(p.in)
		for {
			var order Order
			if r.Read(&order) != nil {
				return 0
			}
			if shown != nil {
				shown(order)
			}
			_ = Write(p.out, Report{Kind: ReportShown, Number: order.Number})
			if click != nil {
				for _, id := range click(order) {
					_ = Write(p.out, Report{Kind: ReportClicked, ID: id})
				}
			}
		}
	}
}

// bench runs trays whose helpers are scripts, and keeps what they reported.
type bench struct {
	mu     sync.Mutex // guards what follows
	starts int
	said   []string
	began  time.Time
}

func (b *bench) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, fmt.Sprintf("%v ", time.Since(b.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

func (b *bench) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.said
	b.said = nil
	return said
}

func (b *bench) start(t *testing.T, script func(n int) (func(*player) int, error)) *Tray {
	t.Helper()
	b.began = time.Now()
	tray := startWith(Options{
		OnEvent:  func(e Event) { b.note("clicked %s", e.ID) },
		OnStatus: func(available bool, code string) { b.note("%v %s", available, code) },
	}, func() (process, error) {
		b.mu.Lock()
		n := b.starts
		b.starts++
		b.mu.Unlock()
		play1, err := script(n)
		if err != nil {
			return nil, err
		}
		return play(play1), nil
	})
	t.Cleanup(tray.Close)
	return tray
}

func (b *bench) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, b.take()); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}

func inTime(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func TestShowsTheLastState(t *testing.T) {
	inTime(t, func(t *testing.T) {
		b, slow := &bench{}, make(chan struct{})
		tray := b.start(t, func(int) (func(*player) int, error) {
			return good(func(o Order) { <-slow; b.note("shown %d: %d", o.Number, o.State.Waiting) }, nil), nil
		})
		for n := 1; n <= 5; n++ {
			tray.Set(State{Waiting: n})
			synctest.Wait()
		}
		close(slow)
		b.want(t, "0s true ", "0s shown 1: 1", "0s shown 2: 5")
		if available, code := tray.Status(); !available || code != "" {
			t.Errorf("status %v %q", available, code)
		}
		tray.Close()
		b.want(t)
		if available, code := tray.Status(); available || code != CodeClosed {
			t.Errorf("status after Close %v %q", available, code)
		}
	})
}

func TestOnlyWhatWasOfferedIsClicked(t *testing.T) {
	inTime(t, func(t *testing.T) {
		b := &bench{}
		offer := func(id string) State {
			return State{Items: []Item{{Slot: SlotFirst, ID: id, Enabled: true}, {Slot: SlotPause, ID: "off"}, {Slot: SlotHead}}}
		}
		clicks := [][]string{{"a", "off", "", "quit", "zzz"}, {"a", "b"}, {"a", "b", "c"}}
		tray := b.start(t, func(int) (func(*player) int, error) {
			return good(nil, func(o Order) []string { return clicks[o.Number-1] }), nil
		})
		synctest.Wait()
		b.take()
		tray.Set(offer("a"))
		b.want(t, "0s clicked a")
		tray.Set(offer("b"))
		b.want(t, "0s clicked a", "0s clicked b") // the menu before may still have been open
		tray.Set(offer("c"))
		b.want(t, "0s clicked b", "0s clicked c")
	})
}

// TestSlowListener: a listener that takes its time delays clicks and nothing else; too many are dropped.
func TestSlowListener(t *testing.T) {
	inTime(t, func(t *testing.T) {
		release, clicked := make(chan struct{}), 0
		tray := startWith(Options{OnEvent: func(Event) { clicked++; <-release }}, func() (process, error) {
			return play(good(nil, func(o Order) []string {
				if o.Number > 1 {
					return nil
				}
				many := make([]string, 10*mostClicks)
				for i := range many {
					many[i] = "a"
				}
				return many
			})), nil
		})
		defer tray.Close()
		tray.Set(State{Items: []Item{{ID: "a", Enabled: true}}})
		synctest.Wait()
		tray.Set(State{Waiting: 1})
		synctest.Wait()
		if available, _ := tray.Status(); !available {
			t.Error("the tray waits for its listener")
		}
		close(release)
		synctest.Wait()
		if clicked > mostClicks+2 || clicked < mostClicks {
			t.Errorf("%d clicks were kept", clicked)
		}
	})
}

func TestRestartsWithTheState(t *testing.T) {
	inTime(t, func(t *testing.T) {
		b := &bench{}
		tray := b.start(t, func(n int) (func(*player) int, error) {
			if n == 0 {
				return func(p *player) int {
					_ = Write(p.out, Report{Kind: ReportReady})
					time.Sleep(2 * longEnough)
					return -1
				}, nil
			}
			return good(func(o Order) { b.note("shown %d", o.State.Waiting) }, nil), nil
		})
		synctest.Wait()
		time.Sleep(2*longEnough - time.Second)
		tray.Set(State{Waiting: 7})
		time.Sleep(time.Minute)
		b.want(t, "0s true ", "2m0s false tray_starting", "2m0.5s true ", "2m0.5s shown 7")
	})
}

func TestHangingHelpersAreReplaced(t *testing.T) {
	deaf := func(p *player) int { // reads nothing, and says what first returns
		_, _ = io.Copy(io.Discard, p.in)
		return -1
	}
	readyOnly := func(p *player) int {
		_ = Write(p.out, Report{Kind: ReportReady})
		return deaf(p)
	}
	stuck := func(p *player) int {
		_ = Write(p.out, Report{Kind: ReportReady})
		time.Sleep(shownWithin + stuckFor + time.Second)
		return -1
	}
	for _, tt := range []struct {
		name   string
		script func(*player) int
		want   []string
	}{
		{"never ready", deaf, []string{"20.5s true "}},
		{"never shown", readyOnly, []string{"0s true ", "10s false tray_starting", "10.5s true "}},
		{"does not even read", stuck, []string{"0s true ", "13s false tray_starting", "13.5s true "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				b := &bench{}
				tray := b.start(t, func(n int) (func(*player) int, error) {
					if n == 0 {
						return tt.script, nil
					}
					return good(nil, nil), nil
				})
				tray.Set(State{Waiting: 1})
				time.Sleep(40 * time.Second)
				b.want(t, tt.want...)
			})
		})
	}
}

func TestGivesUpAndTriesAgainLater(t *testing.T) {
	inTime(t, func(t *testing.T) {
		b := &bench{}
		tray := b.start(t, func(n int) (func(*player) int, error) {
			if n < mostQuick {
				return func(*player) int { return 1 }, nil
			}
			return good(nil, nil), nil
		})
		time.Sleep(time.Hour)
		b.want(t, "7.5s false tray_failed") // 0.5 + 1 + 2 + 4
		tray.Set(State{})
		b.want(t, "1h0m0s true ")
	})
}

// TestDoesNotTryAgainTooSoon: an app that sets a state with every question must not bring a broken helper back each time.
func TestDoesNotTryAgainTooSoon(t *testing.T) {
	inTime(t, func(t *testing.T) {
		b := &bench{}
		tray := b.start(t, func(int) (func(*player) int, error) { return func(*player) int { return 1 }, nil })
		for range 600 {
			tray.Set(State{})
			time.Sleep(time.Second)
		}
		if b.starts > 10*mostQuick {
			t.Errorf("started %d times in ten minutes", b.starts)
		}
	})
}

func TestHelpersThatWillNotDo(t *testing.T) {
	for _, tt := range []struct {
		name  string
		exit  int
		err   error
		code  string
		again bool // a later Set tries again
	}{
		{"not there", 0, errors.New("no such file"), CodeMissing, true},
		{"built without a tray", ExitUnsupported, nil, CodeUnsupported, false},
		{"no desktop", ExitNoDesktop, nil, CodeNoDesktop, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				b := &bench{}
				tray := b.start(t, func(int) (func(*player) int, error) { return func(*player) int { return tt.exit }, tt.err })
				b.want(t, "0s false "+tt.code)
				time.Sleep(time.Hour)
				tray.Set(State{})
				synctest.Wait()
				if again := b.starts > 1; again != tt.again {
					t.Errorf("started %d times", b.starts)
				}
			})
		})
	}
}

// TestNonsenseEndsTheHelper: what is no message ends that helper, not the app.
func TestNonsenseEndsTheHelper(t *testing.T) {
	inTime(t, func(t *testing.T) {
		b := &bench{}
		b.start(t, func(n int) (func(*player) int, error) {
			if n == 0 {
				return func(p *player) int {
					_ = Write(p.out, Report{Kind: ReportReady})
					_, _ = io.WriteString(p.out, "failed to remove temp icon file\n")
					_, _ = io.Copy(io.Discard, p.in)
					return 0
				}, nil
			}
			return good(nil, nil), nil
		})
		time.Sleep(time.Second)
		b.want(t, "0s true ", "0s false tray_starting", "500ms true ")
	})
}

func TestCloseAtAnyTime(t *testing.T) {
	scripts := map[string]func(*player) int{
		"ended": func(*player) int { return 1 },
		"good":  good(nil, nil),
		"deaf":  func(p *player) int { _, _ = io.Copy(io.Discard, p.in); return 0 },
		"stuck": func(*player) int { time.Sleep(time.Minute); return 0 },
	}
	for name, script := range scripts {
		for _, after := range []time.Duration{0, time.Millisecond, 600 * time.Millisecond, 15 * time.Second} {
			t.Run(fmt.Sprintf("%s after %v", name, after), func(t *testing.T) {
				inTime(t, func(t *testing.T) {
					b := &bench{}
					tray := b.start(t, func(int) (func(*player) int, error) { return script, nil })
					tray.Set(State{})
					time.Sleep(after)
					tray.Close()
					tray.Close()
					tray.Set(State{}) // late, and harmless
				})
			})
		}
	}
}
