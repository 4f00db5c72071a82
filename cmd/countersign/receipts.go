package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/wire"
)

type receiptsCmd struct {
	List   receiptsListCmd   `cmd:"" help:"List receipt records, newest first.\n\nExample: countersign receipts list --limit 20"`
	Show   receiptsShowCmd   `cmd:"" help:"Show one record in full.\n\nExample: countersign receipts show 3f9a1c20"`
	Verify receiptsVerifyCmd `cmd:"" help:"Check the whole chain of receipts, also without a core.\n\nExample: countersign receipts verify"`
}

type receiptsListCmd struct {
	Call    string `help:"Only of this call."`
	Session string `help:"Only of this session."`
	Limit   int    `help:"At most this many." default:"50"`
	JSON    bool   `help:"Print as JSON."`
}

func (c *receiptsListCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		var list wire.Receipts
		in := wire.ListReceipts{Call: c.Call, Session: c.Session, Limit: c.Limit}
		if err := client.Do(ctx, wire.ActionListReceipts, in, &list); err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, list.Receipts)
		}
		if len(list.Receipts) == 0 {
			_, err := fmt.Fprintln(s.Out, "No receipts yet. The first command that runs here leaves two.")
			return err
		}
		for _, r := range list.Receipts {
			fmt.Fprintln(s.Out, receiptLine(r))
		}
		return nil
	})
}

// receiptLine is one record in one line.
func receiptLine(r wire.Receipt) string {
	rec := r.Record
	text := fmt.Sprintf("%s  %s  %-8s call %s  %-6s", shortID(rec.ID), rec.Time.Local().Format("2006-01-02 15:04:05"), rec.Kind, shortID(rec.Call), escape(rec.Tool, false))
	if rec.Enforcement != "" {
		text += "  " + string(rec.Enforcement)
	}
	if rec.ExitStatus != nil {
		text += fmt.Sprintf("  exit %d", *rec.ExitStatus)
	}
	if rec.Signal != "" {
		text += "  " + escape(rec.Signal, false)
	}
	if rec.Write != nil {
		text += "  wrote " + escape(rec.Write.Path, false)
	}
	switch by := rec.Extra["executed_by"]; {
	case by == "countersign":
		text += "  allowed, executed by the desk"
	case by != "":
		text += "  allowed, executed by " + escape(by, false) + " itself"
	case rec.Extra["outcome"] != "":
		text += "  " + escape(rec.Extra["outcome"], false) + " (" + escape(rec.Extra["reason"], false) + ")"
	}
	if r.Subject != "" && rec.Kind != "end" && rec.Write == nil {
		text += "  " + escape(r.Subject, false)
	}
	return strings.TrimRight(text, " ")
}

type receiptsShowCmd struct {
	JSON bool `help:"Print the whole record with its signed envelope as JSON."`

	ID string `arg:"" help:"The record's id, or its last characters as list prints them."`
}

func (c *receiptsShowCmd) Run(s *streams) error {
	return withCore(func(ctx context.Context, client *wire.Client) error {
		r, err := findReceipt(ctx, client, c.ID)
		if err != nil {
			return err
		}
		if !c.JSON {
			if r.Subject != "" {
				fmt.Fprintf(s.Out, "about (from the store, not signed): %s\n", escape(r.Subject, true))
			}
			r.Envelope = nil
			return printJSON(s.Out, r.Record)
		}
		return printJSON(s.Out, r)
	})
}

// findReceipt finds the record an id, or the end of one that is in the list, means.
func findReceipt(ctx context.Context, client *wire.Client, id string) (r wire.Receipt, err error) {
	if len(id) < fullID {
		var list wire.Receipts
		if err := client.Do(ctx, wire.ActionListReceipts, wire.ListReceipts{}, &list); err != nil {
			return r, err
		}
		r, err = findByID(list.Receipts, id, func(r wire.Receipt) string { return r.Record.ID }, "receipt", "countersign receipts list")
		if err != nil {
			return r, err
		}
		id = r.Record.ID
	}
	err = client.Do(ctx, wire.ActionGetReceipt, wire.GetReceipt{ID: id}, &r)
	return r, err
}

// fullID is the length of a UUID in text.
const fullID = 36

type receiptsVerifyCmd struct {
	JSON bool `help:"Print the result as JSON."`
}

func (c *receiptsVerifyCmd) Run(s *streams) error {
	var v wire.Verification
	err := withCore(func(ctx context.Context, client *wire.Client) error {
		return client.Do(ctx, wire.ActionVerifyReceipts, wire.Empty{}, &v)
	})
	if errors.Is(err, wire.ErrNoCore) {
		dirs, derr := core.Directories()
		if derr != nil {
			return derr
		}
		v, err = desk.VerifyOffline(dirs.State)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		if err := printJSON(s.Out, v); err != nil {
			return err
		}
	} else {
		printVerification(s.Out, v)
	}
	if !v.OK {
		return status(1)
	}
	return nil
}

// printVerification says what the chain proves, and what it does not.
func printVerification(w io.Writer, v wire.Verification) {
	if !v.OK {
		fmt.Fprintf(w, "The receipts do NOT verify: %s (at %s). %d records before it are good.\n", escape(v.Problem, false), escape(v.Record, false), v.Records)
		return
	}
	fmt.Fprintf(w, "%d receipts verify: each is signed by this desk and names the one before. Complete to the newest head this desk remembers.\n", v.Records)
	if v.Open > 0 {
		fmt.Fprintf(w, "%d started without a recorded end: the core stopped while they ran.\n", v.Open)
	}
	fmt.Fprintln(w, "This is tamper-evident against other accounts and boxed processes, not against an unboxed process of this account, which can read the key.")
}
