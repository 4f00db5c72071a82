package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/google/uuid"

	"countersign/backend/wire"
)

// actionTimeout bounds one action that does not wait for anybody: a hung core must not hang a person's terminal.
const actionTimeout = 10 * time.Second

// withCore connects to the running core and runs fn. It starts none: looking never changes what runs.
func withCore(fn func(ctx context.Context, c *wire.Client) error) error {
	dirs, err := directories()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actionTimeout)
	defer cancel()
	client, err := dial(ctx, dirs, "")
	if err != nil {
		return err
	}
	defer client.Close()
	return fn(ctx, client)
}

type pendingCmd struct {
	JSON bool `help:"Print the questions as JSON."`
}

func (c *pendingCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var list wire.Questions
		if err := client.Do(ctx, wire.ActionListQuestions, wire.ListQuestions{}, &list); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, list.Questions)
		}
		if len(list.Questions) == 0 {
			_, err := fmt.Fprintln(s.Out, "Nothing is waiting.")
			return err
		}
		for i, q := range list.Questions {
			if i > 0 {
				fmt.Fprintln(s.Out)
			}
			printWaiting(s.Out, q, time.Now())
		}
		return nil
	})
}

type answerCmd struct {
	ID       string `arg:"" help:"The approval's id, or its last characters as pending prints them."`
	Decision string `arg:"" enum:"allow,deny" help:"allow or deny."`
	Offer    int    `help:"Which offer to take, as pending numbers them." default:"1"`
	Comment  string `help:"A note for the model."`
	StopTurn bool   `help:"With deny: also deny what else this session waits for."`
}

func (c *answerCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		q, err := findQuestion(ctx, client, c.ID)
		if err != nil {
			return err
		}
		action, in := wire.ActionQuestionReply, any(wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: c.Offer, Comment: c.Comment})
		if c.Decision == "deny" {
			action, in = wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version, Comment: c.Comment, StopTurn: c.StopTurn}
		}
		printCard(s.Out, q, time.Now())
		var result wire.AnswerResult
		if err := doAsOwner(ctx, client, action, in, &result); err != nil {
			return err
		}
		word := "Denied."
		if result.Outcome == "allow" {
			word = "Allowed."
		}
		_, err = fmt.Fprintln(s.Out, word)
		return err
	})
}

// doAsOwner runs an action that only the owner may use: when the core asks for presence, the desk passphrase is read
// from the terminal and the action is sent again under the same command id.
func doAsOwner(ctx context.Context, client *wire.Client, action string, in, out any) error {
	command := uuid.Must(uuid.NewV7()).String()
	err := client.DoWith(ctx, command, action, in, nil, out)
	var we *wire.Error
	if !errors.As(err, &we) || we.Code != "presence_required" {
		return err
	}
	pass, err := askText("Desk passphrase: ")
	if errors.Is(err, errNoTerminal) {
		return we
	}
	if err != nil {
		return err
	}
	// A person typed for a while: the time for the actions starts now.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actionTimeout)
	defer cancel()
	var unlocked wire.Unlocked
	if err := client.Do(ctx, wire.ActionUnlockTerminal, wire.UnlockTerminal{Passphrase: pass}, &unlocked); err != nil {
		return err
	}
	return client.DoWith(ctx, command, action, in, nil, out)
}

// findQuestion finds the open question an id, or the end of one, means.
func findQuestion(ctx context.Context, client *wire.Client, id string) (wire.Question, error) {
	var list wire.Questions
	if err := client.Do(ctx, wire.ActionListQuestions, wire.ListQuestions{}, &list); err != nil {
		return wire.Question{}, err
	}
	return findByID(list.Questions, id, func(q wire.Question) string { return q.ID }, "approval", "countersign pending")
}

// minSuffix is the shortest end of an id that names something.
const minSuffix = 4

// findByID finds what id, or a unique end of one, names.
func findByID[T any](list []T, id string, of func(T) string, what, where string) (T, error) {
	var found []T
	for _, item := range list {
		if id != "" && of(item) == id || len(id) >= minSuffix && strings.HasSuffix(of(item), id) {
			found = append(found, item)
		}
	}
	var none T
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return none, fmt.Errorf("no %s %q is here. List them with: %s", what, escape(id, false), where)
	}
	return none, fmt.Errorf("%q names %d of them; give more of the id", escape(id, false), len(found))
}

// shortID is the end of an id: the part that differs between ids of one moment.
func shortID(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}

type watchCmd struct {
	JSON bool `help:"Print every frame as one JSON line."`
}

func (c *watchCmd) Run(s *streams) error {
	dirs, err := directories()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := dial(ctx, dirs, "")
	if err != nil {
		return err
	}
	defer client.Close()
	var subscribed wire.Subscribed
	if err := client.Do(ctx, wire.ActionSubscribe, wire.Subscribe{}, &subscribed); err != nil {
		return err
	}
	var list wire.Questions
	if err := client.Do(ctx, wire.ActionListQuestions, wire.ListQuestions{}, &list); err != nil {
		return err
	}
	if !c.JSON {
		for _, q := range list.Questions {
			printWaiting(s.Out, q, time.Now())
		}
		fmt.Fprintf(s.Err, "%d waiting. Following; Ctrl-C ends it.\n", len(list.Questions))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case frame, ok := <-client.Frames():
			if !ok {
				return fmt.Errorf("the core went away. What waits is kept; start it again with: countersign serve")
			}
			if frame.Epoch == list.Epoch && frame.Seq <= list.Seq {
				continue
			}
			if c.JSON {
				if err := printJSONLine(s.Out, frame); err != nil {
					return err
				}
				continue
			}
			printFrame(s.Out, frame)
		}
	}
}

// printFrame prints what a frame says to a person who follows along.
func printFrame(w io.Writer, f wire.Frame) {
	var q wire.Question
	switch f.Frame {
	case wire.FrameQuestionAsked:
		if json.Unmarshal(f.Data, &q) == nil {
			printWaiting(w, q, time.Now())
		}
	case wire.FrameQuestionClosed:
		if json.Unmarshal(f.Data, &q) == nil {
			fmt.Fprintf(w, "%s  closed: %s\n", shortID(q.ID), closedWords(q))
		}
	}
}

// closedWords says how a question ended; a time-out is never called a denial.
func closedWords(q wire.Question) string {
	switch q.Outcome {
	case "allow":
		return "allowed by the owner"
	case "deny":
		return "denied by the owner"
	}
	return strings.ReplaceAll(escape(q.Outcome, false), "_", " ")
}

func printJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}

func printJSONLine(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}
