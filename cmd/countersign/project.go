package main

import (
	"context"
	"fmt"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

type projectCmd struct {
	Project    string `arg:"" optional:"" help:"A directory in the project (default: the one you are in)."`
	Mode       string `help:"The permission mode of its sessions that have none of their own: ask, acceptEdits, plan or auto; none takes it back." placeholder:"MODE"`
	BoxedReads string `help:"Whether commands that no rule matches may run without asking where they can change nothing: on, off or by_mode." placeholder:"WHEN"`
	JSON       bool   `help:"Print as JSON."`
}

func (c *projectCmd) Run(s *streams) error {
	dir, err := workingDirectory(c.Project)
	if err != nil {
		return err
	}
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var p wire.Project
		if c.Mode == "" && c.BoxedReads == "" {
			if err := client.Do(ctx, wire.ActionGetProject, wire.GetProject{Project: dir}, &p); err != nil {
				return err
			}
		} else {
			in := wire.SetProject{Project: dir}
			if c.Mode != "" {
				mode := policy.Mode(c.Mode)
				if c.Mode == "none" {
					mode = ""
				}
				in.Mode = &mode
			}
			if c.BoxedReads != "" {
				in.BoxedReads = &c.BoxedReads
			}
			if err := doAsOwner(ctx, s, client, wire.ActionSetProject, in, &p); err != nil {
				return err
			}
		}
		if c.JSON {
			return printJSON(s.Out, p)
		}
		mode := string(p.Mode)
		if mode == "" {
			mode = "as configured"
		}
		fmt.Fprintf(s.Out, "project      %s\nmode         %s\nboxed reads  %s\nown rules    %s\n", escape(p.Path, false), mode, p.BoxedReads, fileWords(p.File))
		if p.Moved {
			fmt.Fprintln(s.Out, "Another directory stands there than when something was settled about it, so none of that counts.")
		}
		return nil
	})
}

// fileWords says what a project's own rules file is.
func fileWords(f wire.RepositoryRules) string {
	switch {
	case f.Problem != "":
		return escape(f.Path, false) + " cannot be read, so everything asks: " + escape(f.Problem, false)
	case f.Digest == "":
		return "none"
	case f.Trusted:
		return escape(f.Path, false) + " (trusted)"
	}
	return escape(f.Path, false) + " (only its deny and ask rules count)"
}
