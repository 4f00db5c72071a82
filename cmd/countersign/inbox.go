package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// actionTimeout bounds one action that does not wait for anybody: a hung core must not hang a person's terminal.
const actionTimeout = 10 * time.Second

// withCore connects to the running core and runs fn. It starts none: looking never changes what runs.
func withCore(fn func(ctx context.Context, c *wire.Client) error) error {
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actionTimeout)
	defer cancel()
	client, err := core.Dial(ctx, dirs, "")
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
		var st wire.Status
		if err := client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st); err != nil {
			return err
		}
		for i, q := range list.Questions {
			if i > 0 {
				fmt.Fprintln(s.Out)
			}
			printWaiting(s.Out, q, time.Now())
			if st.Window {
				fmt.Fprintf(s.Out, "    %-10s countersign open %s%s/%s\n", "window", linkPrefix, wire.LinkApproval, shortID(q.ID))
			}
		}
		if list.More > 0 {
			fmt.Fprintf(s.Out, "\n%d more wait; they are shown once these are answered.\n", list.More)
		}
		return nil
	})
}

type answerCmd struct {
	ID       string `arg:"" help:"The approval's id, or its last characters as pending prints them."`
	Decision string `arg:"" enum:"allow,deny" help:"allow or deny."`
	Offer    int    `help:"Which offer to take, as pending numbers them." default:"1"`
	Comment  string `help:"A note for the model."`
	DenyRest bool   `help:"With deny: also deny the other approvals this session waits for now. Its turn goes on."`
}

func (c *answerCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		q, err := findQuestion(ctx, client, c.ID)
		if err != nil {
			return err
		}
		action, in := wire.ActionQuestionReply, any(wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: c.Offer, Comment: c.Comment})
		var offer wire.Offer
		if c.Decision == "deny" {
			action, in = wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version, Comment: c.Comment, StopTurn: c.DenyRest}
		} else if offer, err = chosenOffer(s, q, c.Offer); err != nil {
			return err
		}
		// The card is printed when the answer is the next thing that happens: a passphrase typed in between would push it
		// away, and what counts as read is what stands there now.
		if err := showPresence(ctx, s, client); err != nil {
			return err
		}
		printCard(s.Out, q, time.Now())
		var result wire.AnswerResult
		err = inTime(ctx, func(ctx context.Context) error {
			do := func(ctx context.Context, command, action string, in, out any) error {
				return client.DoWith(ctx, command, action, in, nil, out)
			}
			from, err := showing(ctx, do, q)
			if err != nil {
				return err
			}
			result, err = answerFrom(ctx, do, from, action, in)
			return err
		})
		if err != nil {
			return err
		}
		if result.Outcome != "allow" {
			_, err = fmt.Fprintln(s.Out, "Denied.")
			return err
		}
		fmt.Fprintln(s.Out, "Allowed.")
		if len(offer.Rules) > 0 {
			printSaved(ctx, s.Out, client, q, offer)
		}
		return nil
	})
}

// chosenOffer finds the offer that was asked for, before anybody types a passphrase for one that was not made.
func chosenOffer(s *streams, q wire.Question, number int) (wire.Offer, error) {
	var numbers []string
	for _, o := range q.Offers {
		if o.Number == number {
			return o, nil
		}
		numbers = append(numbers, strconv.Itoa(o.Number))
	}
	fmt.Fprintf(s.Err, "countersign: there is no offer %d for this approval; it has %s\n", number, strings.Join(numbers, ", "))
	return wire.Offer{}, status(2)
}

// printSaved says which rules an answer left behind and how each is taken away again.
func printSaved(ctx context.Context, w io.Writer, client *wire.Client, q wire.Question, offer wire.Offer) {
	var list wire.PermissionRules
	// The rules are saved already; where they cannot be listed now, rules list shows them later.
	err := inTime(ctx, func(ctx context.Context) error {
		return client.Do(ctx, wire.ActionListPermissionRules, wire.ListPermissionRules{}, &list)
	})
	for _, text := range offer.Rules {
		remove := "countersign rules list shows its id"
		for _, r := range list.Rules {
			if err == nil && r.ID != "" && r.From == q.ID && r.Rule.String() == text {
				remove = "take it back with: countersign rules remove " + shortID(r.ID)
			}
		}
		fmt.Fprintf(w, "Saved for this %s: allow %s; %s\n", escape(offer.Scope, false), escape(text, false), remove)
	}
}

