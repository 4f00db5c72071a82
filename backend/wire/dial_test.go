package wire

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDialFailures(t *testing.T) {
	pin := Fingerprint(newTestSigner('a').Public())
	dead := filepath.Join(shortDir(t), "dead")
	if l, err := net.Listen("unix", dead); err == nil {
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		_ = l.Close()
	}
	say := func(lines ...string) func(t *testing.T) string {
		return func(t *testing.T) string { return rawListener(t, lines...) }
	}
	tests := []struct {
		name   string
		socket func(t *testing.T) string
		pinned string
		want   error
		code   string
	}{
		{"nobody was ever there", func(t *testing.T) string { return filepath.Join(shortDir(t), "s") }, pin, ErrNoCore, "no_core"},
		{"no directory", func(*testing.T) string { return "/nonexistent/s" }, pin, ErrNoCore, "no_core"},
		{"a dead core's socket", func(*testing.T) string { return dead }, pin, ErrNoCore, "no_core"},
		{"another key than pinned", func(t *testing.T) string { return startCore(t, echo).socket }, Fingerprint(newTestSigner('b').Public()), ErrWrongCore, "wrong_core"},
		{"hangs before the hello", func(t *testing.T) string { return startCore(t, nil).socket }, pin, ErrNoAnswer, "no_answer"},
		{"closes at once", say(), pin, ErrNoAnswer, "no_answer"},
		{"speaks another language", say("HTTP/1.1 400 Bad Request"), pin, ErrWrongCore, "wrong_core"},
		{"answers with a frame", say(`{"frame":"x"}`), pin, ErrWrongCore, "wrong_core"},
		{"unsigned hello", say(`{"hello":{"version":1,"epoch":"e","fingerprint":"` + pin + `"}}`), pin, ErrWrongCore, "wrong_core"},
		{"a busy core", say(`{"command_id":"","applied":false,"error":{"code":"busy"}}`), pin, nil, "connect_failed"},
		{"a newer core", say(`{"command_id":"","applied":false,"error":{"code":"unsupported_version"}}`), pin, nil, "connect_failed"},
		{"no socket path", func(*testing.T) string { return "" }, pin, nil, "connect_failed"},
		{"a path too long", func(*testing.T) string { return "/" + strings.Repeat("x", 200) }, pin, nil, "connect_failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			_, err := Dial(t.Context(), DialOptions{Socket: tt.socket(t), PinnedCore: tt.pinned, Timeout: 300 * time.Millisecond})
			var e *DialError
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want a *DialError", err)
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if e.Code() != tt.code || e.Hint() == "" {
				t.Errorf("code %q, hint %q", e.Code(), e.Hint())
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Run("the caller gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Dial(ctx, DialOptions{Socket: startCore(t, nil).socket}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	})
}

// rawListener says its lines to the first client without listening to it, then closes.
func rawListener(t *testing.T, lines ...string) string {
	t.Helper()
	socket := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		for _, line := range lines {
			_, _ = c.Write([]byte(line + "\n"))
		}
		_ = c.Close()
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return socket
}
