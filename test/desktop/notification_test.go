//go:build window

package desktop

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// notifications is the service's own window, which the accessibility bus shows like any other.
const notifications = "xfce4-notifyd"

// A notification can open the card and can deny. Dismissing it decides nothing, and it goes away when the card was
// answered elsewhere.
func TestNotificationDenies(t *testing.T) {
	d := newDesk(t, "")
	d.launch("--hidden")
	trayItem(t) // the desk is up
	a := d.agent()
	n := &window{t: t, app: notifications}

	a.propose("bash", map[string]any{"command": "touch one.txt"}, map[string]any{"id": "one"})
	n.wait("a notification", button("Deny"))
	if nodes, err := n.tree(); err != nil || strings.Contains(render(nodes), "touch one.txt") || strings.Contains(render(nodes), "Allow") {
		t.Errorf("the notification tells the command or can allow (%v):\n%s", err, render(nodes))
	}
	n.press("Deny")
	a.heard("that it was denied", func(e event) bool { return e.ID == "one" && e.Outcome == "refused" })
	n.gone("the notification", button("Deny"))

	a.propose("bash", map[string]any{"command": "touch two.txt"}, map[string]any{"id": "two"})
	body := n.wait("a second notification", func(n node) bool { return n.Role == "label" && strings.Contains(n.Name+n.Text, "payments-api") })
	clickAt(t, body) // a click on the body dismisses it
	n.gone("the second notification", button("Deny"))
	if out, err := d.countersign("pending", "--json"); err != nil || !strings.Contains(out, "touch two.txt") {
		t.Fatalf("after the dismissal: %v\n%s", err, out)
	}
	if shown() {
		t.Error("dismissing a notification opened the window")
	}

	a.propose("bash", map[string]any{"command": "touch three.txt"}, map[string]any{"id": "three"})
	n.wait("a third notification", button("Review"))
	n.press("Review")
	w := &window{t: t, app: windowName}
	w.says("touch")
	n.gone("the third notification, now that its card is shown", button("Review"))
}

func clickAt(t *testing.T, n node) {
	t.Helper()
	x, y := strconv.Itoa(n.Box[0]+n.Box[2]/2), strconv.Itoa(n.Box[1]+n.Box[3]/2)
	if out, err := exec.Command("xdotool", "mousemove", x, y).CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v %s", err, out)
	}
	time.Sleep(200 * time.Millisecond) // a person's hand
	if out, err := exec.Command("xdotool", "click", "1").CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v %s", err, out)
	}
}
