package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"countersign/backend/config"
	"countersign/backend/wire"
)

// stopWait is how long Stop waits for the core to end: a little longer than the core takes at most.
const stopWait = StopTimeout + 5*time.Second

// stopInterval is how often it looks.
const stopInterval = 20 * time.Millisecond

// StopError is why a core was not ended. Its text is for a terminal; a screen has words for the code.
type StopError struct {
	code string // stop_by_hand, stop_foreign, stop_failed, stop_timeout, stop_restarted
	pid  int
	text string
}

// Error implements error.
func (e *StopError) Error() string { return e.text }

// Code returns the error's code.
func (e *StopError) Code() string { return e.code }

// Args returns the arguments of its sentence.
func (e *StopError) Args() map[string]string { return map[string]string{"pid": strconv.Itoa(e.pid)} }

func stopError(code string, pid int, format string, args ...any) error {
	return &StopError{code: code, pid: pid, text: fmt.Sprintf(format, args...)}
}

// Stop ends the core that runs for a desk as Ctrl-C in its terminal does, waits until it is gone and returns its process
// id. wire.ErrNoCore means that none runs. A process below an agent is refused by the core; whoever has an unboxed
// program under this account can end the core anyway, and then calls are denied.
func Stop(ctx context.Context, dirs config.Dirs) (pid int, err error) {
	st, err := stoppable(ctx, dirs)
	if err != nil {
		return 0, err
	}
	if runtime.GOOS == "windows" {
		return st.PID, stopError("stop_by_hand", st.PID, "on Windows a core is ended with Ctrl-C in its own window; it is process %d", st.PID)
	}
	if err := checkCoreProcess(st.PID); err != nil {
		return st.PID, err
	}
	p, err := os.FindProcess(st.PID)
	if err != nil {
		return st.PID, err
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return st.PID, stopError("stop_failed", st.PID, "stop process %d: %v", st.PID, err)
	}
	return st.PID, untilGone(ctx, dirs, st.Epoch, p)
}

// stoppable asks the core who it is, and whether it lets this process do more than agents may.
func stoppable(ctx context.Context, dirs config.Dirs) (wire.Status, error) {
	client, err := Dial(ctx, dirs, "")
	if err != nil {
		return wire.Status{}, err
	}
	defer func() { _ = client.Close() }() // nothing is under way
	ctx, cancel := context.WithTimeout(ctx, wire.DialTimeout)
	defer cancel()
	var st wire.Status
	if err := client.Do(ctx, wire.ActionListSessions, wire.ListSessions{}, nil); err != nil {
		return st, err
	}
	return st, client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st)
}

// untilGone waits until neither the process nor its socket is there.
func untilGone(ctx context.Context, dirs config.Dirs, epoch string, p *os.Process) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	tick := time.NewTicker(stopInterval)
	defer tick.Stop()
	for {
		if gone, err := coreGone(ctx, dirs, epoch, p.Pid); err != nil || gone && processGone(p) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return stopError("stop_timeout", p.Pid, "process %d was told to stop and is still there after %s", p.Pid, stopWait)
		}
	}
}

// coreGone reports whether the core of that run answers no more. A hook may have started the next one at once.
func coreGone(ctx context.Context, dirs config.Dirs, epoch string, pid int) (bool, error) {
	client, err := Dial(ctx, dirs, "")
	if err != nil {
		return errors.Is(err, wire.ErrNoCore), nil
	}
	defer func() { _ = client.Close() }() // nothing is under way
	ctx, cancel := context.WithTimeout(ctx, DialTimeout)
	defer cancel()
	var pong wire.Pong
	if err := client.Do(ctx, wire.ActionPing, wire.Empty{}, &pong); err == nil && pong.Epoch != epoch {
		return false, stopError("stop_restarted", pid,
			"it stopped, and an agent's call has started the next one already; end the agent first, or connect it with --no-start")
	}
	return false, nil
}
