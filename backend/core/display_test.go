package core

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/agents"
	"countersign/backend/wire"
)

// fakeFiles are the files of the tests: what stands in them is all there is.
var fakeFiles = map[string]fileFacts{
	"/tmp/.X11-unix/X0":         {mode: fs.ModeSocket | 0o777},
	"/tmp/.X11-unix/X7":         {mode: 0o600, own: true}, // no socket
	"/run/user/1000":            {mode: fs.ModeDir | 0o700, own: true},
	"/run/user/1000/wayland-0":  {mode: fs.ModeSocket | 0o755, own: true},
	"/run/user/1000/wayland-9":  {mode: fs.ModeSocket | 0o755},
	"/run/user/1000/bus":        {mode: fs.ModeSocket | 0o666, own: true},
	"/home/me/.Xauthority":      {mode: 0o600, own: true},
	"/home/me/link":             {mode: fs.ModeSymlink | 0o777, own: true},
	"/home/other/.Xauthority":   {mode: 0o600},
	"/tmp/evil":                 {mode: fs.ModeDir | 0o777, own: true},
	"/tmp/evil/wayland-0":       {mode: fs.ModeSocket | 0o777, own: true},
	"/tmp/evil/bus":             {mode: fs.ModeSocket | 0o777},
	"/tmp/private-runtime":      {mode: fs.ModeDir | 0o700, own: true},
	"/tmp/private-runtime/wl-1": {mode: fs.ModeSocket | 0o700, own: true},
}

func fakeSurroundings(environments map[int][]string) surroundings {
	return surroundings{
		variables: true, uid: 1000,
		environment: func(p wire.Process) ([]string, error) {
			if env, ok := environments[p.PID]; ok {
				return env, nil
			}
			return nil, errNotOurs
		},
		file: func(path string) (fileFacts, bool) { f, ok := fakeFiles[path]; return f, ok },
	}
}

