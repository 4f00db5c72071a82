package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"countersign/backend/agents/claude"
	"countersign/backend/wire"
)

type connectCmd struct {
	Agent    string `arg:"" enum:"claude" help:"Which agent: claude."`
	Settings string `help:"The agent's settings file, where it is not in its usual place." type:"path"`
	Quiet    bool   `help:"Leave out the native ask rules underneath: no flash of the agent's own dialog, and no second lock when a hook fails."`
	NoStart  bool   `help:"Hooks never start a core: without one, calls are denied."`
	DryRun   bool   `help:"Show the change and make none."`
	JSON     bool   `help:"Print the change as JSON."`
}

func (c *connectCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		// Asking for something that only people may ask for: a process below an agent is told so here.
		if err := client.Do(ctx, wire.ActionListSessions, wire.ListSessions{}, nil); err != nil {
			return err
		}
		o, err := connectOptions(c.Settings, client.Core())
		if err != nil {
			return err
		}
		o.DryRun, o.Command.NoStart = c.DryRun, c.NoStart
		if c.Quiet {
			o.Mode = claude.ModeQuiet
		}
		change, err := claude.Connect(o)
		if err != nil {
			return err
		}
		if !c.DryRun && len(change.Import.Deny)+len(change.Import.Ask) > 0 {
			in := wire.ImportRules{Agent: c.Agent, Deny: change.Import.Deny, Ask: change.Import.Ask}
			if err := client.Do(ctx, wire.ActionImportRules, in, nil); err != nil {
				return fmt.Errorf("the hooks are in place, but the agent's own rules could not be taken over; run connect again: %w", err)
			}
		}
		if c.JSON {
			return printJSON(s.Out, change)
		}
		printChange(s, change)
		switch {
		case c.DryRun:
			fmt.Fprintln(s.Out, "Nothing was written (--dry-run).")
		case change.Changed:
			fmt.Fprintln(s.Out, "Connected. Sessions that run already ask here from their next start. Look with: countersign status")
		default:
			fmt.Fprintln(s.Out, "Already connected; nothing had to change.")
		}
		return nil
	})
}

type disconnectCmd struct {
	Agent    string `arg:"" enum:"claude" help:"Which agent: claude."`
	Settings string `help:"The agent's settings file, where it is not in its usual place." type:"path"`
	DryRun   bool   `help:"Show the change and make none."`
	JSON     bool   `help:"Print the change as JSON."`
}

func (c *disconnectCmd) Run(s *streams) error {
	// With a core, it says whether a person may be asking; without one, agents are refused everything anyway.
	err := withCore(func(ctx context.Context, client *wire.Client) error {
		return client.Do(ctx, wire.ActionListSessions, wire.ListSessions{}, nil)
	})
	if err != nil && !errors.Is(err, wire.ErrNoCore) {
		return err
	}
	o, err := connectOptions(c.Settings, "")
	if err != nil {
		return err
	}
	o.DryRun = c.DryRun
	change, err := claude.Disconnect(o)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.Out, change)
	}
	printChange(s, change)
	switch {
	case c.DryRun:
		fmt.Fprintln(s.Out, "Nothing was written (--dry-run).")
	case change.Removed:
		fmt.Fprintln(s.Out, "Disconnected: the file held nothing else and is gone.")
	case change.Exact:
		fmt.Fprintln(s.Out, "Disconnected: the file is byte for byte what it was before.")
	case change.Changed:
		fmt.Fprintln(s.Out, "Disconnected: our entries are out; what else changed since then stayed.")
	}
	return nil
}

// connectOptions says which file to edit and what to write into it.
func connectOptions(file, core string) (claude.ConnectOptions, error) {
	dirs, err := directories()
	if err != nil {
		return claude.ConnectOptions{}, err
	}
	self, _, err := binaries()
	if err != nil {
		return claude.ConnectOptions{}, err
	}
	if file == "" {
		// A person types this: their own HOME says whose settings are meant.
		home, err := os.UserHomeDir()
		if err != nil {
			return claude.ConnectOptions{}, err
		}
		file = claude.SettingsPath(home)
	}
	hookHome, err := dirs.HookHome()
	if err != nil {
		return claude.ConnectOptions{}, err
	}
	return claude.ConnectOptions{
		Settings: file, State: dirs.State, Now: time.Now().UTC(),
		Command: claude.HookCommand{Binary: self, Home: hookHome, Core: core},
	}, nil
}

