package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/wire"
)

// demoTimeout bounds a headless demo; a guided one waits for its person.
const demoTimeout = 2 * time.Minute

// demoCmd shows the whole way of a call with a scripted agent in a throw-away home. Nothing of the person's own desk,
// keyring or projects is touched.
type demoCmd struct {
	Headless bool `help:"Need no person: play the owner in this process too, and fail unless every step ends as it should." xor:"where"`
	Terminal bool `help:"Be asked in this terminal, even where the desk's window could open." xor:"where"`
	Keep     bool `help:"Keep the throw-away directory and say where it is."`
}

// demo is one run of the demonstration, wherever the person is asked.
type demo struct {
	s        *streams
	headless bool
	home     string
	project  string
	before   string // working directory of the person
	dirs     config.Dirs
	agent    *demoAgent
	visitor  *visitor
	failed   []string
}

func (c *demoCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	program, installed := core.DeskInstalled()
	display, hasDisplay := core.OwnDisplay(os.Environ())
	window := !c.Headless && !c.Terminal && installed && hasDisplay
	if c.Headless {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, demoTimeout)
		defer cancel()
	} else if !window && !isTerminal(s.In) {
		return errors.New("the guided demo asks you a question, and there is neither a display with the desk's window nor a terminal to ask it on. Without a person: countersign demo --headless")
	}
	home, err := os.MkdirTemp("", "countersign-demo-")
	if err != nil {
		return err
	}
	// One name for one place: the desk calls its directories by their real paths.
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return err
	}
	if !c.Keep {
		defer removeDemo(s, home)
	}
	d := &demo{s: s, headless: c.Headless, home: home, project: filepath.Join(home, "project")}
	if err := d.lay(home); err != nil {
		return err
	}
	if window {
		err = (&windowDemo{demo: d, program: program, display: display}).run(ctx)
	} else {
		err = (&terminalDemo{demo: d}).run(ctx)
	}
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

// removePatience is how long the throw-away directory is tried to be removed: the window's own helpers may still be
// ending, and write.
const removePatience = 2 * time.Second

func removeDemo(s *streams, home string) {
	deadline := time.Now().Add(removePatience)
	err := os.RemoveAll(home)
	for err != nil && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
		err = os.RemoveAll(home)
	}
	if err != nil {
		fmt.Fprintf(s.Err, "countersign: the throw-away directory %s could not be removed: %v\n", home, err)
	}
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.s.Out, format+"\n", args...) }

// enter goes into the project: an agent's roots are where its process works.
func (d *demo) enter() (err error) {
	if d.before, err = os.Getwd(); err != nil {
		return err
	}
	return os.Chdir(d.project)
}

// connect makes the client the demo agent's.
func (d *demo) connect(client *wire.Client) {
	d.agent = &demoAgent{client: client, cwd: d.project, session: uuid.NewString(), turn: uuid.NewString()}
}

// leave ends the agent and goes back to where the person was.
func (d *demo) leave() {
	d.visitor.close()
	if d.before != "" {
		_ = os.Chdir(d.before)
	}
	if d.agent != nil {
		_ = d.agent.client.Close()
	}
}

// note tells how a step ended, and notes when it did not end as it should. An error that the core did not answer is
// handed back: the demo cannot go on.
func (d *demo) note(step demoStep, result demoResult, err error) error {
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

// ownerName is who answers, in the words of what the demo prints.
func (d *demo) ownerName() string {
	if d.headless {
		return "the owner"
	}
	return "you"
}
