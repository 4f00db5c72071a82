package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"countersign/backend/capability"
)

// maxFindings bounds what one end record says; the rest is counted.
const maxFindings = 64

// Process is one started process tree. It is safe for concurrent use.
type Process struct {
	broker *Broker
	spec   Spec
	start  capability.Record
	run    running
	began  time.Time // with the monotonic clock
	done   chan struct{}
	end    End // after done is closed

	mu    sync.Mutex // guards cause
	cause Cause
}

// release says go, unless the context ended meanwhile. A start that failed after its record has an end record too.
func (b *Broker) release(ctx context.Context, s Spec, start capability.Record, run running) (*Process, error) {
	p := &Process{broker: b, spec: s, start: start, run: run, began: time.Now(), done: make(chan struct{})}
	cause, err := causeOf(ctx), context.Cause(ctx)
	if err == nil {
		err, cause = run.release(), CauseLost
		var exec *ExecError
		if errors.As(err, &exec) {
			cause = CauseExecFailed
		}
	}
	if err != nil {
		run.abandon()
		p.record(outcome{lost: true, never: cause != CauseLost}, cause)
		return nil, errors.Join(err, p.end.Err)
	}
	stop := context.AfterFunc(ctx, func() { p.kill(causeOf(ctx)) })
	var timer *time.Timer
	if limit := s.Effective.Snapshot().Limits.WallClock; limit > 0 {
		timer = time.AfterFunc(limit, func() { p.kill(CauseWallClock) })
	}
	go func() {
		defer close(p.done)
		out := run.wait()
		stop()
		if timer != nil {
			timer.Stop()
		}
		p.mu.Lock()
		cause := p.cause
		p.mu.Unlock()
		switch {
		case !out.lost:
			cause = "" // it ended by itself before it could be killed
		case cause == "":
			cause = CauseLost
		}
		p.record(out, cause)
	}()
	return p, nil
}

func causeOf(ctx context.Context) Cause {
	var c Cause
	if errors.As(context.Cause(ctx), &c) {
		return c
	}
	return CauseCancelled
}

// kill ends the whole tree. The first cause stands.
func (p *Process) kill(cause Cause) {
	p.mu.Lock()
	if p.cause == "" {
		p.cause = cause
	}
	p.mu.Unlock()
	p.run.kill()
}

// record writes the end record and fills p.end.
func (p *Process) record(out outcome, cause Cause) {
	if out.lost && !out.never {
		out.signal = "SIGKILL"
	}
	end := p.start
	end.ID, end.Kind, end.Start = newID(), capability.RecordEnd, p.start.ID
	end.StartedAt = p.start.Time
	end.EndedAt = p.start.Time.Add(time.Since(p.began)) // the wall clock may have been set back meanwhile
	end.Time = end.EndedAt
	end.ExitStatus, end.Signal, end.Cause = out.exit, out.signal, string(cause)
	end.UserCPU, end.SystemCPU, end.MaxRSS = out.user, out.sys, out.maxRSS
	end.Layers, end.Effective = nil, nil // the start record has them
	if n := len(out.findings); n > maxFindings {
		out.findings = append(slices.Clone(out.findings[:maxFindings]), fmt.Sprintf("and %d more", n-maxFindings))
	}
	p.end = End{
		Exit: out.exit, Signal: out.signal, Cause: string(cause), Start: p.start.ID, End: end.ID, Findings: out.findings,
	}
	if p.spec.RecordDirectory {
		p.end.Directory = out.directory
		if p.end.Directory == "" {
			p.end.Directory = p.start.Cwd
		}
	}
	if len(out.findings) > 0 {
		extra := maps.Clone(end.Extra)
		if extra == nil {
			extra = map[string]string{}
		}
		extra["findings"] = strings.Join(out.findings, "\n")
		end.Extra = extra
	}
	if _, err := p.broker.o.Sink.Append(end); err != nil {
		p.end.Err = err
	}
}

// Wait returns how the process ended, after its whole tree is gone and the end record is written. It may be called more
// than once.
func (p *Process) Wait() End {
	<-p.done
	return p.end
}

// Done is closed when Wait would not block.
func (p *Process) Done() <-chan struct{} { return p.done }

// StartRecord returns the id of the start record.
func (p *Process) StartRecord() string { return p.start.ID }

// Signal sends a signal to the command's process group, as a terminal would. After the end it returns ErrEnded.
func (p *Process) Signal(s os.Signal) error {
	select {
	case <-p.done:
		return ErrEnded
	default:
	}
	n, ok := s.(syscall.Signal)
	if !ok || n <= 0 {
		return ErrUnsupported
	}
	return p.run.signal(int(n))
}

// Resize sets the size of the terminal that was handed over and tells the command. Without a terminal it does nothing.
func (p *Process) Resize(rows, cols uint16) error {
	for _, f := range []*os.File{p.spec.Stdin, p.spec.Stdout, p.spec.Stderr} {
		if f == nil {
			continue
		}
		if resized, err := resizeTerminal(f, rows, cols); resized || err != nil {
			if err == nil {
				err = p.notifyResize()
			}
			return err
		}
	}
	return nil
}