func printChange(s *streams, c claude.Change) {
	fmt.Fprintf(s.Out, "%s\n", escape(c.Target, false))
	if c.Diff != "" {
		fmt.Fprint(s.Out, escape(c.Diff, true))
	}
	if c.Backup != "" {
		fmt.Fprintf(s.Out, "The file as it was first found is kept: %s\n", escape(c.Backup, false))
	}
	for _, note := range c.Notes {
		fmt.Fprintf(s.Out, "Note: %s\n", escape(note, false))
	}
	for _, list := range []struct {
		name  string
		rules []string
	}{{"deny", c.Import.Deny}, {"ask", c.Import.Ask}} {
		if len(list.rules) > 0 {
			fmt.Fprintf(s.Out, "Its own %s rules hold here too now: %s\n", list.name, escape(strings.Join(list.rules, ", "), false))
		}
	}
	for _, rule := range c.Import.NotCarried {
		fmt.Fprintf(s.Out, "Not carried over: %s\n", escape(rule, false))
	}
}

type statusCmd struct {
	Agent    string `arg:"" optional:"" enum:"claude," default:"" help:"Which agent: claude."`
	Settings string `help:"The agent's settings file, where it is not in its usual place." type:"path"`
	JSON     bool   `help:"Print as JSON."`
}

// statusReport is what status prints as JSON.
type statusReport struct {
	Core   *wire.Status   `json:"core"` // absent when none runs
	Claude *claude.Report `json:"claude"`
}

func (c *statusCmd) Run(s *streams) error {
	var out statusReport
	var projects []string
	core := ""
	err := withCore(func(ctx context.Context, client *wire.Client) error {
		out.Core, core = &wire.Status{}, client.Core()
		if err := client.Do(ctx, wire.ActionStatus, wire.Empty{}, out.Core); err != nil {
			return err
		}
		var sessions wire.Sessions
		if err := client.Do(ctx, wire.ActionListSessions, wire.ListSessions{}, &sessions); err == nil {
			for _, x := range sessions.Sessions {
				projects = append(projects, x.Project)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, wire.ErrNoCore) {
		return err
	}
	if cwd, err := os.Getwd(); err == nil {
		projects = append(projects, cwd)
	}
	o, err := connectOptions(c.Settings, core)
	if err != nil {
		return err
	}
	report, err := claude.Status(claude.StatusOptions{Settings: o.Settings, State: o.State, Command: o.Command, Projects: projects})
	if err != nil {
		return err
	}
	out.Claude = &report
	if c.JSON {
		return printJSON(s.Out, out)
	}
	if out.Core == nil {
		fmt.Fprintln(s.Out, "core     not running. A hook starts one, or: countersign serve")
	} else {
		fmt.Fprintf(s.Out, "core     running (process %d, key %s), %d waiting, sandbox %s\n", out.Core.PID, out.Core.Fingerprint, out.Core.Questions, out.Core.Boundary.Enforcement)
		for _, p := range out.Core.Problems {
			fmt.Fprintf(s.Out, "         problem: %s\n", wireSentence(&wire.Error{Code: p.Code, Args: p.Args}))
		}
	}
	fmt.Fprintf(s.Out, "claude   %s (%s)\n", strings.ReplaceAll(string(report.State), "_", " "), escape(report.Target, false))
	for _, f := range report.Findings {
		mark := "note"
		if f.Opens {
			mark = "OPEN"
		}
		fmt.Fprintf(s.Out, "         %s: %s\n", mark, findingSentence(f))
	}
	return nil
}

// findingSentence says what a finding means.
func findingSentence(f claude.Finding) string {
	text, ok := findingSentences[f.Code]
	if !ok {
		text = f.Code
	}
	if f.File != "" {
		text += " — " + escape(f.File, false)
	}
	if f.Detail != "" {
		text += " (" + escape(f.Detail, false) + ")"
	}
	return text
}

var findingSentences = map[string]string{
	claude.FindHooksDisabled:   "hooks are switched off, so nothing is asked here",
	claude.FindForeignHook:     "another hook may answer first or change a call after us",
	claude.FindBinaryMissing:   "the program that the hook names is not there: connect again",
	claude.FindBinaryUnusable:  "the program that the hook names cannot be executed",
	claude.FindOtherCore:       "the hook is pinned to another core's key: connect again",
	claude.FindOtherBinary:     "the hook names another program or home than this one",
	claude.FindEventMissing:    "one of our hooks is gone: connect again",
	claude.FindEntryChanged:    "one of our hooks was changed: connect again",
	claude.FindAskMissing:      "native ask rules underneath are gone: connect again",
	claude.FindNoNative:        "quiet: nothing stands underneath when a hook fails",
	claude.FindBypass:          "Claude's default mode is bypassPermissions",
	claude.FindAllowRule:       "Claude allows by itself when the hook fails",
	claude.FindUnreadable:      "the settings cannot be read, so Claude loads nothing from them",
	claude.FindComments:        "Claude does not load a settings file with comments",
	claude.FindPlugins:         "plugins are on; their hooks are not inspected",
	claude.FindOtherUnreadable: "other settings that count too cannot be read",
}
