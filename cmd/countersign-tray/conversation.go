package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"countersign/app/tray"
)

const (
	mostReports = 64 // that wait to be written; a click beyond them is dropped
	// When the toolkit's loop does not end by itself. It is less than what the parent waits before it kills.
	leaveWithin = time.Second
)

// display is what shows a state. Its methods are called by one goroutine.
type display interface{ apply(tray.State) }

// conversation is the helper's side of the messages.
type conversation struct {
	in      *tray.Reader
	out     io.Writer
	reports chan tray.Report
	leave   func() // clears up; may be called more than once

	mu   sync.Mutex // guards code
	code int
}

func newConversation(in io.Reader, out io.Writer) *conversation {
	return &conversation{in: tray.NewReader(in), out: out, reports: make(chan tray.Report, mostReports), leave: func() {}}
}

// hold talks to the parent until its input ends, and then calls quit, which ends the toolkit's loop. Nothing that goes
// wrong here outlives it: a panic ends the helper, and the parent starts another.
func (c *conversation) hold(d display, quit func()) {
	defer func() {
		time.AfterFunc(leaveWithin, func() {
			c.leave()
			os.Exit(c.exitCode())
		})
		quit()
	}()
	c.guard(func() error { return c.talk(d) })
}

// guard runs f; an error or a panic becomes the exit code.
func (c *conversation) guard(f func() error) {
	defer func() {
		if broken := recover(); broken != nil {
			fmt.Fprintf(os.Stderr, "countersign-tray: %v\n%s", broken, debug.Stack())
			c.end(tray.ExitFault)
		}
	}()
	if err := f(); err != nil {
		fmt.Fprintln(os.Stderr, "countersign-tray:", err)
		c.end(tray.ExitFault)
	}
}

func (c *conversation) talk(d display) error {
	stop, written := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		for {
			select {
			case <-stop:
				return
			case report := <-c.reports:
				if err := tray.Write(c.out, report); err != nil {
					return // the parent is gone; our input ends too
				}
			}
		}
	}()
	defer func() {
		close(stop)
		select {
		case <-written:
		case <-time.After(leaveWithin): // stuck in a write to a parent that does not read; the process ends anyway
		}
	}()
	c.reports <- tray.Report{Kind: tray.ReportReady}
	for {
		var order tray.Order
		if err := c.in.Read(&order); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		d.apply(order.State)
		select {
		case c.reports <- tray.Report{Kind: tray.ReportShown, Number: order.Number}:
		case <-written:
			return nil
		}
	}
}

// clicked reports a click. It never waits: it is called where the menu is drawn.
func (c *conversation) clicked(id string) {
	select {
	case c.reports <- tray.Report{Kind: tray.ReportClicked, ID: id}:
	default:
	}
}

func (c *conversation) end(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.code = code
}

func (c *conversation) exitCode() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.code
}
