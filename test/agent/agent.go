package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"countersign/backend/wire"
)

const (
	maxOrder  = 1 << 20  // bytes of one line of the script
	maxOutput = 64 << 10 // bytes kept of what a command prints
)

// agent is one scripted agent with its connection.
type agent struct {
	dial          func(context.Context) (*wire.Client, error)
	name          string // the adapter it claims to be
	session, turn string
	cwd           string

	mu  sync.Mutex // guards out
	out *json.Encoder

	connecting sync.Mutex // guards client, and is held while a new one is made
	client     *wire.Client
}

// reconnectTimeout is how long an agent looks for a core that is starting again.
const reconnectTimeout = time.Minute

// do runs one action as an agent's hook does: when the core is gone it waits for the next one and asks again under the
// same command id.
func (a *agent) do(ctx context.Context, action string, in any, files []*os.File, out any) error {
	command := uuid.Must(uuid.NewV7()).String()
	deadline := time.Now().Add(reconnectTimeout)
	for {
		client, err := a.connected(ctx)
		if err == nil {
			err = client.DoWith(ctx, command, action, in, files, out)
		}
		switch {
		case errors.Is(err, wire.ErrClosed):
			a.drop(client)
		case errors.Is(err, wire.ErrNoCore), errors.Is(err, wire.ErrNoAnswer):
		default:
			return err
		}
		if time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// connected returns the connection, a new one where the last was dropped.
func (a *agent) connected(ctx context.Context) (*wire.Client, error) {
	a.connecting.Lock()
	defer a.connecting.Unlock()
	if a.client == nil {
		client, err := a.dial(ctx)
		if err != nil {
			return nil, err
		}
		a.client = client
	}
	return a.client, nil
}

// drop forgets a connection that broke.
func (a *agent) drop(client *wire.Client) {
	a.connecting.Lock()
	defer a.connecting.Unlock()
	if a.client == client {
		_ = client.Close()
		a.client = nil
	}
}

func (a *agent) tell(e event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.out.Encode(e) // whoever does not read any more closes the input too
}

// follow takes one order to its end.
func (a *agent) follow(ctx context.Context, o order) {
	var err error
	if o.Cancel != "" {
		err = a.cancel(ctx, o)
	} else {
		err = a.propose(ctx, o)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	e := event{ID: o.ID, Event: eventError, Code: "connection", Message: err.Error()}
	var no *wire.Error
	if errors.As(err, &no) {
		e.Code, e.ErrorArgs, e.Message = no.Code, no.Args, ""
	}
	a.tell(e)
}

func (a *agent) cancel(ctx context.Context, o order) error {
	var s wire.CallStatus
	if err := a.do(ctx, wire.ActionCancelCall, wire.CancelCall{Call: o.Cancel}, nil, &s); err != nil {
		return err
	}
	a.tell(about(o.ID, eventCancelled, s))
	return nil
}

// propose proposes a call, waits for its answer and runs it where it was allowed.
func (a *agent) propose(ctx context.Context, o order) error {
	var s wire.CallStatus
	if err := a.do(ctx, wire.ActionAdmitCall, a.call(o), nil, &s); err != nil {
		return err
	}
	a.tell(about(o.ID, eventAdmitted, s))
	if s.Waiting() {
		for s.Waiting() {
			if err := a.do(ctx, wire.ActionAwaitCall, wire.AwaitCall{Call: s.Call, WaitMS: wire.MaxWaitMS}, nil, &s); err != nil {
				return err
			}
		}
		a.tell(about(o.ID, eventDecided, s))
	}
	// A released call is the agent's to execute, and this one executes nothing by itself.
	if o.Keep || s.State != "allowed" {
		return nil
	}
	if strings.EqualFold(o.Tool, "bash") {
		return a.redeem(ctx, o.ID, s.Call)
	}
	return a.perform(ctx, o.ID, s.Call)
}

// call fills in what the order leaves open.
func (a *agent) call(o order) wire.AdmitCall {
	or := func(value, otherwise string) string {
		if value == "" {
			return otherwise
		}
		return value
	}
	runs := wire.RunsDesk
	if o.Itself {
		runs = wire.RunsAgent
	}
	return wire.AdmitCall{
		Agent: a.name, SessionClaim: or(o.Session, a.session), Execution: or(o.Turn, a.turn), ToolCall: or(o.ToolCall, rand.Text()),
		Tool: o.Tool, Args: o.Args, Cwd: or(o.Cwd, a.cwd), Interactive: !o.Absent, ExpiresInSeconds: o.ExpiresInSeconds, Runs: runs,
	}
}

func (a *agent) perform(ctx context.Context, id, call string) error {
	var r wire.PerformResult
	if err := a.do(ctx, wire.ActionPerformCall, wire.PerformCall{Call: call}, nil, &r); err != nil {
		return err
	}
	exit := 0
	if r.IsError {
		exit = 1
	}
	a.tell(event{ID: id, Event: eventEnded, Call: call, Output: r.Content, Exit: &exit, Receipts: r.Receipts})
	return nil
}

// redeem runs an allowed command with nothing to read and its output into the event.
func (a *agent) redeem(ctx context.Context, id, call string) error {
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
		data, _ := io.ReadAll(io.LimitReader(reader, maxOutput))
		_, _ = io.Copy(io.Discard, reader) // a command must not hang because more is not kept
		output <- string(data)
	}()
	var r wire.RunResult
	err = a.do(ctx, wire.ActionRedeemCall, wire.RedeemCall{Call: call}, []*os.File{null, writer, writer}, &r)
	_ = writer.Close()
	if err != nil {
		_ = reader.Close() // a command that still runs holds the other end
		<-output
		return err
	}
	e := event{ID: id, Event: eventEnded, Call: call, Output: <-output, Exit: r.Exit, Signal: r.Signal}
	for _, record := range []string{r.StartRecord, r.EndRecord} {
		if record != "" {
			e.Receipts = append(e.Receipts, record)
		}
	}
	if r.Error != nil {
		e.Code, e.ErrorArgs = r.Error.Code, r.Error.Args
	}
	a.tell(e)
	return nil
}
