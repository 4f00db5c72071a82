package bridge

import (
	"log/slog"
	"runtime/debug"
)

// Go runs fn in a goroutine of its own, which ends with fn whatever happens in it: in the window's process a panic that
// nobody recovers takes everything with it, the core included. The channel is closed when it ended; who started it waits
// for that. No other code of the app starts a goroutine.
func Go(log *slog.Logger, what string, fn func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		Guarded(log, what, fn)
	}()
	return done
}

// Guarded runs fn and reports whether it came to its end. A panic is logged and goes no further.
func Guarded(log *slog.Logger, what string, fn func()) (ended bool) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "in", what, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	fn()
	return true
}
