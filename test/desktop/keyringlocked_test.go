//go:build window

package desktop

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const secrets = "org.freedesktop.secrets"

var objectPath = regexp.MustCompile(`'(/[^']*)'`)

// lockKeyring locks the keyring that holds the desk's key, as it is after a login without a password. It is unlocked again
// for the other tests.
func lockKeyring(t *testing.T) {
	t.Helper()
	out, err := gdbus(secrets, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.ReadAlias", "default")
	collection := objectPath.FindStringSubmatch(out)
	if err != nil || collection == nil {
		t.Fatalf("the default keyring: %v %s", err, out)
	}
	t.Cleanup(func() {
		unlock := exec.Command("gnome-keyring-daemon", "--unlock", "--components=secrets")
		unlock.Stdin = strings.NewReader("pw")
		if out, err := unlock.CombinedOutput(); err != nil {
			t.Errorf("unlock the keyring: %v %s", err, out)
		}
	})
	if out, err := gdbus(secrets, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock", "['"+collection[1]+"']"); err != nil {
		t.Fatalf("lock the keyring: %v %s", err, out)
	}
}

// promptTitle is what the keyring's own prompt is called.
const promptTitle = "Unlock Login Keyring"

// The keyring is locked, and its prompt stands on the screen. The window says so and what to do; meanwhile there is no core:
// nobody is answered for, and an agent's call is denied. Once the keyring is unlocked in its prompt, the window goes on
// where it is, with what waited.
func TestKeyringLocked(t *testing.T) {
	d := newDesk(t, "")
	hook := d.installedHook(func(w *window) {
		a := d.agent()
		a.propose("bash", map[string]any{"command": "touch kept.txt"}, map[string]any{"id": "one", "tool_call": "toolu_kept", "expires_in_seconds": 600})
		a.heard("that it waits", func(e event) bool { return e.ID == "one" && e.Event == "admitted" })
		w.wait("what waits", func(n node) bool { return strings.Contains(n.Name+n.Text, "touch kept.txt") })
	})
	lockKeyring(t)
	d.launch()
	w := &window{t: t, app: windowName}
	for range 2 { // trying again before it is unlocked tells the same
		w.says("The keyring is locked")
		w.says("Unlock it, then try again. Its prompt may be behind other windows.")
		w.says("Meanwhile every call of a connected agent is refused.")
		comes(t, "the keyring's prompt is on the screen", func() bool { return titled(promptTitle) })
		nodes, err := w.tree()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			if button("Allow")(n) || button("Deny")(n) || strings.Contains(n.Name+n.Text, "touch kept.txt") {
				t.Errorf("the window shows %s %q %q", n.Role, n.Name, n.Text)
			}
		}
		if out, err := d.countersign("pending"); err == nil || !strings.Contains(out, "no core is running") {
			t.Errorf("pending: %v\n%s", err, out)
		}
		w.press("Try again")
	}
	c := d.calls(hook, "touch other.txt", nil, nil)
	if told := c.answer(); told.Permission != "deny" || !strings.Contains(told.Reason, "look at the desk's window") {
		t.Errorf("the agent was told %+v", told)
	}
	c.runs("true")

	prompted := func() error {
		if titled(promptTitle) {
			return errors.New("the prompt is still there")
		}
		return nil
	}
	for range 3 { // a prompt that has just come up may miss what is typed
		if out, err := exec.Command("xdotool", "search", "--name", promptTitle, "windowfocus", "--sync", "key", "--delay", "40", "ctrl+a", "p", "w", "Return").CombinedOutput(); err != nil {
			t.Logf("xdotool: %v %s", err, out)
		}
		if eventually(patience/10, prompted) == nil {
			break
		}
	}
	if err := prompted(); err != nil {
		t.Fatal(err)
	}
	// Where an attempt was under way it found the keyring unlocked.
	if w.wait("the inbox, or the button", func(n node) bool { return button("Inbox")(n) || button("Try again")(n) }).Name == "Try again" {
		w.press("Try again")
	}
	w.inbox()
	w.wait("what waited", func(n node) bool { return strings.Contains(n.Name+n.Text, "touch kept.txt") })
}
