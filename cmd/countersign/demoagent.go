package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"

	"countersign/backend/wire"
)

// maxDemoOutput is how much of a command's output the demo keeps, in bytes.
const maxDemoOutput = 64 << 10

// demoAgent is a scripted agent: it proposes calls through the same client as every other program and runs what it is
// allowed to.
type demoAgent struct {
	client        *wire.Client
	cwd           string
	session, turn string
	asked         func() // called when a call begins to wait for its answer; nil: nobody is told
}

// demoResult is how one of its calls ended.
type demoResult struct {
	status wire.CallStatus // as decided
	output string
	exit   int
	done   bool // it ran here
	start  string
}

// call proposes a call, waits for its answer however long it takes, and runs it when it was allowed.
func (a *demoAgent) call(ctx context.Context, tool string, args map[string]any) (demoResult, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return demoResult{}, err
	}
	var r demoResult
	in := wire.AdmitCall{
		Agent: "demo", SessionClaim: a.session, Execution: a.turn, ToolCall: uuid.NewString(), Tool: tool, Args: raw,
		Cwd: a.cwd, Interactive: true, ExpiresInSeconds: wire.ExpiresNever, Runs: wire.RunsDesk,
	}
	if err := a.client.Do(ctx, wire.ActionAdmitCall, in, &r.status); err != nil {
		return r, err
	}
	if r.status.Waiting() && a.asked != nil {
		a.asked()
	}
	for r.status.Waiting() {
		if err := a.client.Do(ctx, wire.ActionAwaitCall, wire.AwaitCall{Call: r.status.Call, WaitMS: wire.MaxWaitMS}, &r.status); err != nil {
			return r, err
		}
	}
	if !r.status.Allowed() {
		return r, nil
	}
	if tool == "bash" {
		return r, a.redeem(ctx, &r)
	}
	var out wire.PerformResult
	if err := a.client.Do(ctx, wire.ActionPerformCall, wire.PerformCall{Call: r.status.Call}, &out); err != nil {
		return r, err
	}
	r.done, r.output = true, out.Content
	if out.IsError {
		r.exit = 1
	}
	return r, nil
}

// redeem runs an allowed command on pipes and reads what it prints.
func (a *demoAgent) redeem(ctx context.Context, r *demoResult) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reader.Close()
	output := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(reader, maxDemoOutput))
		output <- string(data)
	}()
	var result wire.RunResult
	err = a.client.DoWith(ctx, uuid.Must(uuid.NewV7()).String(), wire.ActionRedeemCall, wire.RedeemCall{Call: r.status.Call}, []*os.File{null, writer, writer}, &result)
	_ = writer.Close()
	r.output = <-output
	if err != nil {
		return err
	}
	r.done, r.start, r.exit = true, result.StartRecord, -1
	if result.Exit != nil {
		r.exit = *result.Exit
	}
	return nil
}

// words tells a person how the call ended; owner is who was asked.
func (r demoResult) words(owner string) string {
	why := strings.ReplaceAll(r.status.Reason, "_", " ")
	if r.status.Rule != "" {
		why += ": " + r.status.Rule
	}
	if r.status.Reason == "approval_required" {
		// That it had to be asked stands on the card; here it matters who answered what.
		switch {
		case r.done:
			why = "allowed by " + owner
		case r.status.Outcome == "refused":
			why = "refused by " + owner
		}
	}
	if !r.done {
		return "stopped (" + escape(why, false) + "). The agent reads: " + escape(r.status.Message, false)
	}
	text := "ran (" + escape(why, false) + ")"
	if r.status.Comment != "" {
		text += ". The owner's note for the agent: " + escape(r.status.Comment, false)
	}
	if r.exit != 0 {
		text += fmt.Sprintf(", exit status %d", r.exit)
	}
	if output := strings.TrimRight(r.output, "\n"); output != "" {
		text += "\n| " + strings.ReplaceAll(escape(output, true), "\n", "\n| ")
	}
	return text
}

// ran checks that a call ran for the given reason, with that exit status, printing that text.
func (r demoResult) ran(reason string, exit int, text string) string {
	switch {
	case !r.done:
		return "it did not run (" + r.status.Reason + ")"
	case r.status.Reason != reason:
		return "it ran because of " + r.status.Reason + ", not " + reason
	case r.exit != exit:
		return fmt.Sprintf("its exit status is %d, not %d", r.exit, exit)
	case !strings.Contains(r.output, text):
		return "its output lacks " + strconv.Quote(text)
	}
	return ""
}

// stopped checks that a call was stopped with the given outcome and reason.
func (r demoResult) stopped(outcome, reason string) string {
	if r.done || r.status.Outcome != outcome || r.status.Reason != reason {
		return fmt.Sprintf("it ended as %s (%s), not as %s (%s)", r.status.Outcome, r.status.Reason, outcome, reason)
	}
	return ""
}

// visitor is a listener on loopback that notices whether anybody came: what the boxed command must not reach.
type visitor struct {
	listener net.Listener
	came     atomic.Bool
	done     chan struct{}
}

func newVisitor() (*visitor, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	v := &visitor{listener: l, done: make(chan struct{})}
	go func() {
		defer close(v.done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			v.came.Store(true)
			_ = c.Close()
		}
	}()
	return v, nil
}

func (v *visitor) port() string {
	_, port, _ := net.SplitHostPort(v.listener.Addr().String())
	return port
}

func (v *visitor) visited() bool { return v.came.Load() }

func (v *visitor) close() {
	_ = v.listener.Close()
	<-v.done
}
