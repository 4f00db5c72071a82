package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

// demoTimeout bounds a headless demo; a guided one waits for its person.
const demoTimeout = 2 * time.Minute

// demoCmd shows the whole way of a call with a scripted agent in a throw-away home. Nothing of the person's own desk,
// keyring or projects is touched.
type demoCmd struct {
	Headless bool `help:"Need no person: play the owner in this process too, and fail unless every step ends as it should."`
	Keep     bool `help:"Keep the throw-away directory and say where it is."`
}

// demo is one run of the demonstration.
type demo struct {
	s        *streams
	headless bool
	project  string
	before   string // working directory of the person
	core     *core.Core
	agent    *demoAgent
	visitor  *visitor
	failed   []string
}

func (c *demoCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if c.Headless {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, demoTimeout)
		defer cancel()
	} else if !isTerminal(s.In) {
		return errors.New("the guided demo asks you a question, and there is no terminal to ask it on. Without a person: countersign demo --headless")
	}
	home, err := os.MkdirTemp("", "countersign-demo-")
	if err != nil {
		return err
	}
	if !c.Keep {
		defer func() {
			if err := os.RemoveAll(home); err != nil {
				fmt.Fprintf(s.Err, "countersign: the throw-away directory %s could not be removed: %v\n", home, err)
			}
		}()
	}
	d := &demo{s: s, headless: c.Headless, project: filepath.Join(home, "project")}
	if err := d.prepare(ctx, home); err != nil {
		return err
	}
	err = errors.Join(d.play(ctx), d.close())
	if c.Keep {
		fmt.Fprintf(s.Out, "Kept: %s\n", home)
	}
	if err != nil {
		return err
	}
	if len(d.failed) > 0 {
		fmt.Fprintf(s.Err, "\nThe demo did not end as it should: %s.\n", strings.Join(d.failed, "; "))
		return status(1)
	}
	return nil
}

// demoConfig holds the rules of the throw-away desk. They name the demo's own scripts, so that each step shows another
// way a decision is made.
const demoConfig = `[identity]
store = "file"

[rules]
deny = ["bash(git push:*)"]
allow = ["edit(greeting.txt)", "bash(./build.sh)", "bash(./phone-home.sh)"]
`

// prepare makes the scratch project and starts a core of its own over it, with an agent connected.
func (d *demo) prepare(ctx context.Context, home string) error {
	var err error
	if d.visitor, err = newVisitor(); err != nil {
		return err
	}
	files := map[string]string{
		"project/README.md":     "# Scratch project\n\nMade by countersign demo; it is deleted at the end.\n",
		"project/greeting.txt":  "Hello, world\n",
		"project/build.sh":      "#!/bin/bash\nset -e\nmkdir -p out\ntr a-z A-Z <greeting.txt >out/greeting.txt\ncat out/greeting.txt\n",
		"project/phone-home.sh": "#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/" + d.visitor.port() + " && echo 'got out' >&3\n",
		// Beside the project: no command may read what lies in a desk's own directory.
		"desk/config/config.toml": demoConfig,
	}
	for _, dir := range []string{"project", "desk", "desk/config"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		mode := os.FileMode(0o600)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o700
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), mode); err != nil {
			return err
		}
	}
	dirs, err := config.Resolve(filepath.Join(home, "desk"), func(string) string { return "" })
	if err != nil {
		return err
	}
	pass := desk.NewSecret(rand.Text())
	if d.core, err = core.Start(ctx, core.Options{
		Dirs: dirs, Passphrase: func(config.Config) (desk.Secret, error) { return pass, nil }, ThrowAway: true, Version: version,
		// The demo agent is this very process, and so is its core: whoever connects is the agent, and never the owner.
		Agents: agents.Known().With("demo", func(wire.Process) (match, verified bool) { return true, false }),
	}, nil); err != nil {
		return err
	}
	// An agent's roots are where its process works.
	if d.before, err = os.Getwd(); err != nil {
		return err
	}
	if err := os.Chdir(d.project); err != nil {
		return err
	}
	client, err := core.Dial(ctx, dirs, d.core.Desk.Fingerprint())
	if err != nil {
		return err
	}
	d.agent = &demoAgent{client: client, cwd: d.project, session: uuid.NewString(), turn: uuid.NewString()}
	return nil
}

func (d *demo) close() error {
	d.visitor.close()
	if d.before != "" {
		_ = os.Chdir(d.before)
	}
	if d.agent != nil {
		_ = d.agent.client.Close()
	}
	return d.core.Close()
}

// play runs the steps one after another and then shows and verifies the receipts.
func (d *demo) play(ctx context.Context) error {
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

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.s.Out, format+"\n", args...) }

// demoStep is one scripted call with how it must end.
type demoStep struct {
	says    string
	tool    string
	args    map[string]any
	answer  string // headless: what the owner does when asked, "allow" or "deny"
	note    string // headless: the owner's note
	expects func(d *demo, r demoResult) string
}

