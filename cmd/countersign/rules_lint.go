package main

import (
	"context"
	"fmt"

	"countersign/app/i18n"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

type rulesLintCmd struct {
	ruleScope
	JSON bool `help:"Print as JSON."`
}

// Run says what is wrong with the rules: those that can never decide, and those that allow more than they seem to. It ends
// with status 1 when it finds something.
func (c *rulesLintCmd) Run(s *streams) error {
	return withRules(c.ruleScope, func(_ context.Context, _ *wire.Client, list wire.PermissionRules) error {
		found := policy.Lint(policy.RuleSet{Rules: list.Rules, Unreadable: list.Unreadable}, policy.ExamplePlace{})
		if c.JSON {
			if found == nil {
				found = []policy.Finding{}
			}
			return printJSON(s.Out, found)
		}
		for _, f := range found {
			fmt.Fprintf(s.Out, "%s\n       %s\n", ruleLine(f.Rule), escape(findingWords(f), false))
		}
		fmt.Fprintf(s.Out, "%d rules, %d findings.\n", len(list.Rules), len(found))
		if len(found) > 0 {
			return status(1)
		}
		return nil
	})
}

// findingWords says what a finding is about.
func findingWords(f policy.Finding) string {
	args := map[string]string{}
	for name, text := range f.Args {
		args[name] = text
	}
	if f.Other != nil {
		args["other"] = string(f.Other.List) + " " + f.Other.Rule.String()
	}
	return i18n.T(i18n.English, "lint."+f.Key(), args)
}
