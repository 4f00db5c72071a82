package main

import (
	"context"
	"fmt"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

type sessionsCmd struct {
	List       sessionsListCmd   `cmd:"" default:"withargs" help:"List agents' sessions.\n\nExample: countersign sessions list --all"`
	AddRoot    sessionsRootCmd   `cmd:"" name:"add-root" help:"Let a session work in a further directory.\n\nExample: countersign sessions add-root 3f9a1c20 ../shared"`
	RemoveRoot sessionsUnrootCmd `cmd:"" name:"remove-root" help:"Take a further directory away again.\n\nExample: countersign sessions remove-root 3f9a1c20 ../shared"`
	Attend     sessionsAttendCmd `cmd:"" help:"Say whether an agent's own questions may wait for you.\n\nExample: countersign sessions attend 3f9a1c20 off"`
	Resume     sessionsResumeCmd `cmd:"" help:"Resume a paused session.\n\nExample: countersign sessions resume 3f9a1c20"`
}

type sessionsListCmd struct {
	All  bool `help:"Also those that ended."`
	JSON bool `help:"Print as JSON."`
}

func (c *sessionsListCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var list wire.Sessions
		if err := client.Do(ctx, wire.ActionListSessions, wire.ListSessions{Ended: c.All}, &list); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, list.Sessions)
		}
		if len(list.Sessions) == 0 {
			_, err := fmt.Fprintln(s.Out, "No agent is in session.")
			return err
		}
		for _, x := range list.Sessions {
			state := "live"
			if !x.EndedAt.IsZero() {
				state = "ended"
			}
			if x.Paused != "" {
				state = "paused: " + pausedWords(x.Paused)
			}
			fmt.Fprintf(s.Out, "%s  %-8s mode %-11s %s  (process %d)  %s\n", shortID(x.ID), escape(x.Agent, false), x.Mode, escape(x.Project, false), x.Root.PID, state)
		}
		return nil
	})
}

type sessionsResumeCmd struct {
	ID string `arg:"" help:"The session's id, or its last characters."`
}

func (c *sessionsResumeCmd) Run(s *streams) error {
	return withSession(c.ID, func(ctx context.Context, client *wire.Client, x wire.Session) error {
		if err := doAsOwner(ctx, s, client, wire.ActionResumeSession, wire.ResumeSession{Session: x.ID}, nil); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.Out, "Resumed.")
		return err
	})
}

type sessionsRootCmd struct {
	ID        string `arg:"" help:"The session's id, or its last characters."`
	Directory string `arg:"" help:"The directory."`
}

func (c *sessionsRootCmd) Run(s *streams) error {
	return changeRoot(s, wire.ActionAddRoot, c.ID, c.Directory)
}

type sessionsUnrootCmd sessionsRootCmd

func (c *sessionsUnrootCmd) Run(s *streams) error {
	return changeRoot(s, wire.ActionRemoveRoot, c.ID, c.Directory)
}

func changeRoot(s *streams, action, id, dir string) error {
	dir, err := workingDirectory(dir)
	if err != nil {
		return err
	}
	return withSession(id, func(ctx context.Context, client *wire.Client, x wire.Session) error {
		if err := doAsOwner(ctx, s, client, action, wire.ChangeRoot{Session: x.ID, Directory: dir}, &x); err != nil {
			return err
		}
		fmt.Fprintln(s.Out, "The session works in:")
		for _, root := range x.Roots {
			fmt.Fprintln(s.Out, "  "+escape(root, false))
		}
		return nil
	})
}

type sessionsAttendCmd struct {
	ID   string `arg:"" help:"The session's id, or its last characters."`
	When string `arg:"" enum:"on,off" help:"on or off."`
}

func (c *sessionsAttendCmd) Run(s *streams) error {
	return withSession(c.ID, func(ctx context.Context, client *wire.Client, x wire.Session) error {
		in := wire.SetAttended{Session: x.ID, Attended: c.When == "on"}
		if err := doAsOwner(ctx, s, client, wire.ActionSetAttended, in, &x); err != nil {
			return err
		}
		words := "Its own questions are refused, so that it goes on without you."
		if x.Attended {
			words = "Its own questions may wait for you."
		}
		_, err := fmt.Fprintln(s.Out, words)
		return err
	})
}

type modeCmd struct {
	ID   string `arg:"" help:"The session's id, or its last characters."`
	Mode string `arg:"" help:"ask, acceptEdits, plan, auto or bypass."`
}

func (c *modeCmd) Run(s *streams) error {
	mode, err := policy.ParseMode(c.Mode)
	if err != nil {
		fmt.Fprintf(s.Err, "countersign: %s\n", wireSentence(&wire.Error{Code: "invalid_mode", Args: map[string]string{"mode": c.Mode}}))
		return status(2)
	}
	return withSession(c.ID, func(ctx context.Context, client *wire.Client, x wire.Session) error {
		var state wire.PermissionState
		in := wire.SetPermissionMode{Session: x.ID, Mode: mode, ExpectedVersion: x.ModeVersion}
		if mode == policy.ModeBypass {
			fmt.Fprintf(s.Err, "Warning: in mode bypass this session's calls run without asking you. Deny rules, ask rules, dangerous paths and the\n"+
				"boundary still hold. Back again: countersign mode %s ask\n", shortID(x.ID))
		}
		if err := doAsOwner(ctx, s, client, wire.ActionSetPermissionMode, in, &state); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.Out, "Mode is %s now.\n", state.Mode)
		return err
	})
}

// withSession finds the session an id means and runs fn with it.
func withSession(id string, fn func(context.Context, *wire.Client, wire.Session) error) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		x, err := findSession(ctx, client, id, false)
		if err != nil {
			return err
		}
		return fn(ctx, client, x)
	})
}

// findSession finds the session an id, or the end of one, means; ended ones only when they are wanted.
func findSession(ctx context.Context, client *wire.Client, id string, ended bool) (wire.Session, error) {
	var list wire.Sessions
	if err := client.Do(ctx, wire.ActionListSessions, wire.ListSessions{Ended: ended}, &list); err != nil {
		return wire.Session{}, err
	}
	return findByID(list.Sessions, id, func(x wire.Session) string { return x.ID }, "session", "countersign sessions")
}
