package main

import (
	"context"
	"fmt"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

type rulesCmd struct {
	List   rulesListCmd   `cmd:"" default:"withargs" help:"List the rules, with where each is kept.\n\nExample: countersign rules list"`
	Remove rulesRemoveCmd `cmd:"" help:"Remove a rule that the desk keeps.\n\nExample: countersign rules remove 3f9a1c20"`
}

type rulesListCmd struct {
	JSON bool `help:"Print as JSON."`
}

func (c *rulesListCmd) Run(s *streams) error {
	return withRules(func(_ context.Context, _ *wire.Client, list wire.PermissionRules) error {
		if c.JSON {
			if list.Rules == nil {
				list.Rules = []policy.SourcedRule{}
			}
			return printJSON(s.Out, list)
		}
		if len(list.Rules)+len(list.Unreadable) == 0 {
			_, err := fmt.Fprintln(s.Out, "No rules. Deny, ask and allow rules of yours stand in config.toml under [rules].")
			return err
		}
		for _, r := range list.Rules {
			where := "config.toml"
			if r.ID != "" {
				where = shortID(r.ID)
			}
			text := fmt.Sprintf("%-5s  %-40s  %-8s  %s", r.List, escape(r.Rule.String(), false), r.Source, where)
			if r.List == policy.ListAllow && r.Boundary == policy.BoundaryEnforced {
				text += "  only for calls that run enforced"
			}
			fmt.Fprintln(s.Out, text)
			if note := unknownTool(r.Rule); note != "" {
				fmt.Fprintln(s.Out, "       WARNING: "+note)
			}
		}
		for _, u := range list.Unreadable {
			fmt.Fprintf(s.Out, "UNREADABLE, so what it could cover asks: %s: %s\n", escape(u.Where, false), escape(u.Err, false))
		}
		return nil
	})
}

type rulesRemoveCmd struct {
	ID string `arg:"" help:"The rule's id, or its last characters as list prints them."`
}

func (c *rulesRemoveCmd) Run(s *streams) error {
	return withRules(func(ctx context.Context, client *wire.Client, list wire.PermissionRules) error {
		r, err := findByID(list.Rules, c.ID, func(r policy.SourcedRule) string { return r.ID }, "saved rule", "countersign rules list")
		if err != nil {
			return err
		}
		if err := doAsOwner(ctx, s, client, wire.ActionRemoveRule, wire.RemovePermissionRule{ID: r.ID}, nil); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "Removed: %s %s\n", r.List, escape(r.Rule.String(), false))
		return err
	})
}

// withRules runs fn with the rules that the core keeps.
func withRules(fn func(context.Context, *wire.Client, wire.PermissionRules) error) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var list wire.PermissionRules
		if err := client.Do(ctx, wire.ActionListPermissionRules, wire.ListPermissionRules{}, &list); err != nil {
			return err
		}
		return fn(ctx, client, list)
	})
}
