// Command countersign-tray shows Countersign's icon and menu in the notification area. The window starts it and talks to
// it over its standard input and output, in the messages of package tray; it knows no desk, reads no file, and decides
// nothing. It ends when its input ends, however its parent died, and takes its icon files with it.
//
// It is a program of its own because the library of the tray and that of the window each want a process's main loop.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"countersign/app/tray"
)

func main() {
	closeForeign()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) != 2 || args[0] != tray.IconsFlag || !filepath.IsAbs(args[1]) {
		fmt.Fprintln(os.Stderr, "countersign-tray: the window of Countersign starts this program; it is of no use by itself")
		return tray.ExitUsage
	}
	// A parent that is gone must not end us before the icon files are. An interrupt at the terminal is meant for the
	// parent, which then closes our input.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGINT)
	if why := noDesktop(runtime.GOOS, os.Getenv); why != "" {
		fmt.Fprintln(os.Stderr, "countersign-tray:", why)
		return tray.ExitNoDesktop
	}
	out, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "countersign-tray:", err)
		return tray.ExitFault
	}
	icons := args[1]
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} { // where the library puts an icon for the panel to read
		if err := os.Setenv(name, icons); err != nil {
			fmt.Fprintln(os.Stderr, "countersign-tray:", err)
			return tray.ExitFault
		}
	}
	c := newConversation(os.Stdin, out)
	c.leave = func() { removeIcons(icons) }
	defer c.leave()
	return show(c)
}

// noDesktop says why there is nothing to show a tray on. Linux only: the toolkit would end the process without a display,
// and would start a session bus of its own when there is none.
func noDesktop(system string, env func(string) string) string {
	if system != "linux" {
		return ""
	}
	if env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "" {
		return "no display"
	}
	if env("DBUS_SESSION_BUS_ADDRESS") == "" {
		if dir := env("XDG_RUNTIME_DIR"); dir == "" {
			return "no session bus"
		} else if _, err := os.Stat(filepath.Join(dir, "bus")); err != nil {
			return "no session bus"
		}
	}
	return ""
}

// removeIcons removes the library's files and then the directory, which stays when it holds anything else.
func removeIcons(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // our parent may have removed it
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "systray_") {
			_ = os.Remove(filepath.Join(dir, entry.Name())) // what stays is the parent's to remove
		}
	}
	_ = os.Remove(dir)
}
