//go:build window

package desktop

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fileIdentity keeps the desk's key in a file.
const fileIdentity = "[identity]\nstore = \"file\"\n"

const passphrase = "three green bottles"

// bareBus is a session bus that starts nothing: no keyring, no notifications, no tray.
const bareBus = `<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

var accessibilityBus = regexp.MustCompile(`'(.*)'`)

// bare puts the desk on a session bus where nobody answers. The screen and the accessibility bus stay the ones of the test.
func (d *testDesk) bare() {
	d.t.Helper()
	out, err := gdbus("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus.GetAddress")
	found := accessibilityBus.FindStringSubmatch(out)
	if err != nil || found == nil {
		d.t.Fatalf("the accessibility bus: %v %s", err, out)
	}
	config := filepath.Join(filepath.Dir(d.project), "bus.conf")
	d.write(config, bareBus)
	bus := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--print-address=1")
	read, err := bus.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := bus.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = bus.Process.Kill()
		_ = bus.Wait()
	})
	address, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		d.t.Fatal(err)
	}
	d.more = append(d.more, "DBUS_SESSION_BUS_ADDRESS="+strings.TrimSpace(address), "AT_SPI_BUS_ADDRESS="+found[1])
}

// knowsPassphrase writes the passphrase into a file that the desk is told of.
func (d *testDesk) knowsPassphrase() {
	file := filepath.Join(filepath.Dir(d.project), "passphrase")
	d.write(file, passphrase+"\n")
	d.more = append(d.more, "COUNTERSIGN_PASSPHRASE_FILE="+file)
}

// state returns the path of a file of the state directory.
func (d *testDesk) state(name string) string {
	d.t.Helper()
	var found string
	err := filepath.WalkDir(d.home, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == name {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		d.t.Fatalf("no %s below %s: %v", name, d.home, err)
	}
	return found
}

// inbox waits until the desk is open.
func (w *window) inbox() {
	w.t.Helper()
	w.wait("the button of the inbox", button("Inbox"))
}

// ended waits until a program ended, and returns its status.
func ended(t *testing.T, cmd *exec.Cmd, limit time.Duration) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		var status *exec.ExitError
		if err != nil && !errors.As(err, &status) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		_ = cmd.Process.Kill()
		<-done
		t.Fatalf("%s did not end within %s", cmd.Args, limit)
		return -1
	}
}

// quits ends the desk as its owner does.
func (d *testDesk) quits() {
	d.t.Helper()
	if err := d.desk.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatal(err)
	}
	if status := ended(d.t, d.desk, patience); status != 0 {
		d.t.Errorf("the desk ended with status %d", status)
	}
	d.desk = nil
}

// titled reports whether the window manager knows a window of that title, minimised or not.
func titled(title string) bool {
	out, err := exec.Command("wmctrl", "-l").Output()
	return err == nil && slices.ContainsFunc(strings.Split(string(out), "\n"), func(line string) bool { return strings.HasSuffix(line, title) })
}

// comes waits until something is so.
func comes(t *testing.T, what string, is func() bool) {
	t.Helper()
	if err := eventually(patience, func() error {
		if !is() {
			return fmt.Errorf("not so: %s", what)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// typeInto types a text into a field, with the keyboard.
func (w *window) typeInto(n node, text string) {
	w.t.Helper()
	w.focus(n)
	if out, err := exec.Command("xdotool", "type", "--delay", "20", text).CombinedOutput(); err != nil {
		w.t.Fatalf("xdotool: %v %s", err, out)
	}
}

// child returns the process of that name below parent.
func child(parent int, name string) (int, bool) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parents, names := map[int]int{}, map[int]string{}
	for _, stat := range stats {
		data, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		text := string(data)
		open, end := strings.Index(text, "("), strings.LastIndex(text, ")")
		if open < 0 || end < open {
			continue
		}
		fields := strings.Fields(text[end+1:])
		pid, _ := strconv.Atoi(strings.TrimSpace(text[:open]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		names[pid] = text[open+1 : end]
	}
	for pid, is := range names {
		if !strings.HasPrefix(name, is) { // the kernel cuts names
			continue
		}
		for above := parents[pid]; above > 1; above = parents[above] {
			if above == parent {
				return pid, true
			}
		}
	}
	return 0, false
}

// killed ends a process below the desk as a fault of it does.
func (d *testDesk) killed(name string) int {
	d.t.Helper()
	var pid int
	comes(d.t, "the desk has a "+name, func() (ok bool) { pid, ok = child(d.desk.Process.Pid, name); return ok })
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
	return pid
}

// A desktop with neither tray nor notifications: the window is never out of reach, says what is missing, and says what
// closing it means before it does that.
func TestNoTrayAndNoNotifications(t *testing.T) {
	d := newDesk(t, fileIdentity)
	d.bare()
	d.knowsPassphrase()
	w := d.start("--hidden")
	w.inbox()
	if !titled("Countersign") {
		t.Error("the window cannot be reached")
	}
	w.says("This desktop shows no tray.")
	w.says("nothing will be announced")
	w.press("Dismiss")
	w.gone("the line about the tray", func(n node) bool { return strings.Contains(n.Name+n.Text, "This desktop shows no tray.") })
	w.says("nothing will be announced")
	if out, err := exec.Command("wmctrl", "-a", "Countersign").CombinedOutput(); err != nil {
		t.Fatalf("wmctrl: %v %s", err, out)
	}
	comes(t, "the window is on the screen", shown)

	closeWindow := func() {
		t.Helper()
		if out, err := exec.Command("wmctrl", "-c", "Countersign").CombinedOutput(); err != nil {
			t.Fatalf("wmctrl: %v %s", err, out)
		}
	}
	closeWindow()
	comes(t, "what closing means is said", func() bool { return titled("Closing ends Countersign") })
	if out, err := exec.Command("xdotool", "key", "Return").CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v %s", err, out)
	}
	comes(t, "the dialog is closed", func() bool { return !titled("Closing ends Countersign") })
	w.inbox()
	closeWindow()
	if status := ended(t, d.desk, patience); status != 0 {
		t.Errorf("the desk ended with status %d", status)
	}
	d.desk = nil
}

// No keyring: the page says what is missing and names the other place for the key, which is then opened with a new
// passphrase, without another start.
func TestNoKeyring(t *testing.T) {
	d := newDesk(t, "")
	d.bare()
	w := d.start()
	w.says("No keyring answers")
	w.says("gnome-keyring")
	w.says(`identity.store = "file"`)
	d.write(filepath.Join(d.home, "config", "config.toml"), fileIdentity)
	w.press("Try again")
	w.says("Choose a passphrase")
	fields := func() (found []node) {
		nodes, _ := w.tree()
		for _, n := range nodes {
			if n.Role == "password text" {
				found = append(found, n)
			}
		}
		return found
	}
	comes(t, "two fields", func() bool { return len(fields()) == 2 })
	w.typeInto(fields()[0], passphrase)
	w.typeInto(fields()[1], "three green bottle")
	w.press("Set it and open")
	w.says("The two are not the same.")
	w.typeInto(fields()[1], "s")
	w.press("Set it and open")
	w.inbox()
}

// A mistake in config.toml is named with its file and line.
func TestMistakeInTheConfiguration(t *testing.T) {
	d := newDesk(t, "# mine\n[identity]\nstroe = \"file\"\n")
	w := d.start()
	w.says("config.toml cannot be read")
	w.says(filepath.Join(d.home, "config", "config.toml") + ":3: identity.stroe")
	w.press("Try again")
	w.says("config.toml cannot be read")
	d.write(filepath.Join(d.home, "config", "config.toml"), "# mine\n")
	w.press("Try again")
	w.inbox()
}

// A damaged store is named and left as it is; with a good copy in its place the desk opens.
func TestDamagedStore(t *testing.T) {
	d := newDesk(t, "")
	d.start().inbox()
	d.quits()
	store := d.state("state.db")
	good, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	bad := slices.Clone(good)
	clear(bad[:min(len(bad), 3*4096)]) // a disk that lost the beginning
	d.write(store, string(bad))
	w := d.start()
	w.says("The store is damaged")
	w.says(store)
	if now, err := os.ReadFile(store); err != nil || string(now) != string(bad) {
		t.Errorf("the damaged store was touched: %v", err)
	}
	if err := os.Chmod(store, 0o666); err != nil {
		t.Fatal(err)
	}
	w.press("Try again")
	w.says("Other accounts may change or read a private file")
	if err := os.Chmod(store, 0o600); err != nil {
		t.Fatal(err)
	}
	d.write(store, string(good))
	w.press("Try again")
	w.inbox()
}

// A core without a window holds the desk: it is named, taken over only on demand, and what waited there waits here.
func TestTakeOver(t *testing.T) {
	d := newDesk(t, fileIdentity)
	d.knowsPassphrase()
	serve := exec.Command(filepath.Join(d.bin, "countersign"), "serve")
	serve.Env = d.env()
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ends := make(chan error, 1)
	go func() { ends <- serve.Wait() }()
	t.Cleanup(func() { _ = serve.Process.Kill() }) // it ended long ago, or failed
	if err := eventually(patience, func() error { _, err := d.countersign("pending"); return err }); err != nil {
		t.Fatal(err)
	}
	a := d.agent()
	a.propose("bash", map[string]any{"command": "touch kept.txt"}, map[string]any{"id": "one"})
	asked := a.heard("that it waits", func(e event) bool { return e.ID == "one" && e.Event == "admitted" })

	w := d.start()
	w.says("A core runs without a window")
	w.says(strconv.Itoa(serve.Process.Pid))
	w.press("End it and open here")
	w.inbox()
	select {
	case <-ends:
	case <-time.After(patience):
		t.Error("the other core goes on")
	}
	w.wait("what waited", func(n node) bool { return strings.Contains(n.Name+n.Text, "touch kept.txt") })
	if out, err := d.countersign("pending", "--json"); err != nil || !strings.Contains(out, asked.Question) {
		t.Errorf("pending: %v\n%s", err, out)
	}
}

// A second start gives way to the first, quickly and without a fault.
func TestSecondStart(t *testing.T) {
	d := newDesk(t, "")
	d.launch("--hidden")
	trayWaits(t, trayItem(t), "0 waiting")
	second := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(d.bin, "countersign-desk"), args...)
		cmd.Env = d.env()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	if status := ended(t, second("--hidden"), 5*time.Second); status != 0 || shown() {
		t.Errorf("a hidden second start ended with status %d; the window is shown: %t", status, shown())
	}
	if status := ended(t, second(), 5*time.Second); status != 0 {
		t.Errorf("the second start ended with status %d", status)
	}
	comes(t, "the first one's window is on the screen", shown)
}

// Two hooks start the desk in the same moment.
func TestTwoHiddenStartsAtOnce(t *testing.T) {
	d := newDesk(t, "")
	type end struct{ which, status int }
	ends := make(chan end, 2)
	var both [2]*exec.Cmd
	for i := range both {
		both[i] = exec.Command(filepath.Join(d.bin, "countersign-desk"), "--hidden")
		both[i].Env = d.env()
		if err := both[i].Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = both[i].Wait()
			ends <- end{i, both[i].ProcessState.ExitCode()}
		}()
	}
	running := 2
	t.Cleanup(func() {
		for _, cmd := range both {
			_ = cmd.Process.Kill()
		}
		for ; running > 0; running-- {
			<-ends
		}
	})
	select {
	case e := <-ends:
		running--
		if e.status != 0 {
			t.Errorf("the one that gave way ended with status %d", e.status)
		}
	case <-time.After(patience):
		t.Fatal("both run")
	}
	if err := eventually(patience, func() error { _, err := d.countersign("pending"); return err }); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-ends:
		running--
		t.Errorf("the other one ended too, with status %d", e.status)
	case <-time.After(time.Second):
	}
}

// What is no link shows the window and a quiet notice, however it comes, and harms nothing.
func TestMalformedLinks(t *testing.T) {
	d := newDesk(t, "")
	w := d.start("countersign://approval/../../etc/passwd")
	w.inbox()
	notice := func(n node) bool { return strings.Contains(n.Name+n.Text, "That link names nothing that is here.") }
	w.wait("a notice about the link of the start", notice)
	w.press("Dismiss")
	w.gone("the notice", notice)
	again := exec.Command(filepath.Join(d.bin, "countersign-desk"), "countersign://approval/"+strings.Repeat("A", 5000))
	again.Env = d.env()
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("a second start with a malformed link: %v\n%s", err, out)
	}
	w.wait("a notice about the link of the second start", notice)
	w.press("Dismiss")
	w.gone("the notice", notice)
	for _, tt := range []struct {
		link   string
		status int
	}{
		{"https://example.com/", 2}, {"countersign:approval", 2}, {"countersign://a b", 2}, {"countersign://\u202e", 2}, {"--hidden", 2}, {"countersign://" + strings.Repeat("a", 600), 2},
		{"countersign://nothing/here", 2}, {"countersign://approval/00000000", 1},
	} {
		cmd := exec.Command(filepath.Join(d.bin, "countersign"), "open", tt.link)
		cmd.Env = d.env()
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != tt.status || strings.Contains(string(out), "panic") {
			t.Errorf("open %.40q ended with status %d, want %d: %s", tt.link, got, tt.status, out)
		}
	}
	w.wait("a notice about the link of the command line", notice)
}

// The tray's helper is killed: it is back, with what waits.
func TestTrayHelperComesBack(t *testing.T) {
	d := newDesk(t, "")
	d.launch("--hidden")
	first := trayItem(t)
	trayWaits(t, first, "0 waiting")
	a := d.agent()
	a.propose("bash", map[string]any{"command": "touch one.txt"}, map[string]any{"id": "one"})
	trayWaits(t, first, "1 waiting")
	was := d.killed("countersign-tray")
	comes(t, "another helper runs", func() bool {
		pid, ok := child(d.desk.Process.Pid, "countersign-tray")
		return ok && pid != was
	})
	comes(t, "its icon is another one", func() bool { return trayItem(t) != first })
	trayWaits(t, trayItem(t), "1 waiting")
}

// The process that draws the page is killed right after the start: the desk says so and ends, instead of staying blank.
func TestPageProcessDiesAtOnce(t *testing.T) {
	d := newDesk(t, "")
	d.start().inbox()
	d.killed("WebKitWebProcess")
	comes(t, "it is said", func() bool { return titled("The window lost its page") })
	if out, err := exec.Command("xdotool", "key", "Return").CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v %s", err, out)
	}
	if status := ended(t, d.desk, patience); status != 0 {
		t.Errorf("the desk ended with status %d", status)
	}
	d.desk = nil
}

// Later the desk starts again by itself, and what waits is there.
func TestPageProcessDiesLater(t *testing.T) {
	d := newDesk(t, "")
	w := d.start()
	w.inbox()
	a := d.agent()
	a.propose("bash", map[string]any{"command": "touch kept.txt"}, map[string]any{"id": "one"})
	w.wait("what waits", func(n node) bool { return strings.Contains(n.Name+n.Text, "touch kept.txt") })
	time.Sleep(16 * time.Second) // so old must a page be for that (restartAge)
	first := d.desk
	d.killed("WebKitWebProcess")
	if status := ended(t, first, patience); status != 0 {
		t.Errorf("the desk ended with status %d", status)
	}
	d.desk = nil
	var next int
	comes(t, "another desk runs", func() (ok bool) { next, ok = d.another(); return ok })
	t.Cleanup(func() { _ = syscall.Kill(next, syscall.SIGKILL) })
	w.wait("what waited", func(n node) bool { return strings.Contains(n.Name+n.Text, "touch kept.txt") })
	comes(t, "its window is on the screen", shown)
}

// another returns the process of this desk that this test did not start itself.
func (d *testDesk) another() (int, bool) {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range found {
		data, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(data), "\x00"), "COUNTERSIGN_HOME="+d.home) {
			continue
		}
		dir := filepath.Dir(file)
		if exe, err := os.Readlink(filepath.Join(dir, "exe")); err == nil && filepath.Base(exe) == "countersign-desk" {
			pid, err := strconv.Atoi(filepath.Base(dir))
			return pid, err == nil
		}
	}
	return 0, false
}

// TestSignalInTheFirstSecond: a signal to end that came before the library's loop ran was lost, and the desk never
// ended.
func TestSignalInTheFirstSecond(t *testing.T) {
	d := newDesk(t, "")
	d.launch()
	comes(t, "the core runs", func() bool { _, err := d.countersign("pending"); return err == nil })
	d.quits() // while the page is not there yet
}
