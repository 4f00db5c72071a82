package desk

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/sandbox"
	"countersign/backend/tools"
	"countersign/backend/winlock"
	"countersign/backend/wire"
)

// redeem runs an allowed command in the broker, on the client's own stdin, stdout and stderr, and answers when it
// ended. The call's id is single use. What runs is what was frozen at admission; of the client only its descriptors
// and its terminal size are taken. When the client goes away the whole process tree is killed.
func (d *Desk) redeem(ctx context.Context, x *exchange, in wire.RedeemCall) (wire.RunResult, error) {
	if len(x.files) != 3 {
		return wire.RunResult{}, &wire.Error{Code: "bad_arguments", Args: map[string]string{"problem": "stdin, stdout and stderr must be passed"}}
	}
	c, err := d.callOf(x, in.Call)
	if err != nil {
		return wire.RunResult{}, err
	}
	if c.Script == "" {
		return wire.RunResult{}, &wire.Error{Code: "not_run_here", Args: map[string]string{"call": c.ID, "tool": c.Tool}}
	}
	if c, _, err = d.take(c); err != nil {
		return wire.RunResult{}, err
	}
	effective, err := capability.FromSnapshot(*c.Capability)
	if err != nil {
		return wire.RunResult{}, d.fail(c, "bad_capability", err)
	}
	ctx, cancel := causeOfEnd(ctx)
	defer cancel()
	process, err := d.broker.Start(ctx, sandbox.Spec{
		Call: c.ID, Session: c.Session, Principal: c.Principal.ID, Tool: c.Tool, Request: c.ID,
		Class: capability.ClassShell, Script: c.Script, Bounded: c.Boundary == policy.BoundaryEnforced, Effective: effective, CwdIdentity: c.CwdIdentity,
		Environment: c.Environment, Stdin: x.files[0], Stdout: x.files[1], Stderr: x.files[2], RecordDirectory: true,
	})
	if err != nil {
		return wire.RunResult{}, d.fail(c, "start_failed", err)
	}
	d.setRunning(c.ID, process)
	defer d.setRunning(c.ID, nil)
	if in.Rows > 0 && in.Cols > 0 {
		_ = process.Resize(in.Rows, in.Cols)
	}
	end := process.Wait()
	finish := approval.Finish{
		Outcome: approval.OutcomeDone, Exit: end.Exit, Signal: end.Signal, Directory: end.Directory,
		Receipts: []string{end.Start, end.End},
	}
	if end.Err != nil {
		d.log.Error("run", "call", c.ID, "error", end.Err)
		finish.Failure = "receipt_failed"
	}
	_, events, err := d.calls.Finish(c.ID, finish)
	d.publish(events)
	if err != nil {
		return wire.RunResult{}, err
	}
	d.frame(wire.FrameReceiptIssued, wire.ReceiptIssued{Call: c.ID, Start: end.Start, End: end.End})
	return wire.RunResult{
		Exit: end.Exit, Signal: end.Signal, Cause: end.Cause, Directory: end.Directory,
		StartRecord: end.Start, EndRecord: end.End,
	}, nil
}

// causeOfEnd passes on why nobody waits for a run any more, in the words of the end record.
func causeOfEnd(ctx context.Context) (context.Context, func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := sandbox.CauseCancelled
		switch {
		case errors.Is(context.Cause(ctx), ErrClientGone):
			cause = sandbox.CauseClientGone
		case errors.Is(context.Cause(ctx), ErrStopping):
			cause = sandbox.CauseCoreStopped
		}
		cancel(cause)
	})
	return out, func() { stop(); cancel(nil) }
}

// take claims an allowed call for execution, exactly once, after comparing it with what was approved.
func (d *Desk) take(c approval.Call) (approval.Call, preconditions, error) {
	var pre preconditions
	if !c.Here {
		return c, pre, &wire.Error{Code: "not_run_here", Args: map[string]string{"call": c.ID}}
	}
	if err := json.Unmarshal(c.Preconditions, &pre); err != nil {
		return c, pre, d.bug(err)
	}
	s, ok := d.session(c.Session)
	if !ok {
		return c, pre, unknownSession(c.Session)
	}
	if err := s.goesOn(); err != nil {
		return c, pre, err
	}
	if err := d.checkBinding(c, pre); err != nil {
		if c.State == approval.CallAllowed {
			d.cancel(c.ID, approval.OutcomeCancelled)
		}
		return c, pre, err
	}
	taken, events, err := d.calls.Redeem(c.ID, c.Digest)
	d.publish(events)
	return taken, pre, err
}