// passphraseTries is how often a passphrase may be typed before the command ends. The core counts too, and makes
// guessing slow.
const passphraseTries = 3

// doAsOwner runs an action that only the owner may use: when the core asks for presence, the desk passphrase is read
// from the terminal and the action is sent again under the same command id.
func doAsOwner(ctx context.Context, s *streams, client *wire.Client, action string, in, out any) error {
	command := newCommandID()
	err := client.DoWith(ctx, command, action, in, nil, out)
	if !isCode(err, "presence_required") {
		return err
	}
	if err := unlock(ctx, s, client); err != nil {
		return err
	}
	return inTime(ctx, func(ctx context.Context) error {
		return client.DoWith(ctx, command, action, in, nil, out)
	})
}

// showPresence has the owner's presence shown where it does not count yet.
func showPresence(ctx context.Context, s *streams, client *wire.Client) error {
	var st wire.Status
	if err := client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st); err != nil || st.Unlocked {
		return err
	}
	return unlock(ctx, s, client)
}

// unlock reads the desk passphrase from the terminal until it is right, after asking whether it would count here at all.
func unlock(ctx context.Context, s *streams, client *wire.Client) error {
	err := client.Do(ctx, wire.ActionUnlockTerminal, wire.UnlockTerminal{}, nil)
	if !isCode(err, "presence_required") && !isCode(err, "no_terminal") { // which is said in our own words
		return err
	}
	for try := 1; ; try++ {
		pass, err := askText(context.WithoutCancel(ctx), "Desk passphrase: ")
		if errors.Is(err, errNoTerminal) {
			return errors.New("this needs the desk passphrase, and there is no terminal here to type it on. Run it in a terminal")
		}
		if err != nil {
			return err
		}
		var unlocked wire.Unlocked
		err = inTime(ctx, func(ctx context.Context) error {
			return client.Do(ctx, wire.ActionUnlockTerminal, wire.UnlockTerminal{Passphrase: pass}, &unlocked)
		})
		if isCode(err, "passphrase_wrong") && try < passphraseTries {
			fmt.Fprintln(s.Err, "That is not the desk passphrase. Once more.")
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Err, "This terminal may answer until %s.\n", unlocked.Until.Local().Format("15:04"))
		return nil
	}
}

// inTime runs one action after a person typed for a while: its time starts now.
func inTime(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actionTimeout)
	defer cancel()
	return fn(ctx)
}

// isCode reports whether the core answered with this code.
func isCode(err error, code string) bool {
	var we *wire.Error
	return errors.As(err, &we) && we.Code == code
}

// findQuestion finds the open question an id, or the end of one, means.
func findQuestion(ctx context.Context, client *wire.Client, id string) (wire.Question, error) {
	var list wire.Questions
	if err := client.Do(ctx, wire.ActionListQuestions, wire.ListQuestions{Brief: true}, &list); err != nil {
		return wire.Question{}, err
	}
	q, err := findByID(list.Questions, id, func(q wire.Question) string { return q.ID }, "approval", "countersign pending")
	if err != nil {
		return wire.Question{}, err
	}
	err = client.Do(ctx, wire.ActionGetQuestion, wire.GetQuestion{ID: q.ID}, &q)
	return q, err
}

// findByID finds what id, or a unique end of one, names.
func findByID[T any](list []T, id string, of func(T) string, what, where string) (T, error) {
	found := desk.NamedBy(list, id, of)
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
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := core.Dial(ctx, dirs, "")
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
				return fmt.Errorf("the core went away. What agents wait for is kept; start it again with: countersign serve")
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
