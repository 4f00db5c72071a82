//go:build window

package desktop

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// bubble is a notification on the screen. The service does not show its windows on the accessibility bus, so they are
// found and clicked through the X server; its buttons stand in one row at the bottom, as wide as the window.
type bubble struct{ id, x, y, width, height int }

// bubbles finds the notifications that can be seen.
func bubbles() []bubble {
	out, _ := exec.Command("xdotool", "search", "--onlyvisible", "--class", "xfce4-notifyd").Output()
	var found []bubble
	for _, id := range strings.Fields(string(out)) {
		geometry, err := exec.Command("xdotool", "getwindowgeometry", "--shell", id).Output()
		if err != nil {
			continue // it went away
		}
		var b bubble
		for _, line := range strings.Fields(string(geometry)) {
			_, _ = fmt.Sscanf(line, "WINDOW=%d", &b.id)
			_, _ = fmt.Sscanf(line, "X=%d", &b.x)
			_, _ = fmt.Sscanf(line, "Y=%d", &b.y)
			_, _ = fmt.Sscanf(line, "WIDTH=%d", &b.width)
			_, _ = fmt.Sscanf(line, "HEIGHT=%d", &b.height)
		}
		if b.width > 100 && b.height > 50 {
			found = append(found, b)
		}
	}
	return found
}

func oneBubble(t *testing.T) bubble {
	t.Helper()
	var b bubble
	if err := eventually(patience, func() error {
		found := bubbles()
		if len(found) != 1 {
			return fmt.Errorf("%d notifications are on the screen, not one", len(found))
		}
		b = found[0]
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// It slides and fades in: it is pressed when it has come to rest.
	for range 20 {
		time.Sleep(400 * time.Millisecond)
		found := bubbles()
		if len(found) == 1 && found[0] == b {
			break
		}
		if len(found) == 1 {
			b = found[0]
		}
	}
	return b
}

func noBubble(t *testing.T) {
	t.Helper()
	if err := eventually(patience, func() error {
		if len(bubbles()) > 0 {
			return errors.New("a notification is still on the screen")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// press clicks the button of a column. The library adds one of its own before ours.
func (b bubble) press(t *testing.T, column, columns int) {
	t.Helper()
	for range 3 { // a service that is still drawing does not take a click
		click(t, b.x+b.width*(2*column+1)/(2*columns), b.y+b.height-28)
		if eventually(3*time.Second, func() error {
			if found := bubbles(); slices.Contains(found, b) {
				return errors.New("it is still there")
			}
			return nil
		}) == nil {
			return
		}
	}
}

// dismiss clicks beside the buttons.
func (b bubble) dismiss(t *testing.T) {
	t.Helper()
	click(t, b.x+b.width/2, b.y+24)
}

func click(t *testing.T, x, y int) {
	t.Helper()
	for _, args := range [][]string{{"mousemove", fmt.Sprint(x), fmt.Sprint(y)}, {"click", "1"}, {"mousemove", "5", "5"}} {
		if out, err := exec.Command("xdotool", args...).CombinedOutput(); err != nil {
			t.Fatalf("xdotool %v: %v %s", args, err, out)
		}
		time.Sleep(150 * time.Millisecond) // a person's hand
	}
}

// overheard is what programs say to the notification service.
type overheard struct {
	sync.Mutex
	bytes.Buffer
}

func (o *overheard) Write(p []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	return o.Buffer.Write(p)
}

func (o *overheard) text() string {
	o.Lock()
	defer o.Unlock()
	return o.String()
}

func listen(t *testing.T) *overheard {
	t.Helper()
	o := &overheard{}
	cmd := exec.Command("dbus-monitor", "--session", "destination=org.freedesktop.Notifications,member=Notify")
	cmd.Stdout = o
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return o
}

// A notification can open the card and can deny. Dismissing it decides nothing, and it goes away when the card was
// answered elsewhere.
func TestNotificationDenies(t *testing.T) {
	d := newDesk(t, "")
	said := listen(t)
	d.launch("--hidden")
	trayItem(t) // the desk is up
	a := d.agent()

	a.propose("bash", map[string]any{"command": "touch one.txt"}, map[string]any{"id": "one"})
	oneBubble(t).press(t, 2, 3) // Default, Review, Deny
	a.heard("that it was denied", func(e event) bool { return e.ID == "one" && e.Outcome == "refused" })
	noBubble(t)
	if text := said.text(); !strings.Contains(text, "Claude Code") || !strings.Contains(text, "payments-api") ||
		strings.Contains(text, "touch one.txt") || strings.Contains(text, "Allow") {
		t.Errorf("the notification said:\n%s", text)
	}

	a.propose("bash", map[string]any{"command": "touch two.txt"}, map[string]any{"id": "two"})
	oneBubble(t).dismiss(t)
	noBubble(t)
	if out, err := d.countersign("pending", "--json"); err != nil || !strings.Contains(out, "touch two.txt") {
		t.Fatalf("after the dismissal: %v\n%s", err, out)
	}
	if shown() {
		t.Error("dismissing a notification opened the window")
	}

	a.propose("bash", map[string]any{"command": "touch three.txt"}, map[string]any{"id": "three"})
	oneBubble(t).press(t, 1, 2) // Default, Review: it stands for two by now, which are not denied at once
	w := &window{t: t, app: windowName}
	w.wait("the card", func(n node) bool { return n.Role == "heading" && strings.Contains(n.Name, "wants to run a command") })
	noBubble(t)
	if out, err := d.countersign("pending", "--json"); err != nil || !strings.Contains(out, "touch two.txt") || !strings.Contains(out, "touch three.txt") {
		t.Fatalf("after looking: %v\n%s", err, out)
	}
}

// geometry is a part of the screen as ImageMagick names it.
func geometry(x, y, width, height int) string {
	return fmt.Sprintf("%dx%d+%d+%d", width, height, x, y)
}

// windowID is the X server's number of the desk's window.
func windowID(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Countersign").Output()
	ids := strings.Fields(string(out))
	if err != nil || len(ids) == 0 {
		t.Fatalf("the window is not on the screen: %v", err)
	}
	return ids[0]
}
