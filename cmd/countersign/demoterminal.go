package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// terminalDemo plays the demonstration in this process alone: the core, the agent and, without a person, the owner.
type terminalDemo struct {
	*demo
	core *core.Core
}

// run prepares, plays and clears away.
func (d *terminalDemo) run(ctx context.Context) error {
	if err := d.start(ctx); err != nil {
		return errors.Join(err, d.close())
	}
	return errors.Join(d.play(ctx), d.close())
}

// start starts a core of its own in this process, with an agent connected.
func (d *terminalDemo) start(ctx context.Context) error {
	pass := desk.NewSecret(rand.Text())
	var err error
	if d.core, err = core.Start(ctx, core.Options{
		Dirs: d.dirs, Passphrase: func(config.Config) (desk.Secret, error) { return pass, nil }, ThrowAway: true, Version: version,
		// The demo agent is this very process, and so is its core: whoever connects is the agent, and never the owner.
		Agents: agents.Known().With("demo", func(wire.Process) (match, verified bool) { return true, false }),
	}, nil); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	client, err := core.Dial(ctx, d.dirs, d.core.Desk.Fingerprint())
	if err != nil {
		return err
	}
	d.connect(client)
	return nil
}

func (d *terminalDemo) close() error {
	d.leave()
	if d.core == nil {
		return nil
	}
	return d.core.Close()
}

// play runs the steps one after another and then shows and verifies the receipts.
func (d *terminalDemo) play(ctx context.Context) error {
	d.say("Countersign demo: a scripted agent (no model, no network) works on a scratch project under a desk of its own.")
	if d.headless {
		d.say("Headless: this process also plays the owner. In real use only a person answers.")
	}
	for i, step := range demoSteps {
		d.say("\n%d. The demo agent %s", i+1, step.says)
		if err := d.step(ctx, step); err != nil {
			return err
		}
	}
	return d.receipts(ctx)
}

// step plays one step and notes when it did not end as it should.
func (d *terminalDemo) step(ctx context.Context, step demoStep) error {
	// Subscribed before the call is proposed, so that its question cannot be missed.
	sub, err := d.core.Desk.Subscribe(d.core.Desk.Owner(), "", 0)
	if err != nil {
		return err
	}
	defer sub.Cancel()
	answered := make(chan error, 1)
	stop := make(chan struct{})
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		err := d.owner(ctx, step, sub.Frames, stop)
		if err != nil {
			cancel() // nobody answers any more, so the agent need not wait
		}
		answered <- err
	}()
	result, err := d.agent.call(calling, step.tool, step.args)
	close(stop)
	if oerr := <-answered; oerr != nil {
		return oerr
	}
	return d.note(step, result, err)
}

// owner waits for a question of the running step and answers it: the person on the terminal, or in a headless demo
// this process.
func (d *terminalDemo) owner(ctx context.Context, step demoStep, frames <-chan wire.Frame, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return nil // the agent's side says why
		case frame, ok := <-frames:
			if !ok {
				return errors.New("the demo's owner lost the core")
			}
			if frame.Frame != wire.FrameQuestionAsked {
				continue
			}
			var q wire.Question
			if err := json.Unmarshal(frame.Data, &q); err != nil {
				return err
			}
			printCard(d.s.Out, q, time.Now())
			from, err := showing(ctx, d.do, q)
			if err != nil {
				return err
			}
			allow, note := step.answer == "allow", step.note
			if !d.headless {
				if allow, note, err = askPerson(ctx, d.s); err != nil {
					return err
				}
			}
			if err := d.answer(ctx, q, from, allow, note); err != nil {
				return err
			}
		}
	}
}

// answer sends the owner's answer through the same actions as every surface.
func (d *terminalDemo) answer(ctx context.Context, q wire.Question, from time.Time, allow bool, note string) error {
	action, in := wire.ActionQuestionReply, any(wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1, Comment: note})
	if !allow {
		action, in = wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version, Comment: note}
	}
	_, err := answerFrom(ctx, d.do, from, action, in)
	return err
}

// do runs one action as the owner in this very process.
func (d *terminalDemo) do(ctx context.Context, command, action string, in, out any) error {
	args, err := json.Marshal(in)
	if err != nil {
		return err
	}
	reply := d.core.Desk.Do(ctx, d.core.Desk.Owner(), wire.Request{Action: action, CommandID: command, Args: args}, nil)
	if reply.Error != nil {
		return reply.Error
	}
	return json.Unmarshal(reply.Result, out)
}

// askPerson reads the person's decision. Enter alone, or anything else than the whole word, decides nothing. Ctrl-C ends
// the wait; the reader itself cannot be stopped and ends with the process.
func askPerson(ctx context.Context, s *streams) (allow bool, note string, err error) {
	type result struct {
		line string
		err  error
	}
	in := bufio.NewReader(s.In)
	for {
		fmt.Fprint(s.Out, "   Type allow or deny (then, if you like, a note for the agent): ")
		done := make(chan result, 1)
		go func() {
			line, err := in.ReadString('\n')
			done <- result{line, err}
		}()
		var r result
		select {
		case <-ctx.Done():
			fmt.Fprintln(s.Out)
			return false, "", errors.New("interrupted; nothing was decided, and the demo is cleared away")
		case r = <-done:
		}
		if r.err != nil {
			return false, "", fmt.Errorf("nothing was decided: %w", r.err)
		}
		word, note, _ := strings.Cut(strings.TrimSpace(r.line), " ")
		switch word {
		case "allow":
			return true, strings.TrimSpace(note), nil
		case "deny":
			return false, strings.TrimSpace(note), nil
		}
		fmt.Fprintln(s.Out, "   Nothing happened: only the whole word decides, so that no stray key does.")
	}
}

// receipts shows what was recorded and verifies it.
func (d *terminalDemo) receipts(ctx context.Context) error {
	d.say("\nWhat was recorded, newest first:")
	args := json.RawMessage(`{}`)
	reply := d.core.Desk.Do(ctx, d.core.Desk.Owner(), wire.Request{Action: wire.ActionListReceipts, CommandID: uuid.Must(uuid.NewV7()).String(), Args: args}, nil)
	if reply.Error != nil {
		return reply.Error
	}
	var list wire.Receipts
	if err := json.Unmarshal(reply.Result, &list); err != nil {
		return err
	}
	for _, r := range list.Receipts {
		d.say("   %s", receiptLine(r))
	}
	v, err := d.core.Desk.Verify()
	if err != nil {
		return err
	}
	fmt.Fprintln(d.s.Out)
	printVerification(d.s.Out, v)
	if !v.OK || v.Records == 0 {
		d.failed = append(d.failed, "the receipts do not verify")
	}
	if len(d.failed) == 0 {
		name := escape(os.Args[0], false)
		d.say("\nConnect a real agent: %s serve in one terminal, then %s connect claude in another.", name, name)
	}
	return nil
}
