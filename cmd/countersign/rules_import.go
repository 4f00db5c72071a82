package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"countersign/app/i18n"
	"countersign/backend/agents/imports"
	"countersign/backend/core"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

type rulesImportCmd struct {
	Agent   string `arg:"" help:"claude, codex, gemini or opencode."`
	File    string `arg:"" optional:"" help:"A file of its rules (default: every place where it keeps them for this directory)."`
	Project string `help:"The project of DIR (default: the directory you are in)." placeholder:"DIR"`
	Allow   bool   `help:"Also keep its allow rules, for this project; without it only what restricts is kept."`
	DryRun  bool   `help:"Only say what each rule means here."`
	Yes     bool   `help:"Do not ask before keeping them."`
}

// maxImportFile is the largest file of rules that is read, in bytes; the reader has the same limit.
const maxImportFile = imports.MaxFile

// Run says of every rule what it means here, and keeps what the owner wants of it. Deny and ask rules hold for that agent's
// sessions; allow rules are for the project, and cover calls that run enforced only: the agent never had a boundary.
func (c *rulesImportCmd) Run(s *streams) error {
	reports, err := c.read(s)
	if err != nil {
		return err
	}
	var restrict wire.ImportRules
	var allow []string
	restrict.Agent = c.Agent
	for _, report := range reports {
		printImport(s, report)
		for _, e := range report.Entries {
			switch e.List {
			case policy.ListDeny:
				restrict.Deny = append(restrict.Deny, e.Rules...)
			case policy.ListAsk:
				restrict.Ask = append(restrict.Ask, e.Rules...)
			case policy.ListAllow:
				allow = append(allow, e.Rules...)
			}
		}
	}
	if !c.Allow {
		if len(allow) > 0 {
			fmt.Fprintf(s.Out, "%d allow rules are not kept. With --allow they are, for this project and for calls that run enforced.\n", len(allow))
		}
		allow = nil
	}
	if c.DryRun || len(restrict.Deny)+len(restrict.Ask)+len(allow) == 0 {
		return nil
	}
	return withCore(func(ctx context.Context, client *wire.Client) error {
		if !c.Yes {
			if err := confirmed(ctx, fmt.Sprintf("Keep %d deny, %d ask and %d allow rules? Type yes: ", len(restrict.Deny), len(restrict.Ask), len(allow))); err != nil {
				return err
			}
		}
		if len(restrict.Deny)+len(restrict.Ask) > 0 {
			if err := client.Do(ctx, wire.ActionImportRules, restrict, nil); err != nil {
				return err
			}
		}
		dir, err := workingDirectory(c.Project)
		if err != nil {
			return err
		}
		for _, rule := range allow {
			in := wire.NewPermissionRule{List: policy.ListAllow, Rule: rule, Scope: policy.SourceProject, Project: dir}
			if err := doAsOwner(ctx, s, client, wire.ActionAddRule, in, nil); err != nil {
				return fmt.Errorf("%s: %w (what was kept before it stays)", escape(rule, false), err)
			}
		}
		_, err = fmt.Fprintln(s.Out, "Kept. Look at them with: countersign rules list --project .")
		return err
	})
}

// read translates the files. A place that is not there is no fault unless it was named.
func (c *rulesImportCmd) read(s *streams) ([]imports.Report, error) {
	places := []string{c.File}
	if c.File == "" {
		home, err := core.AccountHome()
		if err != nil {
			return nil, err
		}
		dir, err := workingDirectory(c.Project)
		if err != nil {
			return nil, err
		}
		if places, err = imports.Places(c.Agent, home, dir); err != nil {
			return nil, err
		}
	}
	var reports []imports.Report
	for _, place := range places {
		info, err := os.Stat(place)
		if c.File == "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Size() > maxImportFile {
			return nil, fmt.Errorf("%s is no file of at most %d bytes", escape(place, false), maxImportFile)
		}
		data, err := os.ReadFile(place)
		if err != nil {
			return nil, err
		}
		report, err := imports.Read(c.Agent, place, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", escape(place, false), err)
		}
		reports = append(reports, report)
	}
	if len(reports) == 0 {
		fmt.Fprintf(s.Out, "%s keeps no rules in: %s\n", escape(c.Agent, false), escape(strings.Join(places, ", "), false))
	}
	return reports, nil
}

// printImport lists the entries of one file with what became of each.
func printImport(s *streams, report imports.Report) {
	fmt.Fprintf(s.Out, "%s\n", escape(report.File, false))
	for _, e := range report.Entries {
		what := "not carried over"
		if len(e.Rules) > 0 {
			what = strings.Join(e.Rules, ", ")
		}
		line := ""
		if e.Line > 0 {
			line = fmt.Sprintf("%d: ", e.Line)
		}
		fmt.Fprintf(s.Out, "  %s%s %s\n    -> %s\n", line, e.List, escape(e.Text, false), escape(what, false))
		for _, d := range e.Differs {
			fmt.Fprintf(s.Out, "       %s\n", escape(i18n.T(i18n.English, "import.differs."+d.Code, d.Args), false))
		}
	}
}
