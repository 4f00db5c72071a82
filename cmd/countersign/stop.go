package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/wire"
)

// stopWait is how long stop waits for the core to end: a little longer than the core takes at most.
const stopWait = core.StopTimeout + 5*time.Second

type stopCmd struct{}

// Run ends the running core as Ctrl-C in its terminal does. A process below an agent is refused by the core; whoever
// has an unboxed program under this account can end the core anyway, and then calls are denied.
func (stopCmd) Run(s *streams) error {
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	var st wire.Status
	err = withCore(func(ctx context.Context, client *wire.Client) error {
		if err := client.Do(ctx, wire.ActionListSessions, wire.ListSessions{}, nil); err != nil {
			return err
		}
		return client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st)
	})
	if errors.Is(err, wire.ErrNoCore) {
		_, err := fmt.Fprintln(s.Out, "No core is running.")
		return err
	}
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return fmt.Errorf("on Windows a core is ended with Ctrl-C in its own window; it is process %d", st.PID)
	}
	if err := checkCoreProcess(st.PID); err != nil {
		return err
	}
	p, err := os.FindProcess(st.PID)
	if err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop process %d: %w", st.PID, err)
	}
	if err := untilGone(dirs, st.Epoch, p); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "Stopped (process %d).", st.PID)
	// A configuration that cannot be read starts nothing.
	if conf, err := config.Load(dirs.File()); err == nil {
		fmt.Fprintf(s.Out, " What waits is kept; %s.", afterStop(conf))
	}
	_, err = fmt.Fprintln(s.Out)
	return err
}

// untilGone waits until neither the process nor its socket is there.
func untilGone(dirs config.Dirs, epoch string, p *os.Process) error {
	deadline := time.Now().Add(stopWait)
	for time.Now().Before(deadline) {
		if gone, err := coreGone(dirs, epoch); err != nil || gone && processGone(p) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("process %d was told to stop and is still there after %s", p.Pid, stopWait)
}

// coreGone reports whether the core of that run answers no more. A hook may have started the next one at once.
func coreGone(dirs config.Dirs, epoch string) (bool, error) {
	client, err := core.Dial(context.Background(), dirs, "")
	if err != nil {
		return errors.Is(err, wire.ErrNoCore), nil
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), core.DialTimeout)
	defer cancel()
	var pong wire.Pong
	if err := client.Do(ctx, wire.ActionPing, wire.Empty{}, &pong); err == nil && pong.Epoch != epoch {
		return false, errors.New("it stopped, and an agent's call has started the next one already; end the agent first, or connect it with --no-start")
	}
	return false, nil
}

// runningCore returns the process id of the core that runs for this desk, 0 when none says.
func runningCore() int {
	var st wire.Status
	err := withCore(func(ctx context.Context, client *wire.Client) error {
		return client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st)
	})
	if err != nil {
		return 0
	}
	return st.PID
}
