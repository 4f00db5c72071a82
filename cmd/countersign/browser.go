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

// ownerTries is how often the desk passphrase may be typed before serve gives up.
const ownerTries = 3

// browserDoor is the core's door for browsers, from serve --http.
type browserDoor struct {
	pages     fs.FS
	listeners []net.Listener
	owner     bool

	http *server.HTTP
	used chan struct{} // holds one token after a link was used
	done chan struct{} // closed when it serves no longer
	err  error         // why, after done
}

// listenForBrowsers takes the address and the pages, before a core is started for nothing.
func listenForBrowsers(address string, owner bool) (*browserDoor, error) {
	listeners, err := server.ListenLoopback(address)
	if errors.Is(err, server.ErrNotLoopback) {
		return nil, fmt.Errorf("%w, the only addresses where a browser looks for the link. Use localhost:PORT; from another machine, forward the port, the same at both ends: ssh -L PORT:127.0.0.1:PORT HOST", err)
	}
	if err != nil {
		return nil, err
	}
	pages, err := frontend.Pages()
	if err != nil {
		err = errors.Join(err, closeAll(listeners))
		if errors.Is(err, frontend.ErrNotBuilt) {
			err = fmt.Errorf("%w. Build them and this program with: make build", err)
		}
		return nil, err
	}
	return &browserDoor{pages: pages, listeners: listeners, owner: owner, used: make(chan struct{}, 1), done: make(chan struct{})}, nil
}

// open serves the desk to browsers until close.
func (b *browserDoor) open(d *desk.Desk, log *slog.Logger) error {
	h, err := server.NewHTTP(server.HTTPOptions{
		Desk: d, Pages: b.pages, Listeners: b.listeners, Owner: b.owner, Log: log,
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
		return closeAll(b.listeners)
	}
	ctx, cancel := context.WithTimeout(context.Background(), core.StopTimeout)
	defer cancel()
	err := b.http.Shutdown(ctx)
	<-b.done
	return errors.Join(err, b.err)
}

func closeAll(listeners []net.Listener) (err error) {
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
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
	_, err = typedPassphrase(ctx, ask, d, "Desk passphrase: ")
	if errors.Is(err, errNoTerminal) {
		return errors.New("--owner needs the desk passphrase: type it on a terminal, or name a file that holds it in COUNTERSIGN_PASSPHRASE_FILE or identity.passphrase_file")
	}
	return err
}

// typedPassphrase asks for the desk passphrase until it is right, or was wrong too often. errNoTerminal: there is
// nobody to ask.
func typedPassphrase(ctx context.Context, ask *passphraseAsker, d *desk.Desk, prompt string) (desk.Secret, error) {
	for try := 1; ; try++ {
		text, err := "", errNoTerminal
		if ask.interactive {
			text, err = askText(ctx, prompt)
		}
		if err != nil {
			return desk.Secret{}, err
		}
		secret := desk.NewSecret(text)
		err = d.CheckPassphrase(secret)
		if err == nil || !desk.WrongPassphrase(err) || try == ownerTries {
			return secret, err
		}
		fmt.Fprintln(ask.streams.Err, "That is not the desk passphrase. Once more.")
	}
}
