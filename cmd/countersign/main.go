// Command countersign is the command line of Countersign, the approval desk for AI agents: the core without a window,
// the hooks agents call, the inbox in a terminal, the receipts. It needs no cgo and loads no GUI library.
//
// Exit status: 0 ok, 1 refused or failed, 2 usage. `run --call` ends with the status of the command it ran.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// streams are what a verb reads and writes.
type streams struct {
	In       *os.File
	Out, Err io.Writer
}

type commandLine struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Serve      serveCmd      `cmd:"" help:"Run the core: it decides, asks you and keeps the record.\n\nExample: countersign serve"`
	Stop       stopCmd       `cmd:"" help:"Stop the running core. What agents wait for is kept.\n\nExample: countersign stop"`
	Demo       demoCmd       `cmd:"" help:"Watch a scripted agent be asked, answered, boxed and recorded.\n\nExample: countersign demo"`
	Open       openCmd       `cmd:"" help:"Open the desk's window, on what a link names.\n\nExample: countersign open countersign://approval/019af3c2-7b1e-7cc3-9d52-6a0e4b8f1d27"`
	Explain    explainCmd    `cmd:"" help:"Say what would be decided about a call, and why. Needs no core.\n\nExample: countersign explain -- git status"`
	Pending    pendingCmd    `cmd:"" help:"List what waits for you.\n\nExample: countersign pending"`
	Answer     answerCmd     `cmd:"" help:"Answer one waiting approval.\n\nExample: countersign answer 3f9a1c20 allow --comment 'only this time'"`
	Watch      watchCmd      `cmd:"" help:"Follow approvals as they are asked and answered.\n\nExample: countersign watch"`
	Receipts   receiptsCmd   `cmd:"" help:"List, show and verify receipts."`
	Rules      rulesCmd      `cmd:"" help:"List, add, try, trust and remove rules."`
	Classifier classifierCmd `cmd:"" help:"Keep the key of auto mode's classifier, and try the classifier."`
	Project    projectCmd    `cmd:"" help:"Show or settle a project's mode and boxed reads.\n\nExample: countersign project . --mode acceptEdits"`
	Sessions   sessionsCmd   `cmd:"" help:"List agents' sessions, resume a paused one, add a directory.\n\nExample: countersign sessions"`
	Mode       modeCmd       `cmd:"" help:"Set a session's permission mode.\n\nExample: countersign mode 3f9a1c20 plan"`
	Connect    connectCmd    `cmd:"" help:"Connect an agent: edit its settings so that it asks here.\n\nExample: countersign connect claude"`
	Disconnect disconnectCmd `cmd:"" help:"Remove our entries from an agent's settings.\n\nExample: countersign disconnect claude"`
	Status     statusCmd     `cmd:"" help:"Show the core and how each agent is gated.\n\nExample: countersign status"`
	Doctor     doctorCmd     `cmd:"" help:"Show what can be enforced on this machine, protection by protection.\n\nExample: countersign doctor sandbox"`
	Hook       hookCmd       `cmd:"" help:"What an agent calls: reads one hook event from standard input.\n\nExample: countersign hook claude --home DIR <event.json"`
	Run        runCmd        `cmd:"" help:"Run an allowed call in its boundary (used by hooks).\n\nExample: countersign run --call ID"`
	Version    versionCmd    `cmd:"" help:"Print the version.\n\nExample: countersign version"`
}

// status is an error that sets the exit status and was already explained to the person.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func main() {
	// A hook must answer even when something in here is broken: hookCmd recovers for itself. Everywhere else a panic
	// is a fault of ours, told in one sentence.
	os.Exit(run(os.Args[1:], &streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

func run(args []string, s *streams) (code int) {
	var line commandLine
	code = -1
	parser, err := kong.New(&line,
		kong.Name("countersign"),
		kong.Description("The approval desk for AI agents."),
		kong.UsageOnError(),
		kong.Writers(s.Out, s.Err),
		kong.Exit(func(c int) { panic(exitNow(c)) }),
		kong.Bind(s),
		kong.Vars{"version": versionLine()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(s.Err, "countersign:", err)
		return 2
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exitNow:
			code = int(p)
		default:
			fmt.Fprintf(s.Err, "countersign: internal fault: %v. Nothing was allowed by it. Please report it.\n", p)
			if os.Getenv("COUNTERSIGN_DEBUG") != "" {
				fmt.Fprintf(s.Err, "%s\n", debug.Stack())
			}
			code = 1
		}
	}()
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(s.Err, "countersign: %v\nRun \"countersign --help\".\n", err)
		return 2
	}
	err = ctx.Run(s)
	var st status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &st):
		return int(st)
	}
	fmt.Fprintln(s.Err, "countersign: "+sentenceOf(err))
	return 1
}

// exitNow carries the status of kong's own exits (--help) out of the parser.
type exitNow int
