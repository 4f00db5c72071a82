//go:build window

// Package desktop drives the real window on a screen of its own: Xvfb, a session bus, a keyring, a window manager, a panel
// with a tray, and a notification service. What a person would read comes through the accessibility bus, what a person
// would press goes back through it or through the X server.
package desktop

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inside says that this process runs on the screen and the bus of its own.
const inside = "COUNTERSIGN_TEST_SCREEN"

// needs are the programs of the session. build/linux/deps.sh installs them.
var needs = []string{
	"Xvfb", "dbus-run-session", "gnome-keyring-daemon", "openbox", "xfce4-panel", "xdotool", "wmctrl", "import", "gdbus", "xdg-open", "xdg-mime",
	"update-desktop-database",
}

const panelConfig = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=8;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="size" type="uint" value="28"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty"><property name="plugin-1" type="string" value="systray"/></property>
</channel>
`

// TestMain starts the screen and the bus, and runs the tests again inside them.
func TestMain(m *testing.M) {
	if os.Getenv(inside) != "" {
		os.Exit(runInside(m))
	}
	for _, program := range needs {
		if _, err := exec.LookPath(program); err != nil {
			skipAll("the program " + program + " is missing: run build/linux/deps.sh test")
		}
	}
	if out, err := exec.Command("/usr/bin/python3", "-c", `import gi; gi.require_version("Atspi", "2.0")`).CombinedOutput(); err != nil {
		skipAll("AT-SPI for Python is missing: " + strings.TrimSpace(string(out)))
	}
	status, err := outside()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(status)
}

// missing is why nothing can be tried here; every test skips with it.
var missing = os.Getenv("COUNTERSIGN_TEST_MISSING")

// skipAll runs the tests so that each is counted as skipped, by name.
func skipAll(why string) {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=none", "COUNTERSIGN_TEST_MISSING="+why)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// outside starts an X server and a bus, and this program once more inside both.
func outside() (int, error) {
	base, err := os.MkdirTemp("", "cs-screen-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(base)
	home, run := filepath.Join(base, "home"), filepath.Join(base, "run")
	panel := filepath.Join(home, ".config/xfce4/xfconf/xfce-perchannel-xml")
	for _, dir := range []string{panel, run} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return 0, err
		}
	}
	if err := os.WriteFile(filepath.Join(panel, "xfce4-panel.xml"), []byte(panelConfig), 0o600); err != nil {
		return 0, err
	}
	display, stop, err := startScreen()
	if err != nil {
		return 0, err
	}
	defer stop()
	cmd := exec.Command("dbus-run-session", append([]string{"--", os.Args[0]}, os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), inside+"="+base, "HOME="+home, "XDG_RUNTIME_DIR="+run, "DISPLAY="+display, "XDG_CURRENT_DESKTOP=XFCE",
		"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "GDK_BACKEND=x11", "NO_AT_BRIDGE=0")
	cmd.Stdout = os.Stdout
	noise := &bytes.Buffer{}
	cmd.Stderr = noise
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		fmt.Fprintf(os.Stderr, "%s\n", lastBytes(noise.Bytes(), 4000))
		return ended.ExitCode(), nil
	}
	return 0, err
}

// startScreen starts an X server on a free display.
func startScreen() (display string, stop func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", nil, err
	}
	defer read.Close()
	server := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1400x900x24", "-nolisten", "tcp")
	server.ExtraFiles = []*os.File{write}
	if err := server.Start(); err != nil {
		return "", nil, errors.Join(err, write.Close())
	}
	_ = write.Close()
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	_ = read.SetReadDeadline(time.Now().Add(20 * time.Second))
	number, err := bufio.NewReader(read).ReadString('\n') // it may come in pieces: the start of a number is another display
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the X server did not start: %w", err)
	}
	return ":" + strings.TrimSpace(number), stop, nil
}

// runInside starts what a desktop has, and runs the tests.
func runInside(m *testing.M) int {
	if missing != "" {
		return m.Run()
	}
	keyring := exec.Command("gnome-keyring-daemon", "--unlock", "--components=secrets")
	keyring.Stdin = strings.NewReader("pw")
	if err := keyring.Run(); err != nil {
		fmt.Println("the keyring did not start:", err)
		return 1
	}
	for _, service := range []func() (func(), error){startWindowManager, startPanel, startNotifications} {
		stop, err := service()
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer stop()
	}
	return m.Run()
}

func startWindowManager() (func(), error) {
	stop, err := start("openbox")
	if err != nil {
		return nil, err
	}
	return stop, eventually(20*time.Second, func() error {
		if out, err := exec.Command("wmctrl", "-m").CombinedOutput(); err != nil {
			return fmt.Errorf("there is no window manager: %s %w", out, err)
		}
		return nil
	})
}

// panelTries is how often the panel is started: now and then it comes up without its tray.
const panelTries = 4

func startPanel() (stop func(), err error) {
	for range panelTries {
		if stop, err = start("xfce4-panel", "--disable-wm-check"); err != nil {
			return nil, err
		}
		if err = eventually(10*time.Second, hasTray); err == nil {
			return stop, nil
		}
		stop()
	}
	return nil, err
}

func hasTray() error {
	out, err := gdbus("org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher", "org.freedesktop.DBus.Properties.Get",
		"org.kde.StatusNotifierWatcher", "IsStatusNotifierHostRegistered")
	if err != nil || !strings.Contains(out, "true") {
		return fmt.Errorf("the panel has no tray: %s %w", out, err)
	}
	return nil
}

func startNotifications() (func(), error) {
	found, _ := filepath.Glob("/usr/lib*/xfce4/notifyd/xfce4-notifyd")
	more, _ := filepath.Glob("/usr/lib*/*/xfce4/notifyd/xfce4-notifyd")
	if found = append(found, more...); len(found) == 0 {
		return nil, errors.New("xfce4-notifyd is missing: run build/linux/deps.sh test")
	}
	return start(found[0])
}

// start starts a program of the desktop; stop ends it.
func start(name string, args ...string) (stop func(), err error) {
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}

// gdbus calls one method on the session bus.
func gdbus(dest, path, method string, args ...string) (string, error) {
	out, err := exec.Command("gdbus", append([]string{"call", "--session", "--timeout", "5", "--dest", dest, "--object-path", path, "--method", method}, args...)...).CombinedOutput()
	return string(out), err
}

// eventually repeats check until it holds.
func eventually(limit time.Duration, check func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := check()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func lastBytes(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}
