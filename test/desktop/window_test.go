//go:build window

package desktop

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// onScreen is where the desk's window stands, as "x y": its frame's corner as the X server knows it.
func onScreen() (string, error) {
	out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Countersign").Output()
	ids := strings.Fields(string(out))
	if err != nil || len(ids) == 0 {
		return "", fmt.Errorf("the window is not on the screen: %w", err)
	}
	out, err = exec.Command("xdotool", "getwindowgeometry", "--shell", ids[0]).Output()
	if err != nil {
		return "", err
	}
	var x, y int
	for _, line := range strings.Fields(string(out)) {
		_, _ = fmt.Sscanf(line, "X=%d", &x)
		_, _ = fmt.Sscanf(line, "Y=%d", &y)
	}
	return fmt.Sprint(x, " ", y), nil
}

// wmctrl asks the window manager.
func wmctrl(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("wmctrl", args...).CombinedOutput(); err != nil {
		t.Fatalf("wmctrl %v: %v %s", args, err, out)
	}
}

// TestWindowKeepsItsPlace: a window that came back from the tray was placed anew by the window manager, above or far
// from where its owner had put it.
func TestWindowKeepsItsPlace(t *testing.T) {
	d := newDesk(t, "")
	d.start().inbox()
	item := trayItem(t)
	open := trayWaits(t, item, "Open Countersign")
	wmctrl(t, "-r", "Countersign", "-e", "0,-1,-1,900,600") // it fits beside the panel wherever it is put
	var last string
	for _, to := range []string{"60,40", "210,130"} {
		before := last
		wmctrl(t, "-r", "Countersign", "-e", "0,"+to+",-1,-1")
		comes(t, "the window is at "+to, func() bool {
			now, err := onScreen()
			last = now
			return err == nil && now != before
		})
		for range 2 {
			wmctrl(t, "-c", "Countersign")
			comes(t, "the window is hidden", func() bool { return !shown() })
			trayClick(t, item, open)
			comes(t, "the window is back", shown)
			comes(t, "it is where it was, at "+last, func() bool {
				now, err := onScreen()
				return err == nil && now == last
			})
		}
	}
}

// TestMinimisedIsNotOpen: while the window is before the owner no terminal answers. The core hears of a window that
// is minimised and of one that comes back when that happens: nothing looks for it, so that an idle desk rests.
func TestMinimisedIsNotOpen(t *testing.T) {
	d := newDesk(t, "")
	d.start().inbox()
	a := d.agent()
	a.propose("bash", map[string]any{"command": "touch one.txt"}, map[string]any{"id": "one"})
	asked := a.heard("that it waits", func(e event) bool { return e.ID == "one" && e.Event == "admitted" })
	isOpen := func() bool {
		out, err := d.countersign("answer", asked.Question, "deny") // not from a terminal: it never answers
		if err == nil {
			t.Fatalf("a program answered: %s", out)
		}
		return strings.Contains(out, "window is open")
	}
	comes(t, "the window is open", isOpen)
	id := windowID(t)
	if out, err := exec.Command("xdotool", "windowminimize", id).CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v %s", err, out)
	}
	comes(t, "a minimised window is not open", func() bool { return !isOpen() })
	wmctrl(t, "-a", "Countersign")
	comes(t, "it is open again", isOpen)
}

// theirs is what WebKit prints at the start, before anything of ours could keep it from that: Go's runtime handles
// the signal that WebKit would like for itself, and takes another one's place.
const theirs = "Overriding existing handler for signal 10."

// TestEndsWithoutNoise: an interrupt at the terminal left the window library's own words on it, and the looks at a
// window that was not there yet left the toolkit's.
func TestEndsWithoutNoise(t *testing.T) {
	d := newDesk(t, "")
	d.launch() // not read over the accessibility bus, which the toolkit complains about
	comes(t, "the window is there", shown)
	trayWaits(t, trayItem(t), "0 waiting")
	if err := d.desk.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := ended(t, d.desk, patience); status != 0 {
		t.Errorf("the desk ended with status %d", status)
	}
	d.desk = nil
	said, err := os.ReadFile(d.log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(said)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, theirs) {
			t.Errorf("on the terminal: %s", line)
		}
	}
}