// fail finishes a call that was to run here and could not be started.
func (d *Desk) fail(c approval.Call, code string, cause error) error {
	err := &wire.Error{Code: code, Args: map[string]string{"call": c.ID, "detail": cause.Error()}}
	var missing *sandbox.UnavailableError
	if errors.As(cause, &missing) {
		err = &wire.Error{Code: "sandbox_unavailable", Args: map[string]string{"call": c.ID, "protection": missing.Protection, "hint": missing.Fix}}
	}
	_, events, ferr := d.calls.Finish(c.ID, approval.Finish{Outcome: approval.OutcomeFailed, Failure: err.Code})
	d.publish(events)
	if ferr != nil {
		d.log.Error("finish failed call", "call", c.ID, "error", ferr)
	}
	return err
}

// perform runs an allowed call of the desk's own file tools and returns what the model is to see.
func (d *Desk) perform(ctx context.Context, x *exchange, in wire.PerformCall) (wire.PerformResult, error) {
	c, err := d.callOf(x, in.Call)
	if err != nil {
		return wire.PerformResult{}, err
	}
	run, ok := fileTools[c.Tool]
	if !ok {
		return wire.PerformResult{}, &wire.Error{Code: "not_run_here", Args: map[string]string{"call": c.ID, "tool": c.Tool}}
	}
	c, pre, err := d.take(c)
	if err != nil {
		return wire.PerformResult{}, err
	}
	if len(pre.Files) != 1 {
		return wire.PerformResult{}, d.fail(c, "not_run_here", errors.New("the file's state at admission is missing"))
	}
	// Recorded before it happens, so that no file changes without a trace; what changed is a record of its own.
	decided := d.record(c, capability.RecordDecision)
	decided.Extra = map[string]string{"outcome": string(policy.Allow), "reason": string(c.Verdict.Reason), "executed_by": "countersign"}
	if _, err := d.receipts.Append(decided); err != nil {
		return wire.PerformResult{}, d.fail(c, "receipt_failed", err)
	}
	finish := approval.Finish{Outcome: approval.OutcomeDone, Receipts: []string{decided.ID}}
	content, published, err := run(ctx, c, pre.Files[0])
	result := wire.PerformResult{Content: content}
	if err != nil {
		result.IsError, result.Content = true, err.Error()
		finish.Failure = tools.Code(err)
	}
	if published != nil {
		record := d.record(c, capability.RecordWrite)
		record.Write = published
		if _, err := d.receipts.Append(record); err != nil {
			d.log.Error("write record", "call", c.ID, "error", err)
			finish.Failure = "receipt_failed"
		} else {
			finish.Receipts = append(finish.Receipts, record.ID)
		}
	}
	_, events, err := d.calls.Finish(c.ID, finish)
	d.publish(events)
	if err != nil {
		return wire.PerformResult{}, err
	}
	result.Receipts = finish.Receipts
	return result, nil
}

// maxReadBytes is the largest file the read tool answers with: its content has to fit into one message of the wire, also
// when every byte of it is escaped.
const maxReadBytes = 512 << 10

// fileTool runs one of the desk's own file tools against the snapshot that was approved.
type fileTool func(ctx context.Context, c approval.Call, admitted winlock.Snapshot) (content string, published *capability.WriteRecord, err error)

