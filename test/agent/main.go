package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"countersign/backend/config"
	"countersign/backend/wire"
)

func main() {
	name := flag.String("agent", "claude", "the adapter it claims to be")
	flag.Parse()
	if err := run(*name, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run follows a script to its end.
func run(name string, in io.Reader, out io.Writer) error {
	dirs, err := config.Resolve(os.Getenv(config.HomeVariable), os.Getenv)
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dial := func(ctx context.Context) (*wire.Client, error) {
		return wire.Dial(ctx, wire.DialOptions{Socket: dirs.Socket()})
	}
	client, err := dial(ctx)
	if err != nil {
		return err
	}
	a := &agent{dial: dial, client: client, name: name, session: rand.Text(), turn: rand.Text(), cwd: cwd, out: json.NewEncoder(out)}
	a.tell(event{Event: eventReady})

	var orders sync.WaitGroup
	defer orders.Wait()
	defer cancel() // before the orders are waited for
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxOrder)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("the script holds a line that is no order: %w", err)
		}
		orders.Go(func() { a.follow(ctx, o) })
	}
	return lines.Err()
}
