package main

import (
	"context"
	"fmt"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

type rulesTestCmd struct {
	Rule  string   `arg:"" optional:"" help:"A rule. Without one, the examples of every kept rule are checked."`
	Texts []string `arg:"" optional:"" help:"Commands, paths, addresses or MCP tools (server/tool) to try it with."`
	List  string   `enum:"deny,ask,allow" default:"allow" help:"Which list the rule would stand in: deny and ask match generously, allow strictly."`
}

// Run ends with status 1 when an example fails, or when a text that was given is not matched.
func (c *rulesTestCmd) Run(s *streams) error {
	if c.Rule == "" {
		return withRules(ruleScope{}, func(_ context.Context, _ *wire.Client, list wire.PermissionRules) error {
			return testExamples(s, list.Rules)
		})
	}
	rule, err := policy.ParseRule(c.Rule)
	if err != nil {
		fmt.Fprintf(s.Err, "countersign: %s\n", escape(err.Error(), false))
		return status(2)
	}
	r := policy.SourcedRule{Rule: rule, List: policy.List(c.List), Source: policy.SourceGlobal, Boundary: policy.BoundaryAny}
	fmt.Fprintf(s.Out, "%s  %s\n", r.List, escape(rule.String(), false))
	if note := unknownTool(rule); note != "" {
		fmt.Fprintln(s.Out, "WARNING: "+note)
	}
	missed := false
	for _, text := range c.Texts {
		word := "matches"
		if !policy.RuleDecides(r, text, policy.ExamplePlace{}) {
			word, missed = "does not match", true
		}
		fmt.Fprintf(s.Out, "  %-14s  %s\n", word, escape(text, false))
	}
	if missed {
		return status(1)
	}
	return nil
}

func testExamples(s *streams, list []policy.SourcedRule) error {
	checked, failed := 0, 0
	for _, r := range list {
		checked += len(r.Match) + len(r.NotMatch)
		for _, bad := range policy.CheckExamples(r, policy.ExamplePlace{}) {
			failed++
			word := "should match and does not"
			if bad.Expected == policy.ExampleNotMatches {
				word = "should not match and does"
			}
			fmt.Fprintf(s.Out, "%s  %s: %s: %s\n", r.List, escape(r.Rule.String(), false), word, escape(bad.Text, false))
		}
	}
	fmt.Fprintf(s.Out, "%d rules, %d examples, %d fail.\n", len(list), checked, failed)
	if failed > 0 {
		return status(1)
	}
	return nil
}
