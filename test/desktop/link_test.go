//go:build window

package desktop

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A link from a browser or a terminal opens the card it names, through the handler that an installation registers. It
// only navigates; a link to nothing is a quiet notice.
func TestLinkOpensItsCard(t *testing.T) {
	d := newDesk(t, "")
	install := exec.Command("../../build/linux/install.sh")
	install.Env = append(os.Environ(), "PREFIX="+os.Getenv("HOME")+"/.local")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	w := d.start()
	a := d.agent()
	a.propose("bash", map[string]any{"command": "touch first.txt"}, map[string]any{"id": "first"})
	a.propose("bash", map[string]any{"command": "touch second.txt"}, map[string]any{"id": "second"})
	second := a.heard("that it waits", func(e event) bool { return e.ID == "second" && e.Event == "admitted" })
	w.choose("touch first.txt")

	// With a card open, a link never takes its place by itself: a press that was meant for the one would answer the other.
	d.open(t, "countersign://approval/"+second.Question)
	w.press("Open")
	row := w.wait("the row of the second, selected", func(n node) bool {
		return (n.Role == "list item" || n.Role == "option") && strings.Contains(n.Name+n.Text, "touch second.txt") && n.is("selected")
	})
	if !row.is("showing") {
		t.Error("its row is out of sight")
	}
	d.open(t, "countersign://approval/00000000-0000-7000-8000-000000000000")
	w.wait("a notice about a link to nothing", func(n node) bool { return strings.Contains(strings.ToLower(n.Name+n.Text), "link") })
	w.decide("Deny", a, "that the second was denied", func(e event) bool { return e.ID == "second" && e.Outcome == "refused" })
}

func (d *testDesk) open(t *testing.T, url string) {
	t.Helper()
	cmd := exec.Command("xdg-open", url)
	cmd.Env = d.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("xdg-open %s: %v\n%s", url, err, out)
	}
}