var demoSteps = []demoStep{
	{
		says: "reads README.md. Reading inside the project is safe: nobody is asked.", tool: "read",
		args:    map[string]any{"path": "README.md"},
		expects: func(_ *demo, r demoResult) string { return r.ran("safe_read", 0, "Scratch project") },
	},
	{
		says: "edits greeting.txt. A rule allows it; the file is written only if it still is what was approved.", tool: "edit",
		args: map[string]any{"path": "greeting.txt", "old_string": "world", "new_string": "Countersign"},
		expects: func(d *demo, r demoResult) string {
			data, err := os.ReadFile(filepath.Join(d.project, "greeting.txt"))
			if err != nil || string(data) != "Hello, Countersign\n" {
				return "greeting.txt was not written as approved"
			}
			return r.ran("rule_allow", 0, "")
		},
	},
	{
		says: "runs ./build.sh. A rule allows it; it runs inside the boundary.", tool: "bash",
		args:    map[string]any{"command": "./build.sh", "description": "build"},
		expects: func(_ *demo, r demoResult) string { return r.ran("rule_allow", 0, "HELLO, COUNTERSIGN") },
	},
	{
		says: "runs ./phone-home.sh, which tries to reach a listener of this demo over the network. It fails inside.", tool: "bash",
		args: map[string]any{"command": "./phone-home.sh"},
		expects: func(d *demo, r demoResult) string {
			if d.visitor.visited() {
				return "the command reached the network"
			}
			if r.exit == 0 {
				return "the command did not notice that there is no network"
			}
			return r.ran("rule_allow", r.exit, "")
		},
	},
	{
		says: "wants to run git push. A deny rule stops it; nothing starts.", tool: "bash",
		args:    map[string]any{"command": "git push origin main"},
		expects: func(_ *demo, r demoResult) string { return r.stopped("denied", "rule_deny") },
	},
	{
		says: "wants to leave a file behind. No rule covers it: the owner is asked.", tool: "bash",
		args: map[string]any{"command": "touch approved.txt && ls", "description": "leave a mark"}, answer: "allow", note: "this once",
		expects: func(d *demo, r demoResult) string {
			if r.status.Outcome == "refused" && !d.headless {
				return ""
			}
			if _, err := os.Stat(filepath.Join(d.project, "approved.txt")); err != nil {
				return "approved.txt is missing"
			}
			return r.ran("approval_required", 0, "approved.txt")
		},
	},
	{
		says: "wants to remove build.sh. No rule covers it: the owner is asked again.", tool: "bash",
		args: map[string]any{"command": "rm build.sh"}, answer: "deny", note: "keep the script",
		expects: func(d *demo, r demoResult) string {
			if r.status.Outcome != "refused" && !d.headless {
				return ""
			}
			if !strings.Contains(r.status.Message, "keep the script") && d.headless {
				return "the owner's note did not reach the agent"
			}
			return r.stopped("refused", "approval_required")
		},
	},
}

// step plays one step and notes when it did not end as it should.
func (d *demo) step(ctx context.Context, step demoStep) error {
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
	if err != nil {
		var we *wire.Error
		if !errors.As(err, &we) {
			return err
		}
		d.say("   refused: %s", wireSentence(we))
		d.failed = append(d.failed, fmt.Sprintf("%q was refused: %s", step.tool, we.Code))
		return nil
	}
	d.say("   %s", strings.ReplaceAll(result.words(d.ownerName()), "\n", "\n   "))
	if problem := step.expects(d, result); problem != "" {
		d.say("   NOT AS IT SHOULD BE: %s", problem)
		d.failed = append(d.failed, problem)
	}
	return nil
}

// owner waits for a question of the running step and answers it: the person on the terminal, or in a headless demo
// this process.
func (d *demo) owner(ctx context.Context, step demoStep, frames <-chan wire.Frame, stop <-chan struct{}) error {
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
			allow, note, err := step.answer == "allow", step.note, error(nil)
			if !d.headless {
				if allow, note, err = askPerson(ctx, d.s); err != nil {
					return err
				}
			}
			if err := d.answer(ctx, q, allow, note); err != nil {
				return err
			}
		}
	}
}

// answer sends the owner's answer through the same actions as every surface.
func (d *demo) answer(ctx context.Context, q wire.Question, allow bool, note string) error {
	action, in := wire.ActionQuestionReply, any(wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1, Comment: note})
	if !allow {
		action, in = wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version, Comment: note}
	}
	args, err := json.Marshal(in)
	if err != nil {
		return err
	}
	reply := d.core.Desk.Do(ctx, d.core.Desk.Owner(), wire.Request{Action: action, CommandID: uuid.Must(uuid.NewV7()).String(), Args: args}, nil)
	if reply.Error != nil {
		return reply.Error
	}
	return nil
}

// ownerName is who answers, in the words of what the demo prints.
func (d *demo) ownerName() string {
	if d.headless {
		return "the owner"
	}
	return "you"
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
func (d *demo) receipts(ctx context.Context) error {
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
