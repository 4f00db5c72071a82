package main

import (
	"context"
	"fmt"

	"countersign/backend/wire"
)

type rulesTrustCmd struct {
	Project string `arg:"" optional:"" help:"A directory in the project (default: the one you are in)."`
	Remove  bool   `help:"End the trust."`
	Yes     bool   `help:"Do not ask before trusting it."`
}

// Run shows what would be trusted and trusts exactly that: a file that changes meanwhile, or later, is not.
func (c *rulesTrustCmd) Run(s *streams) error {
	dir, err := workingDirectory(c.Project)
	if err != nil {
		return err
	}
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var p wire.Project
		if err := client.Do(ctx, wire.ActionGetProject, wire.GetProject{Project: dir}, &p); err != nil {
			return err
		}
		if c.Remove {
			if err := doAsOwner(ctx, s, client, wire.ActionTrustRepository, wire.TrustRepository{Project: p.Path}, &p); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.Out, "Not trusted any more: %s. Its deny and ask rules go on counting.\n", escape(p.File.Path, false))
			return err
		}
		switch {
		case p.File.Problem != "":
			return fmt.Errorf("%s cannot be read: %s", escape(p.File.Path, false), escape(p.File.Problem, false))
		case p.File.Digest == "":
			return fmt.Errorf("there is no %s", escape(p.File.Path, false))
		case p.File.Trusted:
			_, err := fmt.Fprintf(s.Out, "Trusted already: %s\n", escape(p.File.Path, false))
			return err
		}
		fmt.Fprintf(s.Out, "%s says:\n\n%s\n\n", escape(p.File.Path, false), escape(p.File.Content, true))
		if !c.Yes {
			if err := confirmed(ctx, "Let its allow rules count, in this directory and as they stand here? Type yes: "); err != nil {
				return err
			}
		}
		if err := doAsOwner(ctx, s, client, wire.ActionTrustRepository, wire.TrustRepository{Project: p.Path, Digest: p.File.Digest}, &p); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.Out, "Trusted. When the file changes or moves it is not trusted any more.")
		return err
	})
}
