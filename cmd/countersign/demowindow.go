package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

const (
	// windowStartWait is how long the demo's desk may take until it answers: a first start reads the whole browser engine.
	windowStartWait = 30 * time.Second
	// windowEndWait is how long a desk that was quit may take to end.
	windowEndWait = core.StopTimeout + 5*time.Second
	// interruptSlack is how much later than the desk this process may notice a Ctrl-C.
	interruptSlack = 200 * time.Millisecond
	// maxLastWords is how much of what a desk that died had to say is shown, in bytes.
	maxLastWords = 1 << 10
)

// windowDemo plays the demonstration in the desk's own window: a desk of its own in a process of its own, which ends
// with this one. This process is the agent, and tells in the terminal what happens in the window.
type windowDemo struct {
	*demo
	program string   // the window's
	display []string // where it opens
	desk    *desk.Helper
	drained chan struct{}
}

// errWindowClosed means that the person quit the window: that is how the demo ends.
var errWindowClosed = errors.New("the window was closed")

func (d *windowDemo) run(ctx context.Context) error {
	err := d.start(ctx)
	if err == nil {
		err = d.play(ctx)
	}
	d.close()
	switch {
	case errors.Is(err, errWindowClosed):
		d.say("\nThe window was closed; the demo ends.")
	case ctx.Err() != nil:
		d.say("\nInterrupted; the demo is cleared away.")
		if d.agent == nil {
			return status(1)
		}
	case err != nil:
		return err
	}
	return d.verify()
}

// start starts the demo's desk and connects its agent.
func (d *windowDemo) start(ctx context.Context) error {
	d.say("Countersign demo: a scripted agent (no model, no network) works on a scratch project under a desk of its own.\n" +
		"The desk's window opens now. Your own desk is not touched.")
	env, err := core.Environment(d.dirs, d.display)
	if err != nil {
		return err
	}
	// What the browser engine keeps goes with the demo.
	env = append(env, "XDG_DATA_HOME="+filepath.Join(d.home, "window", "data"), "XDG_CACHE_HOME="+filepath.Join(d.home, "window", "cache"))
	if d.desk, err = desk.StartHelper(d.program, []string{"--demo", d.dirs.Home}, env); err != nil {
		return err
	}
	d.drained = make(chan struct{})
	go func() {
		defer close(d.drained)
		_, _ = io.Copy(io.Discard, d.desk.Stdout)
	}()
	if err := d.enter(); err != nil {
		return err
	}
	client, err := d.dial(ctx)
	if err != nil {
		return err
	}
	d.connect(client)
	d.agent.asked = func() {
		d.say("   It waits for you: look at the card in the window, and decide there. Both answers are right here.")
	}
	return nil
}

// dial waits until the demo's desk answers.
func (d *windowDemo) dial(ctx context.Context) (*wire.Client, error) {
	deadline := time.NewTimer(windowStartWait)
	defer deadline.Stop()
	for {
		client, err := core.Dial(ctx, d.dirs, "")
		if err == nil {
			return client, nil
		}
		if !errors.Is(err, wire.ErrNoCore) && ctx.Err() == nil {
			return nil, err
		}
		select {
		case <-d.desk.Done():
			code, words := d.desk.Wait()
			return nil, fmt.Errorf("the desk's window did not open (%s). Without it: countersign demo --terminal", ending(code, words))
		case <-deadline.C:
			return nil, fmt.Errorf("the desk's window was started and its core does not answer after %d seconds. Without it: countersign demo --terminal", int(windowStartWait.Seconds()))
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// play runs the steps and then leaves the window to the person.
func (d *windowDemo) play(ctx context.Context) error {
	for i, step := range demoSteps {
		d.say("\n%d. The demo agent %s", i+1, step.says)
		result, err := d.agent.call(ctx, step.tool, step.args)
		if isCode(err, "cancelled") { // a core that ends lets go of whoever waits
			return d.lost(ctx, err)
		}
		if err = d.note(step, result, err); err != nil {
			return d.lost(ctx, err)
		}
	}
	d.say("\nThat was all the agent had to do. It stays connected: look at its session and at the receipts in the window.\n" +
		"Close the window there, or press Ctrl-C here, and the demo is cleared away.")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-d.desk.Done():
		return d.lost(ctx, nil)
	case <-d.agent.client.Done():
		return d.lost(ctx, d.agent.client.Err())
	}
}

// lost says why the agent cannot go on: the person quit the window, or the desk died.
func (d *windowDemo) lost(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case <-d.desk.Done():
	case <-time.After(windowEndWait):
		return fmt.Errorf("the demo's desk does not answer any more: %w", cause)
	}
	code, words := d.desk.Wait()
	if code == 0 {
		return errWindowClosed
	}
	// A Ctrl-C reaches the desk too, and it may be seen to end before this process hears of it.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interruptSlack):
	}
	return fmt.Errorf("the demo's desk ended unexpectedly (%s)", ending(code, words))
}

// close ends the agent and the desk, and waits for both.
func (d *windowDemo) close() {
	d.leave()
	if d.desk != nil {
		_ = d.desk.Close() // it has ended then, by itself or killed; lost says which
		<-d.drained
	}
}

// verify checks the receipts once the desk is gone, as anybody can who has the files.
func (d *windowDemo) verify() error {
	v, err := desk.VerifyOffline(d.dirs.State)
	if err != nil {
		return err
	}
	d.say("The receipts, checked without the desk:")
	printVerification(d.s.Out, v)
	if !v.OK {
		d.failed = append(d.failed, "the receipts do not verify")
	}
	return nil
}

// ending tells how a desk ended, in words.
func ending(code int, words string) string {
	text := fmt.Sprintf("exit status %d", code)
	if code < 0 {
		text = "it was killed"
	}
	words = strings.TrimSpace(words)
	if len(words) > maxLastWords {
		words = words[len(words)-maxLastWords:]
	}
	if words != "" {
		text += "; its last words: " + escape(words, true)
	}
	return text
}
