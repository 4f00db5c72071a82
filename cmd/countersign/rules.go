package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

type rulesCmd struct {
	List   rulesListCmd   `cmd:"" default:"withargs" help:"List the rules, with where each is kept and how often it decided.\n\nExample: countersign rules list --project ."`
	Add    rulesAddCmd    `cmd:"" help:"Keep a rule, after showing which recorded calls it would decide otherwise.\n\nExample: countersign rules add allow 'bash(go test:*)' --match 'go test ./...'"`
	Remove rulesRemoveCmd `cmd:"" help:"Remove a rule that the desk keeps.\n\nExample: countersign rules remove 3f9a1c20"`
	Test   rulesTestCmd   `cmd:"" help:"Check the examples of every rule; or say which texts a rule matches. The second needs no core.\n\nExample: countersign rules test 'bash(git log:*)' 'git log -1' 'git push'"`
	Lint   rulesLintCmd   `cmd:"" help:"Say which rules can never decide, and which allow more than they seem to.\n\nExample: countersign rules lint --project ."`
	Import rulesImportCmd `cmd:"" help:"Take over another agent's rules, with a report of what each means here.\n\nExample: countersign rules import codex --dry-run"`
	Trust  rulesTrustCmd  `cmd:"" help:"Let the allow rules of a project's own file count, for what it says now.\n\nExample: countersign rules trust ."`
	Export rulesExportCmd `cmd:"" help:"Print every rule as config.toml has them.\n\nExample: countersign rules export >rules.toml"`
}

// ruleScope says whose rules a verb is about.
type ruleScope struct {
	Project string `help:"The project of DIR." placeholder:"DIR"`
	Session string `help:"A session: its id, or its last characters." placeholder:"ID"`
}

type rulesListCmd struct {
	ruleScope
	JSON bool `help:"Print as JSON."`
}

func (c *rulesListCmd) Run(s *streams) error {
	return withRules(c.ruleScope, func(_ context.Context, _ *wire.Client, list wire.PermissionRules) error {
		if c.JSON {
			if list.Rules == nil {
				list.Rules = []policy.SourcedRule{}
			}
			return printJSON(s.Out, list)
		}
		printRules(s.Out, list)
		return nil
	})
}

// printRules lists rules, what cannot be read, what does not count and what the administrator locks.
func printRules(w io.Writer, list wire.PermissionRules) {
	if len(list.Rules)+len(list.Unreadable)+len(list.Ignored) == 0 {
		fmt.Fprintln(w, "No rules. Deny, ask and allow rules of yours stand in config.toml under [rules], or are added with: countersign rules add")
	}
	for _, r := range list.Rules {
		fmt.Fprintln(w, ruleLine(r))
		if note := unknownTool(r.Rule); note != "" {
			fmt.Fprintln(w, "       WARNING: "+note)
		}
	}
	for _, u := range list.Unreadable {
		fmt.Fprintf(w, "UNREADABLE, so everything asks until it is mended: %s: %s\n", escape(u.Where, false), escape(u.Err, false))
	}
	for _, i := range list.Ignored {
		fmt.Fprintf(w, "DOES NOT COUNT: %s in %s: %s\n", escape(i.Text, false), escape(i.Where, false), ignoredWords(i.Why))
	}
	for _, line := range lockedWords(list.Constraints) {
		fmt.Fprintln(w, "LOCKED by the administrator: "+line)
	}
}

// ruleLine is one rule with what is known about it.
func ruleLine(r policy.SourcedRule) string {
	where := "config.toml"
	switch {
	case r.Source == policy.SourceManaged:
		where = "managed file"
	case r.Source == policy.SourceRepository:
		where = "repository"
	case r.ID != "":
		where = shortID(r.ID)
	}
	line := fmt.Sprintf("%-5s  %-40s  %-10s  %s", r.List, escape(r.Rule.String(), false), r.Source, where)
	if r.List == policy.ListAllow && r.Boundary == policy.BoundaryEnforced {
		line += "  only for calls that run enforced"
	}
	if strings.HasPrefix(r.ID, "agent/") {
		line += "  taken over from " + escape(strings.Split(r.ID, "/")[1], false)
	}
	if r.Uses > 0 {
		line += fmt.Sprintf("  used %d times, last %s", r.Uses, r.LastMatch.Local().Format("2006-01-02 15:04"))
	}
	if !r.Expires.IsZero() {
		line += "  until " + r.Expires.Local().Format("2006-01-02 15:04")
	}
	if program, local := strings.CutPrefix(r.By, "local/"); local {
		line += "  added by a program of account " + escape(program, false)
	} else if r.By != "" && !strings.HasPrefix(r.By, "owner/") {
		line += "  added by " + escape(r.By, false)
	}
	return line
}

