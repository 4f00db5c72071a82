package config

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestResolve(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the table holds the places of Linux")
	}
	home := Dirs{
		State: "/h/.local/state/countersign", Config: "/h/.config/countersign", Runtime: "/h/.local/state/countersign/run",
	}
	tests := []struct {
		name string
		home string
		env  func(string) string
		want Dirs
	}{
		{"home directory", "", environment("HOME", "/h"), home},
		{"XDG", "", environment("HOME", "/h", "XDG_STATE_HOME", "/s", "XDG_CONFIG_HOME", "/c"),
			Dirs{State: "/s/countersign", Config: "/c/countersign", Runtime: "/s/countersign/run"}},
		{"relative XDG is ignored", "", environment("HOME", "/h", "XDG_STATE_HOME", "s", "XDG_CONFIG_HOME", "./c"), home},
		{"one directory for all", "/d/../e/", environment("HOME", "/h", "XDG_STATE_HOME", "/s"),
			Dirs{Home: "/e", State: "/e/state", Config: "/e/config", Runtime: "/e/run"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Resolve(tt.home, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Socket() != got.Runtime+"/core.sock" || got.File() != got.Config+"/config.toml" {
				t.Errorf("%s, %s", got.Socket(), got.File())
			}
		})
	}
}

func TestDirectoriesThatCannotBe(t *testing.T) {
	long := string(filepath.Separator) + strings.Repeat("x", maxSocketPath)
	if runtime.GOOS == "windows" {
		t.Skip("the table holds POSIX paths")
	}
	for name, home := range map[string]string{
		"relative": "desk", "dot": ".", "NUL": "/a\x00b", "socket path too long": long,
	} {
		for way, find := range map[string]func() (Dirs, error){
			"Resolve": func() (Dirs, error) { return Resolve(home, environment()) },
			"ForHook": func() (Dirs, error) { return ForHook(home) },
		} {
			if d, err := find(); !errors.Is(err, ErrPath) || d != (Dirs{}) {
				t.Errorf("%s, %s: %+v, %v", way, name, d, err)
			}
		}
	}
	_, err := Resolve(long, environment())
	if !strings.Contains(err.Error(), "115 bytes where 100 fit") || !strings.Contains(err.Error(), HomeVariable) {
		t.Errorf("the error does not say it: %v", err)
	}
	exact := string(filepath.Separator) + strings.Repeat("x", maxSocketPath-len("//run/core.sock")+len("/")-1)
	if d, err := Resolve(exact, environment()); err != nil || len(d.Socket()) > maxSocketPath {
		t.Errorf("%d bytes: %v", len(d.Socket()), err)
	}
}

// A repository's agent settings can set the environment of the owner's hook.
func TestForHookIgnoresTheEnvironment(t *testing.T) {
	before, err := ForHook("")
	if err != nil {
		t.Skipf("this account has no home directory in the account database: %v", err)
	}
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", HomeVariable, "USER", "APPDATA", "LOCALAPPDATA", "USERPROFILE"} {
		t.Setenv(name, t.TempDir())
	}
	after, err := ForHook("")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if after.Home != "" || !strings.HasPrefix(after.Runtime, after.State) {
		t.Errorf("%+v", after)
	}
	if runtime.GOOS == "windows" {
		return
	}
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(after.State, filepath.Clean(u.HomeDir)) {
		t.Errorf("%s is not under %s", after.State, u.HomeDir)
	}
	// The same without HOME, as a service manager may start a core.
	d, err := Resolve("", environment())
	if diff := cmp.Diff(after, d); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
}

func TestHookHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("POSIX paths")
	}
	d, err := Resolve("/desk", environment())
	if err != nil {
		t.Fatal(err)
	}
	home, err := d.HookHome()
	if err != nil || home != "/desk" {
		t.Fatalf("%q, %v", home, err)
	}
	if hook, err := ForHook(home); err != nil || hook != d {
		t.Errorf("a hook finds %+v, %v", hook, err)
	}
	own, err := ForHook("")
	if err != nil {
		t.Skipf("this account has no home directory in the account database: %v", err)
	}
	if home, err := own.HookHome(); home != own.State || err != nil {
		t.Errorf("%q, %v", home, err)
	}
	if hook, err := ForHook(own.State); err != nil || hook != own {
		t.Errorf("a hook of the account's own desk finds %+v, %v", hook, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	moved, err := Resolve("", environment("HOME", "/h", "XDG_STATE_HOME", "/elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moved.HookHome(); !errors.Is(err, ErrNotForHooks) || !strings.Contains(err.Error(), "/elsewhere") {
		t.Errorf("got %v", err)
	}
	// The variable that moved the desk is named: it was once said to be "other directory variables" when it was HOME.
	for name, value := range map[string]string{"HOME": "/elsewhere", "XDG_STATE_HOME": "/elsewhere"} {
		t.Setenv("XDG_STATE_HOME", "")
		t.Setenv(name, value)
		moved, err := Resolve("", os.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := moved.HookHome(); !errors.Is(err, ErrNotForHooks) || !strings.Contains(err.Error(), "because "+name+" is /elsewhere") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := (Dirs{Home: "relative"}).HookHome(); !errors.Is(err, ErrPath) {
		t.Errorf("got %v", err)
	}
}