var fileTools = map[string]fileTool{
	"read": runRead,
	"edit": func(ctx context.Context, c approval.Call, admitted winlock.Snapshot) (string, *capability.WriteRecord, error) {
		return written(tools.EditTool(ctx, c.Args, c.Cwd, admitted, winlock.Options{Roots: rootsFor(admitted.Path, c.Roots)}))
	},
	"write": func(ctx context.Context, c approval.Call, admitted winlock.Snapshot) (string, *capability.WriteRecord, error) {
		return written(tools.WriteTool(ctx, c.Args, c.Cwd, admitted, winlock.Options{Roots: rootsFor(admitted.Path, c.Roots)}))
	},
}

func runRead(_ context.Context, c approval.Call, admitted winlock.Snapshot) (string, *capability.WriteRecord, error) {
	r, err := tools.ReadTool(c.Args, c.Cwd, admitted, winlock.ReadOptions{Roots: rootsFor(admitted.Path, c.Roots), Limit: maxReadBytes})
	return string(r.Content), nil, err
}

// written turns what a checked write published into the tool's answer and the receipt's record.
func written(r tools.WriteResult, err error) (string, *capability.WriteRecord, error) {
	if err != nil {
		return "", nil, err
	}
	p := r.Published
	return "Wrote " + p.Path + ".", &capability.WriteRecord{
		Path: p.Path, OldDigest: p.OldDigest, NewDigest: p.NewDigest,
		IdentityBefore: p.Before, IdentityAfter: p.After, Published: p.How,
	}, nil
}

// rootsFor is where a file tool may work: the session's roots, or for a target outside of them, which only the owner can
// have allowed, that target's own directory.
func rootsFor(target string, roots []string) []string {
	for _, root := range roots {
		if pathid.Contains(pathid.Host(), root, target) {
			return roots
		}
	}
	return []string{filepath.Dir(target)}
}

// argument reads one text argument by its exact name. Decoding into a struct would take "Command" for "command", which
// agents do not: what was judged and what runs must be the same text.
func argument(args json.RawMessage, name string) (string, bool) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(args, &all); err != nil {
		return "", false
	}
	var text *string
	if err := json.Unmarshal(all[name], &text); err != nil || text == nil {
		return "", false
	}
	return *text, true
}

// signals are the signals a client may pass on to a running call, by the name used on the wire.
var signals = map[string]syscall.Signal{
	"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGQUIT": syscall.SIGQUIT,
}

// signal passes a signal on to the processes of a running call.
func (d *Desk) signal(_ context.Context, x *exchange, in wire.SignalCall) (wire.Empty, error) {
	sig, ok := signals[in.Signal]
	if !ok {
		return wire.Empty{}, &wire.Error{Code: "bad_arguments", Args: map[string]string{"problem": "signal must be SIGINT, SIGTERM, SIGHUP or SIGQUIT"}}
	}
	return wire.Empty{}, d.toRunning(x, in.Call, func(p *sandbox.Process) error { return p.Signal(os.Signal(sig)) })
}

// resize tells the terminal of a running call its new size.
func (d *Desk) resize(_ context.Context, x *exchange, in wire.ResizeCall) (wire.Empty, error) {
	return wire.Empty{}, d.toRunning(x, in.Call, func(p *sandbox.Process) error { return p.Resize(in.Rows, in.Cols) })
}

func (d *Desk) toRunning(x *exchange, id string, fn func(*sandbox.Process) error) error {
	if _, err := d.callOf(x, id); err != nil {
		return err
	}
	d.mu.Lock()
	p := d.running[id]
	d.mu.Unlock()
	if p == nil {
		return &wire.Error{Code: "not_running", Args: map[string]string{"call": id}}
	}
	return fn(p)
}

func (d *Desk) setRunning(id string, p *sandbox.Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p == nil {
		delete(d.running, id)
		return
	}
	d.running[id] = p
}

// directory returns where a command ended, so that the agent's own shell can follow it.
func (d *Desk) directory(_ context.Context, x *exchange, in wire.CallRef) (wire.CallDirectory, error) {
	c, err := d.callOf(x, in.Call)
	if err != nil {
		return wire.CallDirectory{}, err
	}
	dir := c.Directory
	if info, err := d.fsys.Lstat(dir); dir == "" || err != nil || !info.Mode.IsDir() {
		dir = c.Cwd
	}
	return wire.CallDirectory{Directory: dir}, nil
}