func ignoredWords(why string) string {
	switch why {
	case "not_trusted":
		return "the repository is not trusted. Look at the file, then: countersign rules trust"
	case "managed_only":
		return "the administrator lets only managed allow rules count"
	case "moved":
		return "another directory stands at the project's path than when it was made"
	case "not_managed":
		return "the managed file could have been written by somebody else than the administrator"
	case "unknown_key":
		return "no such key means anything there"
	}
	return escape(why, false)
}

func lockedWords(c wire.Constraints) []string {
	var out []string
	if len(c.Modes) > 0 {
		modes := []string{string(policy.ModeAsk)}
		for _, m := range c.Modes {
			if m != policy.ModeAsk {
				modes = append(modes, string(m))
			}
		}
		out = append(out, "no other mode than "+strings.Join(modes, ", "))
	}
	for _, lock := range []struct {
		set  bool
		text string
	}{
		{c.ManagedAllowOnly, "only managed allow rules count"},
		{c.SandboxRequired, "no command runs outside the boundary"},
		{c.NoSavedRules, "no allow rule can be kept"},
	} {
		if lock.set {
			out = append(out, lock.text)
		}
	}
	return out
}

type rulesRemoveCmd struct {
	ID string `arg:"" help:"The rule's id, or its last characters as list prints them."`
}

func (c *rulesRemoveCmd) Run(s *streams) error {
	return withRules(ruleScope{}, func(ctx context.Context, client *wire.Client, list wire.PermissionRules) error {
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

// withRules runs fn with the rules that apply to a scope, or with every rule.
func withRules(scope ruleScope, fn func(context.Context, *wire.Client, wire.PermissionRules) error) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var in wire.ListPermissionRules
		if scope.Project != "" {
			var err error
			if in.Project, err = filepath.Abs(scope.Project); err != nil {
				return err
			}
		}
		if scope.Session != "" {
			x, err := findSession(ctx, client, scope.Session, false)
			if err != nil {
				return err
			}
			in.Session = x.ID
		}
		var list wire.PermissionRules
		if err := client.Do(ctx, wire.ActionListPermissionRules, in, &list); err != nil {
			return err
		}
		return fn(ctx, client, list)
	})
}

type rulesExportCmd struct{}

// Run prints the rules so that they can be put into config.toml. Those of one session or one project are marked: in
// config.toml they would count everywhere.
func (c *rulesExportCmd) Run(s *streams) error {
	return withRules(ruleScope{}, func(_ context.Context, _ *wire.Client, list wire.PermissionRules) error {
		fmt.Fprintln(s.Out, "[rules]")
		for _, l := range []policy.List{policy.ListDeny, policy.ListAsk, policy.ListAllow} {
			fmt.Fprintf(s.Out, "%s = [\n", l)
			for _, r := range list.Rules {
				if r.List != l {
					continue
				}
				note := string(r.Source)
				if l == policy.ListAllow && r.Boundary == policy.BoundaryEnforced {
					note += ", was only for calls that run enforced"
				}
				line := "  " + tomlString(r.Rule.String()) + ","
				if r.Source != policy.SourceGlobal || l == policy.ListAllow && r.Boundary == policy.BoundaryEnforced {
					line = "# " + line
				}
				fmt.Fprintf(s.Out, "%s # %s\n", line, note)
			}
			fmt.Fprintln(s.Out, "]")
		}
		for _, u := range list.Unreadable {
			fmt.Fprintf(s.Err, "countersign: not exported, it cannot be read: %s: %s\n", escape(u.Where, false), escape(u.Err, false))
		}
		return nil
	})
}

// tomlString writes a text as a TOML basic string. Rules hold no control characters.
func tomlString(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// workingDirectory is an absolute directory, the current one for "".
func workingDirectory(dir string) (string, error) {
	if dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find the working directory: %w", err)
		}
		return here, nil
	}
	return filepath.Abs(dir)
}
