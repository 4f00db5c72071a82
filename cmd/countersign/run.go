package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/google/uuid"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/wire"
)

// runCmd redeems an allowed call: the core's broker runs it on this process's own standard input, output and error.
// The command, its environment and its directory are those frozen when the call was admitted; of this process only
// the descriptors and the terminal's size are taken.
type runCmd struct {
	Home string `help:"The desk's directory, as connect wrote it."`
	Call string `help:"Run this allowed call." xor:"what"`
	Dir  string `help:"Print the directory this call ended in." xor:"what"`
}

func (c *runCmd) Run(s *streams) error {
	if c.Call == "" && c.Dir == "" {
		fmt.Fprintln(s.Err, "countersign: run needs --call ID or --dir ID")
		return status(2)
	}
	// Like a hook, it believes its arguments and nothing in the environment.
	dirs, err := config.ForHook(c.Home)
	if err != nil {
		return err
	}
	ctx := context.Background()
	client, err := core.Dial(ctx, dirs, "")
	if err != nil {
		return err
	}
	defer client.Close()
	if c.Dir != "" {
		ctx, cancel := context.WithTimeout(ctx, actionTimeout)
		defer cancel()
		var out wire.CallDirectory
		if err := client.Do(ctx, wire.ActionCallDirectory, wire.CallRef{Call: c.Dir}, &out); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.Out, out.Directory)
		return err
	}
	return redeem(ctx, client, s, c.Call)
}

// redeem runs the call, passing signals and terminal sizes on, and ends with its status: 128 plus the number where a
// signal ended it, as a shell says it.
func redeem(ctx context.Context, client *wire.Client, s *streams, call string) error {
	in := wire.RedeemCall{Call: call}
	in.Rows, in.Cols = terminalSize()
	stop := passSignals(ctx, client, call)
	defer stop()
	var result wire.RunResult
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	err := client.DoWith(ctx, uuid.Must(uuid.NewV7()).String(), wire.ActionRedeemCall, in, files, &result)
	switch {
	case errors.Is(err, wire.ErrClosed):
		return errors.New("the core went away while the command ran; the command was ended with it")
	case err != nil:
		return err
	case result.Error != nil:
		fmt.Fprintln(s.Err, "countersign: "+wireSentence(result.Error))
	}
	if result.Cause != "" {
		fmt.Fprintf(s.Err, "countersign: the command was ended: %s\n", escape(result.Cause, false))
	}
	if result.Exit != nil {
		if *result.Exit == 0 {
			return nil
		}
		return status(*result.Exit)
	}
	if number, ok := signalNumber(result.Signal); ok {
		return status(128 + number)
	}
	return status(1)
}

// passSignals forwards the signals a terminal sends. The client itself survives them: the command decides.
func passSignals(ctx context.Context, client *wire.Client, call string) (stop func()) {
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, append([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}, resizeSignals...)...)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case sig := <-ch:
				passSignal(ctx, client, call, sig)
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(done)
		<-ended
	}
}

func passSignal(ctx context.Context, client *wire.Client, call string, sig os.Signal) {
	ctx, cancel := context.WithTimeout(ctx, actionTimeout)
	defer cancel()
	if name, ok := signalNames[sig]; ok {
		// A command that just ended does not take it any more; the result tells.
		_ = client.Do(ctx, wire.ActionSignalCall, wire.SignalCall{Call: call, Signal: name}, nil)
		return
	}
	rows, cols := terminalSize()
	_ = client.Do(ctx, wire.ActionResizeCall, wire.ResizeCall{Call: call, Rows: rows, Cols: cols}, nil)
}

var signalNames = map[os.Signal]string{
	syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP", syscall.SIGQUIT: "SIGQUIT",
}
