package desk

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"countersign/backend/approval"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// TrialAgent is the agent that a call of the desk's own is said to come from. No process may claim it.
const TrialAgent = "test"

// What a test request is.
const (
	trialText    = "Countersign test request"
	trialFile    = "test-request.txt"
	trialCommand = "printf '" + trialText + `\n' | tee ` + trialFile // it writes, so that it asks; into a directory that goes away
	trialPrefix  = "countersign-test-"
	trialSeconds = 300             // until its question expires
	trialRuns    = time.Minute     // how long it may run
	trialReads   = 2 * time.Second // how long its output is waited for when it ended
	trialOutput  = 4 << 10         // bytes of its output that are looked at
)

// trial is the test request that goes on, at most one.
type trial struct {
	mu     sync.Mutex
	call   string // "" when there is none
	end    context.CancelCauseFunc
	done   chan struct{}
	closed bool
}

// testRequest has the desk propose a harmless call of its own, which goes the way of any agent's call: it is admitted, judged,
// asked about, and when it is allowed it runs inside the boundary and leaves receipts. While one goes on, another is
// the same.
func (d *Desk) testRequest(ctx context.Context, _ *exchange, _ wire.TestRequest) (wire.CallRef, error) {
	t := &d.trial
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return wire.CallRef{}, ErrStopping
	case t.call != "":
		return wire.CallRef{Call: t.call}, nil
	}
	s, err := d.openTrial()
	if err != nil {
		return wire.CallRef{}, err
	}
	args, err := json.Marshal(map[string]string{"command": trialCommand})
	if err != nil {
		return wire.CallRef{}, errors.Join(d.bug(err), d.closeTrial(s))
	}
	// The call is the desk's: it does not end with whoever asked for it.
	x := d.trialExchange()
	status, err := d.admitTo(ctx, x, s, wire.AdmitCall{
		Agent: TrialAgent, ToolCall: s.ID, Tool: policy.ToolBash, Args: args, Cwd: s.Project, Interactive: true,
		ExpiresInSeconds: trialSeconds, Runs: wire.RunsDesk,
	})
	if err != nil || !(status.Waiting() || status.Allowed()) {
		d.logTrial(d.closeTrial(s))
		return wire.CallRef{Call: status.Call}, err
	}
	run, end := context.WithCancelCause(context.WithoutCancel(ctx))
	t.call, t.end, t.done = status.Call, end, make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		defer end(nil)
		d.logTrial(d.followTrial(run, x, status.Call))
		d.logTrial(d.closeTrial(s))
		t.mu.Lock()
		defer t.mu.Unlock()
		t.call = ""
	}(t.done)
	return wire.CallRef{Call: status.Call}, nil
}

func (d *Desk) trialExchange() *exchange {
	owner := d.Owner()
	authority, _ := d.authorityOf(owner)
	return &exchange{caller: owner, authority: authority}
}

func (d *Desk) logTrial(err error) {
	if err != nil {
		d.log.Warn("test request", "error", err)
	}
}

// openTrial makes a private directory and a session in it. The session has no process, so that nobody is below it.
func (d *Desk) openTrial() (Session, error) {
	dir, err := os.MkdirTemp("", trialPrefix)
	if err != nil {
		return Session{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": os.TempDir(), "problem": err.Error()}}
	}
	exe, _ := os.Executable() // for display
	s := Session{
		ID: newID(), Agent: TrialAgent, Own: true, Verified: true, Root: wire.Process{PID: os.Getpid(), Exe: exe},
		Mode: policy.ModeAsk, Policy: d.options.Config.SandboxPolicy(), Interactive: true, Attended: true, StartedAt: d.clock.Now(),
	}
	s.Claim = s.ID
	root, err := pathid.OpenRoot(d.fsys, dir)
	if err == nil {
		s.Project, s.Identity, s.Roots = root.Path, root.Identity, []string{root.Path}
		s, err = d.addSession(s)
	}
	if err != nil {
		return Session{}, errors.Join(err, os.Remove(dir))
	}
	return s, nil
}

// closeTrial ends the session, and what still waits in it, and removes its directory.
func (d *Desk) closeTrial(s Session) error {
	err := d.endSession(s.ID)
	// Only what was made here, and still is what it was.
	root, errOpen := pathid.OpenRoot(d.fsys, s.Project)
	if errOpen != nil || root.Path != s.Project || !root.Identity.Same(s.Identity) || !strings.HasPrefix(filepath.Base(s.Project), trialPrefix) {
		return err
	}
	return errors.Join(err, os.RemoveAll(s.Project))
}

// endTrials ends what an earlier run of the core left.
func (d *Desk) endTrials() {
	for _, s := range d.sessionsNewestFirst() {
		if s.Own && s.EndedAt.IsZero() {
			d.logTrial(d.closeTrial(s))
		}
	}
}

// stopTrial ends the test request that goes on and waits for it; there is no other after it.
func (d *Desk) stopTrial() {
	t := &d.trial
	t.mu.Lock()
	t.closed = true
	end, done := t.end, t.done
	t.mu.Unlock()
	if done != nil {
		end(ErrStopping)
		<-done
	}
}

// followTrial waits for the answer, and runs what is allowed.
func (d *Desk) followTrial(ctx context.Context, x *exchange, call string) error {
	for {
		changed := d.changed(call)
		c, err := d.calls.Get(call)
		if err != nil {
			return err
		}
		switch c.State {
		case approval.CallWaiting:
		case approval.CallAllowed:
			return d.runTrial(ctx, x, call)
		default:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// runTrial redeems the call with nothing to read and a pipe for what it prints.
func (d *Desk) runTrial(ctx context.Context, x *exchange, call string) error {
	ctx, cancel := context.WithTimeout(ctx, trialRuns)
	defer cancel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	printed := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(r, trialOutput))
		_, _ = io.Copy(io.Discard, r)
		printed <- string(text)
	}()
	one := *x
	one.files = []*os.File{null, w, w}
	result, err := d.redeem(ctx, &one, wire.RedeemCall{Call: call})
	_ = w.Close()
	_ = r.SetReadDeadline(time.Now().Add(trialReads))
	text := <-printed
	if err == nil && strings.TrimSpace(text) != trialText {
		d.log.Warn("test request printed something else", "call", call, "exit", result.Exit, "printed", text)
	}
	return err
}
