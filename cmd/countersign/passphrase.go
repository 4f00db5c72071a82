package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"countersign/backend/config"
	"countersign/backend/desk"
)

// minPassphrase is the shortest desk passphrase that is accepted, in bytes.
const minPassphrase = 8

var (
	errNoTerminal  = errors.New("no terminal to ask the passphrase on")
	errInterrupted = errors.New("interrupted at the prompt; nothing was done")
)

// passphraseAsker gets the desk passphrase once: from the file the person named, or from the terminal.
type passphraseAsker struct {
	streams     *streams
	interactive bool
	got         *desk.Secret
}

func newPassphraseAsker(s *streams, interactive bool) *passphraseAsker {
	return &passphraseAsker{streams: s, interactive: interactive}
}

// identity returns the function that unlocks a file identity, or protects a new one: where none is there yet, the
// passphrase is chosen and typed twice, since a typing error would seal the owner's key for good.
func (p *passphraseAsker) identity(ctx context.Context, dirs config.Dirs) func(config.Config) (desk.Secret, error) {
	return func(conf config.Config) (desk.Secret, error) {
		secret, err := p.known(conf)
		if err == nil || !errors.Is(err, errNoTerminal) {
			return secret, err
		}
		if !p.interactive {
			return desk.Secret{}, fmt.Errorf("%w: name a file in COUNTERSIGN_PASSPHRASE_FILE or identity.passphrase_file, or start the core in a terminal with: countersign serve", err)
		}
		if !hasKeyFile(dirs) {
			return p.choose(ctx, conf)
		}
		text, err := askText(ctx, "Desk passphrase: ")
		if err != nil {
			return desk.Secret{}, err
		}
		secret = desk.NewSecret(text)
		p.got = &secret
		return secret, nil
	}
}

// hasKeyFile reports whether a file identity stands in the state directory. What cannot be looked at counts as there:
// the state package says what is wrong with it.
func hasKeyFile(dirs config.Dirs) bool {
	_, err := os.Lstat(filepath.Join(dirs.State, desk.KeyFile))
	return !errors.Is(err, os.ErrNotExist)
}

// known returns the passphrase without asking anybody.
func (p *passphraseAsker) known(conf config.Config) (desk.Secret, error) {
	if p.got != nil {
		return *p.got, nil
	}
	file := os.Getenv("COUNTERSIGN_PASSPHRASE_FILE")
	if file == "" {
		file = conf.Identity.PassphraseFile
	}
	if file == "" {
		return desk.Secret{}, errNoTerminal
	}
	return desk.ReadPassphraseFile(file)
}

// choose returns a new desk passphrase: the one that unlocks the identity, or one typed twice.
func (p *passphraseAsker) choose(ctx context.Context, conf config.Config) (desk.Secret, error) {
	if secret, err := p.known(conf); err == nil || !errors.Is(err, errNoTerminal) {
		return secret, err
	}
	if !p.interactive {
		return desk.Secret{}, errNoTerminal
	}
	tty, err := openTerminal()
	if err != nil {
		return desk.Secret{}, errNoTerminal
	}
	text := "Choose a desk passphrase. You will type it to answer approvals in a terminal.\n"
	if conf.Identity.Store == desk.IdentityFile {
		text = "Choose a desk passphrase. It protects this desk's key, and you will type it to start the core and to answer\n" +
			"approvals in a terminal. It is kept nowhere: without it the key cannot be read again.\n"
	}
	fmt.Fprint(tty, text)
	_ = tty.Close()
	for {
		first, err := askText(ctx, "New desk passphrase: ")
		if err != nil {
			return desk.Secret{}, err
		}
		if len(first) < minPassphrase {
			fmt.Fprintf(p.streams.Err, "It needs at least %d characters.\n", minPassphrase)
			continue
		}
		second, err := askText(ctx, "The same again: ")
		if err != nil {
			return desk.Secret{}, err
		}
		if first == second {
			secret := desk.NewSecret(first)
			p.got = &secret
			return secret, nil
		}
		fmt.Fprintln(p.streams.Err, "The two are not the same. Once more.")
	}
}

// askText reads one line from the controlling terminal without showing it. Standard input is never used: what an agent
// pipes in is not a person. Ctrl-C ends it with errInterrupted, whoever else listens to signals, and the terminal shows
// again what is typed.
func askText(ctx context.Context, prompt string) (string, error) {
	tty, err := openTerminal()
	if err != nil {
		return "", errNoTerminal
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	fd := int(tty.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		_ = tty.Close()
		return "", errNoTerminal
	}
	// Hidden before it is asked for: who types at the sight of the prompt must not be shown.
	if err := hideInput(fd); err != nil {
		_ = tty.Close()
		return "", errNoTerminal
	}
	fmt.Fprint(tty, prompt)
	type result struct {
		line []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		_ = term.Restore(fd, before)
		fmt.Fprintln(tty)
		_ = tty.Close()
		if r.err != nil {
			return "", r.err
		}
		return strings.TrimRight(string(r.line), "\r\n"), nil
	case <-ctx.Done():
		// The reader cannot be stopped: it keeps the terminal open until the process ends, soon after this.
		_ = term.Restore(fd, before)
		fmt.Fprintln(tty)
		return "", errInterrupted
	}
}
