package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"countersign/app/i18n"
	"countersign/backend/agents/claude"
	"countersign/backend/agents/imports"
	"countersign/backend/agents/settings"
	"countersign/backend/config"
	"countersign/backend/core"
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

// unknownCore stands for the core's key in a dry run without a core.
const unknownCore = "KEY-OF-YOUR-CORE"

func (c *connectCmd) Run(s *streams) error {
	err := withCore(func(ctx context.Context, client *wire.Client) error {
		// Asking for something that only people may ask for: a process below an agent is told so here.
		if err := client.Do(ctx, wire.ActionListSessions, wire.ListSessions{}, nil); err != nil {
			return err
		}
		return c.connect(ctx, s, client.Core(), client)
	})
	if c.DryRun && errors.Is(err, wire.ErrNoCore) {
		return c.connect(context.Background(), s, unknownCore, nil)
	}
	return err
}

// connect edits the settings, or shows how. Without a client nothing but a dry run is possible.
func (c *connectCmd) connect(ctx context.Context, s *streams, core string, client *wire.Client) error {
	o, err := connectOptions(c.Settings, core)
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
		if err := printJSON(s.Out, change); err != nil {
			return err
		}
	} else {
		printChange(s, change)
	}
	if c.DryRun {
		if !c.JSON {
			fmt.Fprintln(s.Out, "Nothing was written (--dry-run).")
			if client == nil {
				fmt.Fprintln(s.Out, "No core runs; "+unknownCore+" stands for its key. To connect, first run: countersign serve")
			}
		}
		return nil
	}
	// Hooks in a file that Claude does not load gate nothing: what counts is how the file stands now.
	report, err := claude.Status(claude.StatusOptions{Settings: o.Settings, State: o.State, Command: o.Command})
	if err != nil {
		return err
	}
	switch {
	case !gated(report):
		if !c.JSON {
			printFindings(s.Out, report)
			fmt.Fprintln(s.Out, "The hooks are in the file, but Claude is NOT gated. Mend what is named above and look with: countersign status")
		}
		return status(1)
	case c.JSON:
	case change.Changed:
		fmt.Fprintln(s.Out, "Connected. Sessions that run already ask here from their next start. Look with: countersign status")
	default:
		fmt.Fprintln(s.Out, "Already connected; nothing had to change.")
	}
	return nil
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
	if err != nil && !errors.Is(err, config.ErrNotForHooks) {
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
	backup := change.Target + settings.BackupSuffix
	if _, err := os.Lstat(backup); err == nil {
		fmt.Fprintf(s.Out, "The file as it was before the first connect is still kept: %s. Delete it when you do not need it.\n", escape(backup, false))
	}
	return nil
}

// connectOptions says which file to edit and what to write into it. With config.ErrNotForHooks the rest is complete:
// looking and taking out go on without it.
func connectOptions(file, pinned string) (claude.ConnectOptions, error) {
	dirs, err := core.Directories()
	if err != nil {
		return claude.ConnectOptions{}, err
	}
	self, err := core.Self()
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
		hookHome = dirs.State
	}
	return claude.ConnectOptions{
		Settings: file, State: dirs.State, Now: time.Now().UTC(),
		Command: claude.HookCommand{Binary: self, Home: hookHome, Core: pinned},
	}, err
}

func printChange(s *streams, c claude.Change) {
	fmt.Fprintf(s.Out, "%s\n", changeLine(c))
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
	for _, n := range c.Import.NotCarried {
		fmt.Fprintf(s.Out, "Not carried over: %s %s: %s\n", n.List, escape(n.Rule, false), escape(whyDiffers(n.Why), false))
	}
}

// whyDiffers says in words how an imported rule differs.
func whyDiffers(why []imports.Difference) string {
	said := make([]string, len(why))
	for i, d := range why {
		said[i] = i18n.T(i18n.English, "import.differs."+d.Code, d.Args)
	}
	return strings.Join(said, " ")
}

// changeLine says in one line what a change comes to.
func changeLine(c claude.Change) string {
	file := escape(c.Target, false)
	if newFile(c) {
		file += " (a new file)"
	}
	hooks, asks, replaced := claude.Added(c.Diff)
	switch {
	case hooks > 0 && replaced > 0:
		return fmt.Sprintf("Renews %d hooks in %s", hooks, file)
	case hooks > 0 || asks > 0:
		return fmt.Sprintf("Adds %d hooks and %d ask rules to %s", hooks, asks, file)
	case replaced > 0:
		return fmt.Sprintf("Takes %d hooks out of %s", replaced, file)
	}
	return file
}

