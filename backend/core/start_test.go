package core

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/config"
	"countersign/backend/wire"
)

func TestPlanStart(t *testing.T) {
	tests := []struct {
		name  string
		facts facts
		want  startKind
		says  string // of the refusal
	}{
		{"a desk and a display", facts{installed: true, display: true, byItself: true}, startWindow, ""},
		{"a passphrase to be typed: the window asks for it", facts{installed: true, display: true}, startWindow, ""},
		{"a desk and no display", facts{installed: true, byItself: true}, startCore, ""},
		{"no desk", facts{display: true, byItself: true}, startCore, ""},
		{"a server", facts{byItself: true}, startCore, ""},
		{"a server whose passphrase must be typed", facts{}, "", "passphrase typed"},
		{"a desk without a display whose passphrase must be typed", facts{installed: true}, "", "passphrase typed"},
		{"the window is wanted and there", facts{window: true, installed: true, display: true}, startWindow, ""},
		{"the window is wanted and not installed", facts{window: true, display: true, byItself: true}, "", "not installed"},
		{"the window is wanted and there is no display", facts{window: true, installed: true, byItself: true}, "", "no display"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.facts.serve = "countersign serve"
			got, no := planStart(tt.facts)
			if got != tt.want || (no.text != "") != (tt.says != "") || !strings.Contains(no.text, tt.says) {
				t.Errorf("planStart = %q, %+v", got, no)
			}
			if no.text != "" && !strings.Contains(no.fix, "countersign serve") {
				t.Errorf("the refusal does not say what to do: %q", no.fix)
			}
		})
	}
}

func TestMeetSaysWhyNothingWasStarted(t *testing.T) {
	tests := []struct{ name, conf, says string }{
		{"a configuration that cannot be read", "nonsense = [", "none can start"},
		{"a passphrase that must be typed", "[identity]\nstore = \"file\"\n", "passphrase typed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, err := os.MkdirTemp("", "cs-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(home) })
			dirs, err := config.Resolve(home, func(string) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(dirs.Config, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dirs.File(), []byte(tt.conf), 0o600); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = Meet(context.Background(), MeetOptions{Dirs: dirs, Serve: "serve it", Wait: time.Minute})
			var start *StartError
			if !errors.As(err, &start) || !errors.Is(err, wire.ErrNoCore) {
				t.Fatalf("error %T: %v", err, err)
			}
			if !strings.Contains(err.Error(), tt.says) || !strings.Contains(start.Hint(), "serve it") {
				t.Errorf("it says %q, and to do %q", err, start.Hint())
			}
			if time.Since(began) > 30*time.Second {
				t.Error("it waited for what cannot come up")
			}
		})
	}
}

func TestEnvironmentIsComposed(t *testing.T) {
	t.Setenv("LD_PRELOAD", "/evil.so")
	t.Setenv("DISPLAY", ":66")
	dirs := config.Dirs{Home: filepath.Join(t.TempDir(), "home")}
	env, err := Environment(dirs, []string{"DISPLAY=:0", "LANG=de_DE.UTF-8"})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		count[name]++
		if strings.Contains(v, "evil") || strings.Contains(v, ":66") {
			t.Errorf("the caller's own variable came through: %s", v)
		}
	}
	for _, name := range []string{"HOME", "PATH", "LANG", "DISPLAY", config.HomeVariable} {
		if count[name] != 1 {
			t.Errorf("%s stands there %d times: %v", name, count[name], env)
		}
	}
	if diff := cmp.Diff([]string{"A=1", "B=3", "C=4"}, over([]string{"A=1", "B=2"}, []string{"B=3", "C=4"})); diff != "" {
		t.Error(diff)
	}
}
