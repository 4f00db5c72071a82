package main

import (
	"context"
	"fmt"

	"countersign/backend/wire"
)

type doctorCmd struct {
	What string `arg:"" optional:"" enum:"sandbox," default:"sandbox" help:"What to look at: sandbox."`
	JSON bool   `help:"Print as JSON."`
}

func (c *doctorCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var st wire.Status
		if err := client.Do(ctx, wire.ActionStatus, wire.Empty{}, &st); err != nil {
			return err
		}
		if c.JSON {
			if err := printJSON(s.Out, st.Boundary); err != nil {
				return err
			}
		} else {
			fmt.Fprintf(s.Out, "Sandbox: %s (%s %s)\n", st.Boundary.Enforcement, escape(st.Boundary.Backend, false), escape(st.Boundary.Version, false))
			for _, p := range st.Boundary.Protections {
				word := "holds"
				if !p.OK {
					word = "MISSING"
				}
				fmt.Fprintf(s.Out, "  %-8s %-18s %s\n", word, escape(p.Name, false), escape(p.Detail, false))
				if !p.OK && p.Fix != "" {
					fmt.Fprintf(s.Out, "           to mend it: %s\n", escape(p.Fix, true))
				}
			}
		}
		if st.Boundary.Enforcement != "Enforced" {
			return status(1)
		}
		return nil
	})
}
