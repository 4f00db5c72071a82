package tray

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	full := map[string]string{
		"DISPLAY": ":0", "HOME": "/home/a", "PATH": "/home/a/bin", "LD_PRELOAD": "/tmp/x.so", "GTK_MODULES": "x", "GTK_PATH": "/tmp",
		"ANTHROPIC_API_KEY": "secret", "WAYLAND_DISPLAY": "", "TEMP": `C:\Temp`, "TMPDIR": "/var/folders/x", "DYLD_INSERT_LIBRARIES": "x",
	}
	lookup := func(name string) (string, bool) { value, ok := full[name]; return value, ok }
	for system, want := range map[string][]string{
		"linux":   {"DISPLAY=:0", "HOME=/home/a", "PATH=/usr/bin:/bin", "NO_AT_BRIDGE=1"},
		"darwin":  {"HOME=/home/a", "TMPDIR=/var/folders/x"},
		"windows": {`TEMP=C:\Temp`},
		"plan9":   nil,
	} {
		if diff := cmp.Diff(want, environment(system, lookup)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", system, diff)
		}
	}
}
