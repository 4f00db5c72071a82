package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/app/tray"
)

// TestMain lets the test binary be the helper, with a display that prints, and its parent.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == tray.IconsFlag:
		os.Exit(playHelper(os.Args[2]))
	case len(os.Args) == 2 && os.Args[1] == "parent":
		playParent()
	}
	os.Exit(m.Run())
}

type printing struct{ icons string }

// apply does what the tray's library does: it leaves a file, and prints to standard output.
func (d printing) apply(s tray.State) {
	if s.Tooltip == "panic" {
		panic("the display broke")
	}
	fmt.Println("failed to remove temp icon file")
	_ = os.WriteFile(filepath.Join(d.icons, "systray_x"), nil, 0o600)
}

func playHelper(icons string) int {
	closeForeign()
	out, err := takeStdout()
	if err != nil {
		return 1
	}
	c := newConversation(os.Stdin, out)
	c.leave = func() { removeIcons(icons) }
	over := make(chan struct{})
	c.hold(printing{icons}, func() { close(over) })
	<-over
	c.leave()
	return c.exitCode()
}

// playParent starts the helper, says where its icons are once it shows something, and then only lives.
func playParent() {
	self, _ := os.Executable()
	t := tray.Start(tray.Options{Program: self, OnStatus: func(available bool, code string) { fmt.Println(available, code) }})
	t.Set(tray.State{})
	time.Sleep(time.Hour)
}

// within asks until it is so, at most ten seconds.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within ten seconds: %s", what)
		}
	}
}

// TestNothingIsLeftWhenTheParentIsKilled: the helper sees the end of its input, ends, and takes its files with it.
func TestNothingIsLeftWhenTheParentIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	room := t.TempDir()
	parent := exec.Command(self, "parent")
	parent.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+room)
	said, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || line != "true \n" {
		t.Errorf("the parent said %q, %v", line, err)
	}
	files := func() int {
		made, _ := filepath.Glob(filepath.Join(room, "countersign-tray-*", "systray_*"))
		return len(made)
	}
	within(t, "an icon file", func() bool { return files() == 1 })
	_ = parent.Process.Kill()
	_ = parent.Wait()
	within(t, "everything is gone", func() bool {
		left, _ := os.ReadDir(room)
		return len(left) == 0
	})
}

// startHelper starts the helper as a process and returns it with what it gets and says.
func startHelper(t *testing.T, extra ...*os.File) (cmd *exec.Cmd, in io.WriteCloser, out *tray.Reader, icons string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	icons = filepath.Join(t.TempDir(), "icons")
	if err := os.Mkdir(icons, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, tray.IconsFlag, icons)
	cmd.ExtraFiles = extra
	in, err = cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, tray.NewReader(stdout), icons
}

func exitOf(cmd *exec.Cmd) int {
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return -2
	}
	return cmd.ProcessState.ExitCode()
}

// TestOnlyMessagesOnStdout: the library's complaints on standard output once ended the conversation.
func TestOnlyMessagesOnStdout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing prints to standard output there")
	}
	cmd, in, out, icons := startHelper(t)
	for number := range int64(3) {
		if err := tray.Write(in, tray.Order{Number: number + 1}); err != nil {
			t.Fatal(err)
		}
	}
	in.Close()
	got := []tray.Report{}
	for {
		var report tray.Report
		if err := out.Read(&report); err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		got = append(got, report)
	}
	// The end of the input may overtake the last reports.
	want := []tray.Report{{Kind: tray.ReportReady}, {Kind: tray.ReportShown, Number: 1}, {Kind: tray.ReportShown, Number: 2}, {Kind: tray.ReportShown, Number: 3}}
	if len(got) > len(want) || !cmp.Equal(want[:len(got)], got) {
		t.Errorf("reports %+v", got)
	}
	if code := exitOf(cmd); code != 0 {
		t.Errorf("exit %d", code)
	}
	if _, err := os.Stat(icons); !os.IsNotExist(err) {
		t.Errorf("icons are left: %v", err)
	}
}

func TestBadInputEndsTheHelper(t *testing.T) {
	for name, text := range map[string]string{
		"no message": "null\n", "cut off": `{"number":1`, "too long": strings.Repeat("x", 1<<20), "a display that breaks": `{"number":1,"state":{"tooltip":"panic"}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			cmd, in, _, icons := startHelper(t)
			_, _ = io.WriteString(in, text) // it may be gone already
			in.Close()
			if code := exitOf(cmd); code != tray.ExitFault {
				t.Errorf("exit %d", code)
			}
			if _, err := os.Stat(icons); !os.IsNotExist(err) {
				t.Errorf("icons are left: %v", err)
			}
		})
	}
}

// TestForeignDescriptorsAreClosed: a window's engine leaves pipes open for children; who waits for the end of one would
// wait as long as the helper lives.
func TestForeignDescriptorsAreClosed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	cmd, in, out, _ := startHelper(t, writing)
	writing.Close()
	var report tray.Report
	if err := out.Read(&report); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { _, err := io.ReadAll(reading); ended <- err }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the helper holds the pipe")
	}
	in.Close()
	_ = exitOf(cmd)
}

func TestClicksDoNotWait(t *testing.T) {
	var out bytes.Buffer
	c := newConversation(strings.NewReader(""), &out)
	for range 10 * mostReports {
		c.clicked("open") // nobody writes them yet
	}
	if len(c.reports) != mostReports {
		t.Errorf("%d reports are kept", len(c.reports))
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {tray.IconsFlag}, {tray.IconsFlag, "relative"}, {"--help"}, {tray.IconsFlag, "/tmp", "more"}} {
		if code := run(args); code != tray.ExitUsage {
			t.Errorf("%q: exit %d", args, code)
		}
	}
}

func TestNoDesktop(t *testing.T) {
	room := t.TempDir()
	if err := os.WriteFile(filepath.Join(room, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, system string
		env          map[string]string
		want         string
	}{
		{"nothing", "linux", nil, "no display"},
		{"a display alone", "linux", map[string]string{"DISPLAY": ":0"}, "no session bus"},
		{"an empty runtime directory", "linux", map[string]string{"DISPLAY": ":0", "XDG_RUNTIME_DIR": t.TempDir()}, "no session bus"},
		{"both", "linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}, ""},
		{"the user's bus", "linux", map[string]string{"DISPLAY": ":0", "XDG_RUNTIME_DIR": room}, ""},
		{"elsewhere", "windows", nil, ""},
	} {
		if got := noDesktop(tt.system, func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
