//go:build window

package desktop

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var traySlot = regexp.MustCompile(`'([^']+?)(/[^']*)?'`)

// trayMenu finds the desk's tray item and returns its bus name.
func trayItem(t *testing.T) string {
	t.Helper()
	var name string
	err := eventually(patience, func() error {
		out, err := gdbus("org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher", "org.freedesktop.DBus.Properties.Get",
			"org.kde.StatusNotifierWatcher", "RegisteredStatusNotifierItems")
		if err != nil {
			return err
		}
		found := traySlot.FindStringSubmatch(out)
		if found == nil {
			return fmt.Errorf("nothing is in the tray: %s", out)
		}
		name = found[1]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

const trayPath = "/org/ayatana/NotificationItem/systray/Menu"

func trayLayout(item string) (string, error) {
	return gdbus(item, trayPath, "com.canonical.dbusmenu.GetLayout", "0", "--", "-1", "[]")
}

var trayEntry = regexp.MustCompile(`\((\d+), \{([^}]*)\}`)

// trayNumber returns the number of the visible entry whose label holds text.
func trayNumber(layout, text string) (string, bool) {
	for _, entry := range trayEntry.FindAllStringSubmatch(layout, -1) {
		if strings.Contains(entry[2], text) && !strings.Contains(entry[2], "'visible': <false>") {
			return entry[1], true
		}
	}
	return "", false
}

// trayWaits waits until an entry is there.
func trayWaits(t *testing.T, item, text string) string {
	t.Helper()
	var number, layout string
	err := eventually(patience, func() error {
		var err error
		if layout, err = trayLayout(item); err != nil {
			return err
		}
		var ok bool
		if number, ok = trayNumber(layout, text); !ok {
			return fmt.Errorf("no entry %q in the tray's menu", text)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, layout)
	}
	return number
}

func trayClick(t *testing.T, item, number string) {
	t.Helper()
	if out, err := gdbus(item, trayPath, "com.canonical.dbusmenu.Event", number, "clicked", "<int32 0>", "0"); err != nil {
		t.Fatalf("click: %v %s", err, out)
	}
}

// shown reports whether the desk's window is on the screen.
func shown() bool {
	out, err := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Countersign").Output()
	return err == nil && len(strings.TrimSpace(string(out))) > 0
}

// The tray counts what waits, and opens what it names. It has no Allow.
func TestTrayCountsAndOpens(t *testing.T) {
	d := newDesk(t, "")
	d.launch("--hidden")
	item := trayItem(t)
	trayWaits(t, item, "0 waiting")
	if shown() {
		t.Error("a desk that was started hidden shows its window")
	}
	a := d.agent()
	a.propose("bash", map[string]any{"command": "touch one.txt"}, map[string]any{"id": "one"})
	a.propose("bash", map[string]any{"command": "touch two.txt"}, map[string]any{"id": "two"})
	trayWaits(t, item, "2 waiting")
	if layout, _ := trayLayout(item); strings.Contains(strings.ToLower(layout), "allow") {
		t.Errorf("the tray can allow:\n%s", layout)
	}
	if shown() {
		t.Error("the window raised itself when something was asked")
	}
	trayClick(t, item, trayWaits(t, item, "Open Countersign"))
	if err := eventually(patience, func() error {
		if !shown() {
			return fmt.Errorf("the window did not open")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	w := &window{t: t, app: windowName}
	w.choose("touch one.txt")
	w.decide("Deny", a, "that one was denied", func(e event) bool { return e.ID == "one" && e.Outcome == "refused" })
	trayWaits(t, item, "1 waiting")
}

// TestTrayLeadsToQuitting: a click in the tray's menu can come from any program of the session, and ended the desk. Now
// the window opens where that is asked, and a person ends it there.
func TestTrayLeadsToQuitting(t *testing.T) {
	d := newDesk(t, "")
	d.launch("--hidden")
	item := trayItem(t)
	trayWaits(t, item, "0 waiting")
	trayClick(t, item, trayWaits(t, item, "Quit"))
	w := &window{t: t, app: windowName}
	w.press("Quit Countersign")
	if status := ended(t, d.desk, patience); status != 0 {
		t.Errorf("the desk ended with status %d", status)
	}
	d.desk = nil
}
