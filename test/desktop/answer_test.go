//go:build window

package desktop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// button reports whether n is a button whose name begins so.
func button(name string) func(node) bool {
	return func(n node) bool { return strings.Contains(n.Role, "button") && strings.HasPrefix(n.Name, name) }
}

// A person with a screen reader hears the whole card and answers it; the agent gets exactly that answer.
func TestAllowAndDenyWithANote(t *testing.T) {
	d := newDesk(t, "")
	w := d.start()
	a := d.agent()

	a.propose("bash", map[string]any{"command": "touch approved.txt && ls", "description": "make the file"}, map[string]any{"id": "one"})
	w.choose("touch approved.txt")
	w.wait("the sentence of the card", func(n node) bool {
		return n.Role == "heading" && strings.Contains(n.Name, "Claude Code wants to run a command in payments-api")
	})
	w.says("touch approved.txt && ls")
	w.says("Enforced")
	w.says(d.project)
	w.says("make the file")
	done := w.decide("Allow once", a, "that its command ran", func(e event) bool { return e.ID == "one" && e.Event == "ended" })
	if done.Exit == nil || *done.Exit != 0 || !strings.Contains(done.Output, "README.md") {
		t.Errorf("the command ended as %+v", done)
	}
	if _, err := os.Stat(filepath.Join(d.project, "approved.txt")); err != nil {
		t.Error(err)
	}

	a.propose("bash", map[string]any{"command": "touch refused.txt"}, map[string]any{"id": "two"})
	w.choose("touch refused.txt")
	w.press("Deny with note")
	note := w.wait("a field for the note", func(n node) bool {
		return (n.Role == "entry" || n.Role == "text") && n.is("showing") && n.is("enabled")
	})
	w.focus(note)
	if out, err := exec.Command("xdotool", "type", "--delay", "20", "use the staging database").CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v %s", err, out)
	}
	refused := w.decide("Deny", a, "that it was denied", func(e event) bool { return e.ID == "two" && e.Event == "decided" })
	if refused.Outcome != "refused" || refused.Comment != "use the staging database" {
		t.Errorf("the agent was told %+v", refused)
	}
	if _, err := os.Stat(filepath.Join(d.project, "refused.txt")); err == nil {
		t.Error("a denied command ran")
	}
}

// Power fails while a card waits. After the restart the same approval is there under its id, and its answer counts once.
func TestWaitingCardSurvivesAKill(t *testing.T) {
	d := newDesk(t, "")
	w := d.start()
	a := d.agent()
	a.propose("bash", map[string]any{"command": "touch kept.txt"}, map[string]any{"id": "kept", "tool_call": "toolu_kept", "expires_in_seconds": 600})
	waiting := a.heard("that it waits", func(e event) bool { return e.ID == "kept" && e.Event == "admitted" })
	w.choose("touch kept.txt")
	w.says("touch kept.txt")

	d.kill()
	w = d.start()
	w.choose("touch kept.txt")
	ended := w.decide("Allow once", a, "that it ran after the restart", func(e event) bool { return e.ID == "kept" && e.Event == "ended" })
	if ended.Call != waiting.Call {
		t.Errorf("call %s was answered, %s was asked about", ended.Call, waiting.Call)
	}
	if _, err := os.Stat(filepath.Join(d.project, "kept.txt")); err != nil {
		t.Error(err)
	}
}

// What an agent writes is shown, never obeyed: markup, terminal escapes, letters that turn the text around or that nobody
// can see, and a line of a megabyte.
func TestHostileTextIsShownEscaped(t *testing.T) {
	d := newDesk(t, "")
	w := d.start()
	a := d.agent()
	hostile := "echo '<img src=x onerror=alert(1)>' \x1b[2K \u202egnp.exe\u202c a\u200bb"
	a.propose("bash", map[string]any{"command": hostile, "description": "<b>bold</b>\u202e"}, map[string]any{"id": "h"})
	w.choose("<img src=x")
	for _, text := range []string{"<img src=x onerror=alert(1)>", "u{202E}", "u{200B}", `\e[2K`} {
		w.says(text)
	}
	nodes, err := w.tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if strings.ContainsAny(n.Name+n.Text, "\u202e\u200b\x1b") {
			t.Errorf("%s shows it as it is: %q %q", n.Role, n.Name, n.Text)
		}
	}
	// A command is shown whole, however long: at most what the system can execute.
	a.propose("bash", map[string]any{"command": "touch " + strings.Repeat("long-", 20_000)}, map[string]any{"id": "long"})
	a.heard("that the long one waits", func(e event) bool { return e.ID == "long" && e.Event == "admitted" && e.State == "waiting" })
	w.choose("long-long-")
	w.wait("its card, whole", func(n node) bool { return strings.Count(n.Text, "long-") >= 20_000 })
	w.decide("Deny", a, "that it was denied", func(e event) bool { return e.ID == "long" && e.Outcome == "refused" })

	a.propose("write", map[string]any{"path": "big.txt", "content": strings.Repeat("big-", 250_000)}, map[string]any{"id": "big"})
	a.heard("that the file of one line waits", func(e event) bool { return e.ID == "big" && e.Event == "admitted" && e.State == "waiting" })
	w.choose("big.txt")
	w.wait("its card", func(n node) bool { return n.Role == "heading" && strings.Contains(n.Name, "wants to change a file") })
	w.decide("Deny", a, "that it was denied", func(e event) bool { return e.ID == "big" && e.Outcome == "refused" })
}
