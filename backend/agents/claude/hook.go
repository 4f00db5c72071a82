package claude

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"countersign/backend/wire"
)

// The time limits of a hook, where HookOptions names none.
const (
	// DefaultDeadline is how long a gate waits for a person. The settings allow a day; a clear denial comes before.
	DefaultDeadline = 23*time.Hour + 50*time.Minute
	// DefaultPoll is how long one wait in the core takes.
	DefaultPoll = 50 * time.Second
	// DefaultReattach is how long a core that was lost while a person was asked is looked for.
	DefaultReattach = 10 * time.Minute
	// readLimit is how long Claude may take to write the event.
	readLimit = 20 * time.Second
	// noticeLimit is how long an event may take that asks for nothing.
	noticeLimit = 5 * time.Second
)

// HookOptions is everything a hook knows. Nothing comes from the environment.
type HookOptions struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer // may be nil
	Binary string    // absolute path of the command line program, as it stands in the settings
	Home   string    // --home
	Serve  string    // the command that starts a core of this home, for a person; "" for Binary serve
	// Connect dials the pinned core and may start one. It has its own time limit; its error is final for a call that no
	// core has seen yet.
	Connect  func(ctx context.Context) (Desk, error)
	Poll     time.Duration // 0: DefaultPoll; at most wire.MaxWaitMS
	Deadline time.Duration // 0: DefaultDeadline
	Reattach time.Duration // 0: DefaultReattach
	// Absent says that no owner is expected: what would ask is denied.
	Absent bool
	// Log is told about a panic, which is answered by a denial; may be nil.
	Log func(problem string)
}

// hook is one run.
type hook struct {
	options  HookOptions
	link     link
	deadline time.Time
}

// Hook answers one event of Claude Code and returns the exit status. A gate is always answered explicitly, with exit
// status 0: whatever goes wrong is a denial with a sentence for the model. Only when the answer cannot be written the
// status is 2, which Claude takes as a denial too. ctx ends when the agent withdraws the hook (SIGTERM).
func Hook(ctx context.Context, o HookOptions) int {
	if o.Poll <= 0 {
		o.Poll = DefaultPoll
	}
	o.Poll = min(o.Poll, wire.MaxWaitMS*time.Millisecond)
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Reattach <= 0 {
		o.Reattach = DefaultReattach
	}
	h := &hook{options: o, deadline: time.Now().Add(o.Deadline)}
	h.link.connect = o.Connect
	defer h.link.close()

	data, err := readEvent(ctx, o.Stdin)
	name := eventName(data)
	out, encodeErr := h.answer(ctx, name, data, err).encode()
	if encodeErr != nil {
		out, _ = deny(name, "Countersign could not write its answer, so the call was not run.").encode()
	}
	if _, err := o.Stdout.Write(out); err != nil {
		if o.Stderr != nil {
			_, _ = fmt.Fprintln(o.Stderr, "Countersign could not answer, so the call is denied.")
		}
		return 2
	}
	return 0
}

// answer turns everything that can go wrong into a denial.
func (h *hook) answer(ctx context.Context, name string, data []byte, readErr error) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			if h.options.Log != nil {
				h.options.Log(fmt.Sprintf("hook %s: panic: %v\n%s", name, p, debug.Stack()))
			}
			a = deny(name, "Countersign failed while it looked at this call, so it was not run. This is a fault of Countersign; the owner finds it in the log.")
		}
	}()
	if readErr != nil {
		return deny(name, "Countersign could not read the event from Claude Code ("+readErr.Error()+"), so nothing was run.")
	}
	e, err := parseEvent(data)
	if err != nil {
		return deny(name, "Countersign refused the event from Claude Code: "+err.Error()+". Nothing was run.")
	}
	switch e.name {
	case eventPreToolUse:
		return h.preToolUse(ctx, e)
	case eventPermissionRequest:
		return h.permissionRequest(ctx, e)
	case eventPreSkillShell:
		return deny(e.name, skillShellWords)
	case eventPostToolUse, eventPostToolUseFailure:
		return h.postToolUse(ctx, e)
	default:
		return h.sessionEvent(ctx, e)
	}
}

// readEvent reads the event, one byte more than is accepted at most, within readLimit.
func readEvent(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	// The reader cannot be stopped; the process ends soon after it was given up.
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, maxEvent+1))
		done <- result{data, err}
	}()
	timer := time.NewTimer(readLimit)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.data, r.err
	case <-timer.C:
		return nil, fmt.Errorf("it did not come within %v", readLimit)
	case <-ctx.Done():
		return nil, errWithdrawn
	}
}
