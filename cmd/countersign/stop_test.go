package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A test request is the desk's own call and ends with it. Once stop said that what waits is kept, and after the next start
// nothing was waiting.
func TestStopWhileATestRequestWaits(t *testing.T) {
	bin, home := deskDir(t), deskHome(t, false)
	if err := os.WriteFile(filepath.Join(bin, trialFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &testCore{bin: bin, home: home}
	if out, err := typedCommand(bin, home, fakeDisplay(t), "open").CombinedOutput(); err != nil {
		t.Fatalf("open: %v\n%s", err, out)
	}
	started(t, home)
	c.asked(t, "test-request.txt")
	a := newFakeAgent(t, c)
	event := a.event("touch wanted")
	go func() { _, _ = a.hook(event) }()
	q := c.asked(t, "touch wanted")
	stop := func() string {
		t.Helper()
		out, err := c.command("stop").CombinedOutput()
		if err != nil {
			t.Fatalf("stop: %v\n%s", err, out)
		}
		return string(out)
	}
	if said := stop(); !strings.Contains(said, "The test request that waited has ended with it, unanswered. What agents wait for is kept;") {
		t.Errorf("stop said: %s", said)
	}
	if err := c.start(); err != nil { // no window, and nobody who sends a test request
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	if list := c.pending(t); len(list) != 1 || list[0].ID != q.ID {
		t.Errorf("after the next start there waits %+v", list)
	}
	if out, err := c.command("receipts", "list").CombinedOutput(); err != nil || !strings.Contains(string(out), "No receipts yet") {
		t.Errorf("receipts list: %v\n%s", err, out)
	}
	if said := stop(); strings.Contains(said, "test request") {
		t.Errorf("stop said: %s", said)
	}
}