func TestDisplayVariables(t *testing.T) {
	const x, bus = "DISPLAY=:0", "DBUS_SESSION_BUS_ADDRESS="
	tests := []struct {
		name string
		in   []string
		want []string // nil: no display
	}{
		{"nothing", nil, nil},
		{"a desktop", []string{
			x, "XAUTHORITY=/home/me/.Xauthority", "XDG_RUNTIME_DIR=/run/user/1000", bus + "unix:path=/run/user/1000/bus,guid=0123abc",
			"XDG_CURRENT_DESKTOP=ubuntu:GNOME", "XDG_SESSION_TYPE=x11", "XDG_SESSION_ID=2", "LANG=de_DE.UTF-8", "LC_TIME=C", "PATH=/evil", "LD_PRELOAD=/evil.so",
		}, []string{
			bus + "unix:path=/run/user/1000/bus,guid=0123abc", x, "LANG=de_DE.UTF-8", "LC_TIME=C", "XAUTHORITY=/home/me/.Xauthority",
			"XDG_CURRENT_DESKTOP=ubuntu:GNOME", "XDG_RUNTIME_DIR=/run/user/1000", "XDG_SESSION_ID=2", "XDG_SESSION_TYPE=x11",
		}},
		{"a screen of it", []string{"DISPLAY=:0.1"}, []string{"DISPLAY=:0.1"}},
		{"wayland", []string{"WAYLAND_DISPLAY=wayland-0", "XDG_RUNTIME_DIR=/run/user/1000"}, []string{"WAYLAND_DISPLAY=wayland-0", "XDG_RUNTIME_DIR=/run/user/1000"}},
		{"wayland in a directory of one's own", []string{"WAYLAND_DISPLAY=wl-1", "XDG_RUNTIME_DIR=/tmp/private-runtime"}, []string{"WAYLAND_DISPLAY=wl-1", "XDG_RUNTIME_DIR=/tmp/private-runtime"}},
		{"wayland in a directory others can enter", []string{"WAYLAND_DISPLAY=wayland-0", "XDG_RUNTIME_DIR=/tmp/evil"}, nil},
		{"wayland of another account", []string{"WAYLAND_DISPLAY=wayland-9", "XDG_RUNTIME_DIR=/run/user/1000"}, nil},
		{"wayland by a path", []string{"WAYLAND_DISPLAY=/run/user/1000/wayland-0", "XDG_RUNTIME_DIR=/run/user/1000"}, nil},
		{"wayland without a directory", []string{"WAYLAND_DISPLAY=wayland-0"}, nil},
		{"wayland out of its directory", []string{"WAYLAND_DISPLAY=../1000/wayland-0", "XDG_RUNTIME_DIR=/run/user/1000"}, nil},
		{"another machine", []string{"DISPLAY=host:0"}, nil},
		{"forwarded", []string{"DISPLAY=localhost:10.0"}, nil},
		{"a path", []string{"DISPLAY=/tmp/evil:0"}, nil},
		{"words behind it", []string{"DISPLAY=:0\nX"}, nil},
		{"nobody listens there", []string{"DISPLAY=:5"}, nil},
		{"no socket", []string{"DISPLAY=:7"}, nil},
		{"the first of two counts", []string{"DISPLAY=host:0", x}, nil},
		{"a dead display beside a living one", []string{"DISPLAY=:5", "WAYLAND_DISPLAY=wayland-0", "XDG_RUNTIME_DIR=/run/user/1000"}, []string{"WAYLAND_DISPLAY=wayland-0", "XDG_RUNTIME_DIR=/run/user/1000"}},
		{"a link for an authority", []string{x, "XAUTHORITY=/home/me/link"}, []string{x}},
		{"another's authority", []string{x, "XAUTHORITY=/home/other/.Xauthority"}, []string{x}},
		{"a relative authority", []string{x, "XAUTHORITY=.Xauthority"}, []string{x}},
		{"a path in two ways", []string{x, "XAUTHORITY=/home/me/../me/.Xauthority"}, []string{x}},
		{"an abstract bus", []string{x, bus + "unix:abstract=/tmp/dbus-abc,guid=1f"}, []string{bus + "unix:abstract=/tmp/dbus-abc,guid=1f", x}},
		{"a bus that starts programs", []string{x, bus + "unixexec:path=/tmp/evil"}, []string{x}},
		{"a bus on the network", []string{x, bus + "tcp:host=evil,port=1"}, []string{x}},
		{"a bus that is launched", []string{x, bus + "autolaunch:"}, []string{x}},
		{"a second bus behind the first", []string{x, bus + "unix:path=/run/user/1000/bus;unixexec:path=/tmp/evil"}, []string{x}},
		{"a bus written in escapes", []string{x, bus + "unix:path=/run/user/1000/%62us"}, []string{x}},
		{"another's bus", []string{x, bus + "unix:path=/tmp/evil/bus"}, []string{x}},
		{"a bus with more keys", []string{x, bus + "unix:path=/run/user/1000/bus,argv1=sh"}, []string{x}},
		{"a language that is a path", []string{x, "LANG=/tmp/evil", "LC_ALL=../evil"}, []string{x}},
		{"an odd name", []string{x, "LC_A B=C", "LC_=C=D"}, []string{x}},
		{"too long", []string{x, "LANG=" + strings.Repeat("a", maxVariable+1)}, []string{x}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := fakeSurroundings(nil).checked(tt.in)
			if ok != (tt.want != nil) {
				t.Errorf("ok = %v", ok)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDisplayIsReadAboveTheAgent: a repository's settings can set the environment of its agent and of everything below
// it, the hook too, so that a window would open on a display that somebody else watches.
func TestDisplayIsReadAboveTheAgent(t *testing.T) {
	hook, agent := wire.Process{PID: 40, Exe: "/opt/countersign"}, wire.Process{PID: 30, Exe: "/usr/bin/claude"}
	shell, terminal := wire.Process{PID: 20, Exe: "/bin/zsh"}, wire.Process{PID: 10, Exe: "/usr/bin/terminal"}
	inner := wire.Process{PID: 35, Exe: "/usr/bin/codex"}
	x0, evil := []string{"DISPLAY=:0"}, []string{"DISPLAY=:0", "XDG_SESSION_ID=evil"}
	tests := []struct {
		name         string
		chain        []wire.Process
		environments map[int][]string
		want         []string
	}{
		{"of the shell", []wire.Process{hook, agent, shell, terminal}, map[int][]string{40: evil, 30: evil, 20: x0}, x0},
		{"of the terminal, where the shell has none", []wire.Process{hook, agent, shell, terminal}, map[int][]string{40: evil, 30: evil, 20: {"DISPLAY=far:1"}, 10: x0}, x0},
		{"where the shell cannot be read", []wire.Process{hook, agent, shell, terminal}, map[int][]string{10: x0}, x0},
		{"none above", []wire.Process{hook, agent, shell}, map[int][]string{40: evil, 30: evil}, nil},
		{"nothing above", []wire.Process{hook, agent}, map[int][]string{40: evil, 30: evil}, nil},
		{"no agent", []wire.Process{hook, shell}, map[int][]string{40: evil, 20: x0}, nil},
		{"an agent below another", []wire.Process{hook, inner, {PID: 33, Exe: "/bin/sh"}, agent, shell}, map[int][]string{33: evil, 20: x0}, x0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := fakeSurroundings(tt.environments).above(tt.chain, agents.Known())
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
				t.Errorf("ok = %v, variables (-want +got):\n%s", ok, diff)
			}
		})
	}
	if env, ok := (surroundings{}).above(nil, agents.Table{}); !ok || env != nil {
		t.Errorf("a system without such variables: %v, %v", env, ok)
	}
}

// TestDisplayIsTheOwners: an agent left a shell behind, with the variables of a display that it had started itself, and
// that shell started the agent again: the shell was above the agent, the hook believed it, and the agent clicked in the
// window.
func TestDisplayIsTheOwners(t *testing.T) {
	const path, abstract, wayland = "/tmp/.X11-unix/X0", "@/tmp/.X11-unix/X0", "/run/user/1000/wayland-0"
	mine, system := listener{uid: 1000}, listener{uid: 0}
	x, w := []string{"DISPLAY=:0"}, []string{"WAYLAND_DISPLAY=wayland-0", "XDG_RUNTIME_DIR=/run/user/1000"}
	tests := []struct {
		name      string
		listeners map[string]listener
		in, want  []string
	}{
		{"root's server", map[string]listener{path: system, abstract: system}, x, x},
		{"root's server without an abstract name", map[string]listener{path: system}, x, x},
		{"the login screen's", map[string]listener{path: {uid: 120}}, x, x},
		{"one with a keyboard", map[string]listener{path: {uid: 1000, input: true}}, x, x},
		{"one of the login", map[string]listener{path: {uid: 1000, login: true}}, x, x},
		{"one that any process of the account started", map[string]listener{path: mine}, x, nil},
		{"one in a container of the account", map[string]listener{path: {uid: 100000}}, x, nil},
		{"another person's", map[string]listener{path: {uid: 1001, input: true}}, x, nil},
		{"nobody answers", nil, x, nil},
		{"the abstract name is somebody else's", map[string]listener{path: system, abstract: mine}, x, nil},
		{"a compositor", map[string]listener{wayland: {uid: 1000, input: true}}, w, w},
		{"a compositor without a seat", map[string]listener{wayland: mine}, w, nil},
		{"only one of two", map[string]listener{wayland: mine, path: system}, append(x, w...), append(x, "XDG_RUNTIME_DIR=/run/user/1000")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hook, agent, shell := wire.Process{PID: 40, Exe: "/opt/countersign"}, wire.Process{PID: 30, Exe: "/usr/bin/claude"}, wire.Process{PID: 20, Exe: "/bin/bash"}
			s := fakeSurroundings(map[int][]string{20: tt.in})
			s.listener = func(path string) (listener, bool) { l, ok := tt.listeners[path]; return l, ok }
			got, ok := s.above([]wire.Process{hook, agent, shell}, agents.Known())
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
				t.Errorf("ok = %v, variables (-want +got):\n%s", ok, diff)
			}
			if s.uid = 0; tt.listeners != nil {
				if _, ok := s.checked(tt.in); !ok && tt.in[0] == x[0] {
					t.Error("root's own is not believed")
				}
			}
		})
	}
}
