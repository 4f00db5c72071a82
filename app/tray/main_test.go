package tray

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// TestMain lets the test binary be a helper: it is started as one, with one argument and its directory.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == IconsFlag {
		os.Exit(realHelper(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// realHelper reports its environment as clicks on what it is shown, and leaves a file behind.
func realHelper(icons string) int {
	if err := os.WriteFile(filepath.Join(icons, "systray_left"), nil, 0o600); err != nil {
		return 1
	}
	_ = Write(os.Stdout, Report{Kind: ReportReady})
	r := NewReader(os.Stdin)
	for {
		var order Order
		if r.Read(&order) != nil {
			return 0
		}
		_ = Write(os.Stdout, Report{Kind: ReportShown, Number: order.Number})
		for _, item := range order.State.Items {
			if _, set := os.LookupEnv(item.Text); set {
				_ = Write(os.Stdout, Report{Kind: ReportClicked, ID: item.ID})
			}
		}
		_ = Write(os.Stdout, Report{Kind: ReportClicked, ID: "last"})
	}
}

func TestRealHelper(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", room)
	t.Setenv("DISPLAY", ":7")
	t.Setenv("LD_PRELOAD", "")
	t.Setenv("COUNTERSIGN_PASSPHRASE_FILE", "/secret")
	events := make(chan Event, 10)
	tray := Start(Options{Program: self, OnEvent: func(e Event) { events <- e }})
	defer tray.Close()
	var state State
	for _, name := range []string{"DISPLAY", "LD_PRELOAD", "COUNTERSIGN_PASSPHRASE_FILE", "PATH", "last"} {
		state.Items = append(state.Items, Item{ID: name, Text: name, Enabled: true})
	}
	tray.Set(state)
	var got []string
	for len(got) == 0 || got[len(got)-1] != "last" {
		select {
		case e := <-events:
			got = append(got, e.ID)
		case <-time.After(20 * time.Second):
			t.Fatalf("no more events after %q", got)
		}
	}
	if want := []string{"DISPLAY", "PATH", "last"}; thisSystem == "linux" && !cmp.Equal(want, got) {
		t.Errorf("the helper has %q, want %q", got, want)
	}
	if made, _ := filepath.Glob(filepath.Join(room, "countersign-tray-*")); len(made) != 1 {
		t.Errorf("directories of icons: %q", made)
	}
	tray.Close()
	if left, err := os.ReadDir(room); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestHelperThatIsNotThere(t *testing.T) {
	room := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", room)
	status := make(chan string, 10)
	tray := Start(Options{
		Program: filepath.Join(room, "countersign-tray"), OnStatus: func(available bool, code string) { status <- fmt.Sprint(available, " ", code) },
	})
	defer tray.Close()
	if got := <-status; got != "false "+CodeMissing {
		t.Errorf("status %s", got)
	}
	if left, _ := os.ReadDir(room); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLayoutIsWhole(t *testing.T) {
	seen := map[Slot]bool{}
	for _, place := range Layout {
		if seen[place.Slot] || place.Slot == "" || place.Above != "" && !seen[place.Above] {
			t.Errorf("%+v: named twice, not at all, or before the line it is under", place)
		}
		if place.Above != "" && place.Separated {
			t.Errorf("%+v: the library has no separators in submenus", place)
		}
		seen[place.Slot] = true
	}
	for _, item := range Lines("en", Model{Newest: make([]Question, 3)}).Items {
		if !seen[item.Slot] {
			t.Errorf("%s has no place", item.Slot)
		}
	}
}
