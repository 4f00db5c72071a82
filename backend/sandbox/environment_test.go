package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironmentIsComposed(t *testing.T) {
	t.Setenv("HOME", "/home/user")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("LANG", "xx_XX")
	got := Environment(EnvOptions{Home: "/h", Toolchains: []string{"/usr/local/go/bin", "relative", "/a:b", "/usr/bin"}})
	want := map[string]string{
		"PATH":  "/usr/local/go/bin:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin",
		"SHELL": "/bin/bash", "USER": "agent", "LOGNAME": "agent", "TERM": "dumb", "LANG": "C.UTF-8", "HOME": "/h",
		"GIT_TERMINAL_PROMPT": "0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = Environment(EnvOptions{User: "me", Term: "xterm", Lang: "de_DE.UTF-8", TimeZone: "Europe/Berlin", Toolchains: []string{}})
	if got["USER"] != "me" || got["TERM"] != "xterm" || got["LANG"] != "de_DE.UTF-8" || got["TZ"] != "Europe/Berlin" {
		t.Errorf("%v", got)
	}
	if got := Environment(EnvOptions{Term: "x\x00y", User: "a\nb"}); got["TERM"] != "dumb" || got["USER"] != "agent" {
		t.Errorf("%v", got)
	}
	for name := range got {
		if !slices.Contains(baseEnvironment, name) {
			t.Errorf("%s is composed and then refused", name)
		}
	}
}

func TestToolchains(t *testing.T) {
	usable := func(dir string) bool { return !strings.Contains(dir, "missing") }
	got := toolchains("/home/user/go/bin:/opt/node/bin:/usr/bin::.:/tmp/evil:/missing:/opt/node/bin/", []string{"/home/user"}, usable)
	want := append([]string{"/opt/node/bin"}, usualToolchains...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for dir, want := range map[string]string{
		"/opt/node/bin": "/opt/node", "/opt/bin": "/opt/bin", "/opt/tool": "/opt/tool", "/srv/a/b/shims": "/srv/a/b", "/bin": "/bin",
	} {
		if got := toolchainRoot(dir); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}

func TestBubblewrapIsExplained(t *testing.T) {
	for _, c := range []struct{ text, protection, fix string }{
		{"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "namespaces", fixUserns},
		{"bwrap: setting up uid map: Permission denied", "namespaces", fixUserns},
		{"bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.", "namespaces", fixUserns},
		{"bwrap: Creating new namespace failed: No space left on device", "namespaces", fixUserns},
		{"bwrap: Can't read /proc/sys/kernel/overflowuid: Permission denied", "namespaces", fixHardened},
		{"bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "mounts", fixContainer},
		{"bwrap: Unknown option --as-pid-1", "namespaces", "install a newer bubblewrap (0.4 or later)"},
		{"bwrap: something new", "mounts", fixUnknown},
		{"", "mounts", fixUnknown},
	} {
		if protection, fix := explainBubblewrap(c.text); protection != c.protection || fix != c.fix {
			t.Errorf("%q: %s, %s", c.text, protection, fix)
		}
	}
}
