//go:build window

package desktop

import (
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// looks are the languages and themes that pictures are taken in. Both come from the desktop, as on a machine where nothing
// was set.
var looks = []struct {
	name        string
	environment []string
}{
	{"light-en", []string{"GTK_THEME=Adwaita"}},
	{"dark-en", []string{"GTK_THEME=Adwaita:dark"}},
	{"light-zh", []string{"GTK_THEME=Adwaita", "LC_ALL=zh_CN.UTF-8", "LANG=zh_CN.UTF-8", "LANGUAGE=zh_CN"}},
	{"dark-zh", []string{"GTK_THEME=Adwaita:dark", "LC_ALL=zh_CN.UTF-8", "LANG=zh_CN.UTF-8", "LANGUAGE=zh_CN"}},
}

// TestScreenshots takes pictures of window, tray menu and notification in both themes and languages. make screenshots keeps
// them; otherwise it is looked at that they show something, and not all the same.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("COUNTERSIGN_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, look := range looks {
		t.Run(look.name, func(t *testing.T) {
			d := newDesk(t, "")
			d.more = look.environment
			d.write(filepath.Join(d.project, "checkout.ts"), "export const fee = 3\nexport const currency = 'EUR'\n")
			w := d.start()
			item := trayItem(t)
			a := d.agent()
			a.propose("bash", map[string]any{"command": "git status && npm run migrate -- --env staging", "description": "run the staging migration"}, map[string]any{"id": "run"})
			a.propose("edit", map[string]any{"path": "checkout.ts", "old_string": "fee = 3", "new_string": "fee = 4"}, map[string]any{"id": "edit"})
			picture := func(name string, args ...string) {
				t.Helper()
				file := filepath.Join(dir, name+"-"+look.name+".png")
				args = append(append([]string{}, args...), file)
				if out, err := exec.Command("import", args...).CombinedOutput(); err != nil {
					t.Fatalf("import: %v %s", err, out)
				}
				shows(t, file, name == "window" && strings.HasPrefix(look.name, "dark"))
			}
			b := oneBubble(t)
			picture("notification", "-window", "root", "-crop", geometry(b.x-10, b.y-10, b.width+20, b.height+20))

			w.choose("checkout.ts")
			w.says("fee = 4")
			time.Sleep(2 * time.Second) // the buttons arm
			picture("edit", "-window", windowID(t))
			w.choose("npm run migrate")
			w.wait("the card of the command", func(n node) bool { return strings.Contains(n.Text, "npm run migrate") && n.Role != "list item" })
			noBubble(t)
			time.Sleep(2 * time.Second)
			picture("window", "-window", windowID(t))

			trayWaits(t, item, "2 ")
			click(t, 24, 885) // the only icon of the panel, at the bottom left
			time.Sleep(time.Second)
			picture("tray", "-window", "root", "-crop", geometry(0, 560, 520, 340))
			if out, err := exec.Command("xdotool", "key", "Escape").CombinedOutput(); err != nil {
				t.Fatalf("xdotool: %v %s", err, out)
			}
		})
	}
}

// shows checks that a picture is of something, and light or dark as it should be.
func shows(t *testing.T, file string, dark bool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	box := img.Bounds()
	seen := map[[3]uint32]bool{}
	var sum, n uint64
	for y := box.Min.Y; y < box.Max.Y; y += 3 {
		for x := box.Min.X; x < box.Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
			sum += uint64(r>>8 + g>>8 + b>>8)
			n += 3
		}
	}
	if len(seen) < 16 {
		t.Errorf("%s shows %d colours", filepath.Base(file), len(seen))
	}
	if mean := sum / n; dark && mean > 90 {
		t.Errorf("%s should be dark, and its mean is %d", filepath.Base(file), mean)
	}
}
