package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

type rulesAddCmd struct {
	List     string        `arg:"" enum:"deny,ask,allow" help:"deny, ask or allow."`
	Rule     string        `arg:"" help:"The rule, as tool(text)."`
	Global   bool          `help:"For every project." xor:"scope"`
	Project  string        `help:"For the project of DIR (this is the default, with the directory you are in)." placeholder:"DIR" xor:"scope"`
	Session  string        `help:"For one session, until it ends." placeholder:"ID" xor:"scope"`
	Unboxed  bool          `help:"An allow rule: also for calls that run outside the boundary."`
	Expires  time.Duration `help:"End the rule after this time, as 8h." placeholder:"TIME"`
	Match    []string      `help:"A call that the rule must match; repeat for more." sep:"none" placeholder:"TEXT"`
	NotMatch []string      `help:"A call that it must not match; repeat for more." sep:"none" placeholder:"TEXT"`
	Yes      bool          `help:"Do not ask before keeping it."`
	DryRun   bool          `help:"Only show what it would do."`
}

func (c *rulesAddCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		in, err := c.rule(ctx, client)
		if err != nil {
			return err
		}
		var preview wire.RulePreview
		if err := doAsOwner(ctx, s, client, wire.ActionPreviewRule, in, &preview); err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "%s  %s  (%s)\n", preview.Rule.List, escape(preview.Rule.Rule.String(), false), scopeWords(in))
		if note := unknownTool(preview.Rule.Rule); note != "" {
			fmt.Fprintln(s.Out, "WARNING: "+note)
		}
		if preview.Rule.List == policy.ListAllow && preview.Rule.Rule.HandsOver() {
			fmt.Fprintln(s.Out, "WARNING: it lets the agent run whatever it likes through this program.")
		}
		printEffects(s.Out, preview)
		if c.DryRun {
			return nil
		}
		if !c.Yes {
			if err := confirmed(ctx, "Keep it? Type yes: "); err != nil {
				return err
			}
		}
		var saved wire.SavedRule
		if err := doAsOwner(ctx, s, client, wire.ActionAddRule, in, &saved); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "Kept. It is removed with: countersign rules remove %s\n", shortID(saved.Rule.ID))
		return err
	})
}

func (c *rulesAddCmd) rule(ctx context.Context, client *wire.Client) (wire.NewPermissionRule, error) {
	in := wire.NewPermissionRule{
		List: policy.List(c.List), Rule: c.Rule, Scope: policy.SourceProject, Match: c.Match, NotMatch: c.NotMatch,
		ExpiresInSeconds: int64(c.Expires / time.Second),
	}
	if c.Unboxed {
		in.Boundary = policy.BoundaryAny
	}
	switch {
	case c.Global:
		in.Scope = policy.SourceGlobal
	case c.Session != "":
		x, err := findSession(ctx, client, c.Session, false)
		if err != nil {
			return in, err
		}
		in.Scope, in.Session = policy.SourceSession, x.ID
	default:
		dir, err := workingDirectory(c.Project)
		if err != nil {
			return in, err
		}
		in.Project = dir
	}
	return in, nil
}

func scopeWords(in wire.NewPermissionRule) string {
	words := "for every project"
	switch in.Scope {
	case policy.SourceProject:
		words = "for the project of " + escape(in.Project, false)
	case policy.SourceSession:
		words = "for this session"
	}
	if in.List == policy.ListAllow && in.Boundary != policy.BoundaryAny {
		words += ", only for calls that run enforced"
	}
	return words
}

// printEffects says which recorded calls a rule would decide otherwise.
func printEffects(w io.Writer, preview wire.RulePreview) {
	if preview.Checked == 0 {
		fmt.Fprintln(w, "No recorded call shows what it would do.")
		return
	}
	if len(preview.Effects) == 0 {
		fmt.Fprintf(w, "None of the last %d recorded calls would be decided otherwise.\n", preview.Checked)
		return
	}
	fmt.Fprintf(w, "Of the last %d recorded calls it would decide otherwise:\n", preview.Checked)
	for _, e := range preview.Effects {
		fmt.Fprintf(w, "  %-5s -> %-5s  %s\n", e.Before, e.After, escape(e.Text, false))
	}
}

// confirmed asks for a yes on the terminal.
func confirmed(ctx context.Context, prompt string) error {
	answer, err := askText(ctx, prompt)
	if err != nil {
		return err
	}
	if answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
