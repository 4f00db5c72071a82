package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/server"
	"countersign/frontend"
)

// ownerTries is how often a wrong desk passphrase may be typed again before serve --owner gives up.
const ownerTries = 3

// browserDoor is the core's door for browsers, from serve --http.
type browserDoor struct {
	pages    fs.FS
	listener net.Listener
	owner    bool

	http *server.HTTP
	used chan struct{} // holds one token after a link was used
	done chan struct{} // closed when it serves no longer
	err  error         // why, after done
}

// listenForBrowsers takes the address and the pages, before a core is started for nothing.
func listenForBrowsers(address string, owner bool) (*browserDoor, error) {
	listener, err := server.ListenLoopback(address)
	if errors.Is(err, server.ErrNotLoopback) {
		return nil, fmt.Errorf("%w, and every machine that reaches it could ask. Use localhost:PORT; from another machine, forward the port: ssh -L PORT:localhost:PORT HOST", err)
	}
	if err != nil {
		return nil, err
	}
	pages, err := frontend.Pages()
	if err != nil {
		_ = listener.Close()
		if errors.Is(err, frontend.ErrNotBuilt) {
			err = fmt.Errorf("%w. Build them and this program with: make build", err)
		}
		return nil, err
	}
	return &browserDoor{pages: pages, listener: listener, owner: owner, used: make(chan struct{}, 1), done: make(chan struct{})}, nil
}

// open serves the desk to browsers until close.
func (b *browserDoor) open(d *desk.Desk, log *slog.Logger) error {
	h, err := server.NewHTTP(server.HTTPOptions{
		Desk: d, Pages: b.pages, Listener: b.listener, Owner: b.owner, Log: log,
		OnUsed: func() {
			select {
			case b.used <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		return err
	}
	b.http = h
	go func() {
		defer close(b.done)
		b.err = h.Serve()
	}()
	return nil
}

// showLink shows a new link.
func (b *browserDoor) showLink(w io.Writer) {
	may := "it may look, and answers nothing"
	if b.owner {
		may = "it answers as you do"
	}
	fmt.Fprintf(w, "Open this in a browser (it connects one browser, once; %s):\n  %s\n", may, b.http.Link())
}

// close ends what browsers have under way. It may be called whether or not the door was opened.
func (b *browserDoor) close() error {
	if b.http == nil {
		return b.listener.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), core.StopTimeout)
	defer cancel()
	err := b.http.Shutdown(ctx)
	<-b.done
	return errors.Join(err, b.err)
}

// proveOwner checks the desk passphrase before browsers are served as the owner: who can start a program in this account
// is not thereby the owner.
func proveOwner(ctx context.Context, ask *passphraseAsker, d *desk.Desk, conf config.Config) error {
	secret, err := ask.known(conf)
	if err == nil {
		return d.CheckPassphrase(secret)
	}
	if !errors.Is(err, errNoTerminal) {
		return err
	}
	if has, err := d.HasPassphrase(); err != nil {
		return err
	} else if !has {
		return errors.New("--owner needs a desk passphrase, and none is set. Choose one with: countersign serve --set-passphrase")
	}
	for try := 1; ; try++ {
		text, err := "", errNoTerminal
		if ask.interactive {
			text, err = askText(ctx, "Desk passphrase: ")
		}
		if errors.Is(err, errNoTerminal) {
			return errors.New("--owner needs the desk passphrase: type it on a terminal, or name a file that holds it in COUNTERSIGN_PASSPHRASE_FILE or identity.passphrase_file")
		}
		if err != nil {
			return err
		}
		err = d.CheckPassphrase(desk.NewSecret(text))
		if err == nil || !desk.WrongPassphrase(err) || try == ownerTries {
			return err
		}
		fmt.Fprintln(ask.streams.Err, "That is not the desk passphrase. Once more.")
	}
}