// newFile reports whether a difference begins with nothing: every line is added.
func newFile(c claude.Change) bool {
	if c.Diff == "" {
		return false
	}
	for line := range strings.Lines(c.Diff) {
		if line[0] == ' ' || line[0] == '-' {
			return false
		}
	}
	return true
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
	o, lost := connectOptions(c.Settings, core)
	if lost != nil && !errors.Is(lost, config.ErrNotForHooks) {
		return lost
	}
	report, err := claude.Status(claude.StatusOptions{Settings: o.Settings, State: o.State, Command: o.Command, Projects: projects})
	if err != nil {
		return err
	}
	out.Claude = &report
	if c.JSON {
		if err := printJSON(s.Out, out); err != nil {
			return err
		}
	} else {
		printStatus(s, out, lost)
	}
	if lost != nil || !gated(report) {
		return status(1)
	}
	return nil
}

func printStatus(s *streams, out statusReport, lost error) {
	if out.Core == nil {
		fmt.Fprintln(s.Out, "core     not running. "+howToStart())
	} else {
		fmt.Fprintf(s.Out, "core     running (process %d, key %s), %d waiting, sandbox %s\n", out.Core.PID, out.Core.Fingerprint, out.Core.Questions, out.Core.Boundary.Enforcement)
		for _, p := range out.Core.Problems {
			fmt.Fprintf(s.Out, "         problem: %s\n", wireSentence(&wire.Error{Code: p.Code, Args: p.Args}))
		}
	}
	if lost != nil {
		fmt.Fprintf(s.Out, "         problem: %s\n", escape(lost.Error(), false))
	}
	fmt.Fprintf(s.Out, "claude   %s (%s)\n", strings.ReplaceAll(string(out.Claude.State), "_", " "), escape(out.Claude.Target, false))
	printFindings(s.Out, *out.Claude)
}

// howToStart says how the core of this desk comes up.
func howToStart() string {
	dirs, err := core.Directories()
	if err != nil {
		return "Start it with: countersign serve"
	}
	switch conf, err := config.Load(dirs.File()); {
	case err != nil:
		return "It cannot start: " + escape(sentenceOf(err), false)
	case windowCanOpen() && !core.StartsByItself(conf):
		return "A hook opens the desk, and its window asks for the passphrase. Open it yourself with: countersign open"
	case windowCanOpen():
		return "A hook starts the desk, unless it was connected with --no-start. Open it yourself with: countersign open"
	case !core.StartsByItself(conf):
		return "Its passphrase has to be typed, so no hook can start it. Run: countersign serve"
	}
	return "A hook starts one, unless it was connected with --no-start; or: countersign serve"
}

// gated reports whether Claude's calls come here as far as its settings tell. Entries that were changed may still gate.
func gated(r claude.Report) bool {
	if r.State != claude.StateConnected && r.State != claude.StateChanged {
		return false
	}
	return !slices.ContainsFunc(r.Findings, func(f claude.Finding) bool { return f.Opens })
}

func printFindings(w io.Writer, r claude.Report) {
	for _, f := range grouped(r.Findings) {
		mark := "note"
		if f.Opens {
			mark = "OPEN"
		}
		if f.File == r.Target {
			f.File = "" // it stands above
		}
		fmt.Fprintf(w, "         %s: %s\n", mark, findingSentence(f))
	}
}

// perHook are the findings that are made for each hook apart.
var perHook = []string{claude.FindOtherCore, claude.FindOtherBinary, claude.FindEventMissing, claude.FindEntryChanged}

// grouped makes one finding of those that say the same about several hooks: one cause is told once.
func grouped(list []claude.Finding) []claude.Finding {
	type cause struct{ code, file, rest string }
	at := map[cause]int{}
	more := map[int]int{}
	var out []claude.Finding
	for _, f := range list {
		if !slices.Contains(perHook, f.Code) {
			out = append(out, f)
			continue
		}
		_, rest, _ := strings.Cut(f.Detail, ": ")
		key := cause{f.Code, f.File, rest}
		i, known := at[key]
		if !known {
			at[key] = len(out)
			out = append(out, f)
			continue
		}
		more[i]++
		out[i].Opens = out[i].Opens || f.Opens
	}
	for i, n := range more {
		event, rest, found := strings.Cut(out[i].Detail, ": ")
		out[i].Detail = fmt.Sprintf("%s and %d more", event, n)
		if found {
			out[i].Detail += ": " + rest
		}
	}
	return out
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
