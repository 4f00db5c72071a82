package core

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/backend/server"
	"countersign/backend/wire"
)

func TestEnvironmentOfAnAncestor(t *testing.T) {
	self, err := server.Self()
	if err != nil {
		t.Fatal(err)
	}
	env, err := environmentOf(self.Chain[0])
	if err != nil || len(env) == 0 {
		t.Fatalf("of this process: %d variables, %v", len(env), err)
	}
	other := self.Chain[0]
	other.Start++
	if _, err := environmentOf(other); !errors.Is(err, errNotOurs) {
		t.Errorf("of a process with another start: %v", err)
	}
	if _, err := environmentOf(wire.Process{PID: 1 << 30}); !errors.Is(err, errNotOurs) {
		t.Errorf("of no process: %v", err)
	}
	file, found := look(os.TempDir())
	if !found || !file.mode.IsDir() {
		t.Errorf("look at the temporary directory: %+v, %v", file, found)
	}
}

func TestListenerOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for _, name := range []string{path, "@" + path} {
		if _, there := listenerOn(name); there {
			t.Errorf("%s: somebody listens", name)
		}
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		// This process is no display of a seat, whoever runs the test.
		if got, there := listenerOn(name); !there || got != (listener{uid: os.Getuid()}) {
			t.Errorf("%s: %+v, %t", name, got, there)
		}
	}
	began, ok := startOf(os.Getpid())
	if above, found := startOf(os.Getppid()); !ok || !found || began < above {
		t.Errorf("started at %v, the process above at %v", began, above)
	}
}

func TestReadSession(t *testing.T) {
	const session = "# This is private data. Do not parse.\nUID=1000\nUSER=me\nACTIVE=1\nSTATE=active\nREMOTE=0\nTYPE=wayland\nCLASS=user\nSEAT=seat0\nLEADER=1234\n"
	for name, tt := range map[string]struct {
		text string
		uid  int
		ok   bool
	}{
		"a login to a screen": {session, 1000, true},
		"another account's":   {session, 100, false},
		"a terminal":          {strings.Replace(session, "TYPE=wayland", "TYPE=tty", 1), 1000, false},
		"the login screen":    {strings.Replace(session, "CLASS=user", "CLASS=greeter", 1), 1000, false},
		"without a seat":      {strings.Replace(session, "SEAT=seat0\n", "", 1), 1000, false},
		"without its process": {strings.Replace(session, "LEADER=1234", "LEADER=", 1), 1000, false},
		"nothing":             {"", 1000, false},
	} {
		if leader, ok := readSession(tt.text, tt.uid); ok != tt.ok || ok && leader != 1234 {
			t.Errorf("%s: %d, %t", name, leader, ok)
		}
	}
}
