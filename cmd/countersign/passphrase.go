package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"countersign/backend/config"
	"countersign/backend/desk"
)

// minPassphrase is the shortest desk passphrase that is accepted, in bytes.
const minPassphrase = 8

var errNoTerminal = errors.New("no terminal to ask the passphrase on")

// passphraseAsker gets the desk passphrase once: from the file the person named, or from the terminal.
type passphraseAsker struct {
	streams     *streams
	interactive bool
	fixed       *desk.Secret // for the demo's throw-away desk
	got         *desk.Secret
}

func newPassphraseAsker(s *streams, interactive bool) *passphraseAsker {
	return &passphraseAsker{streams: s, interactive: interactive}
}

// identity returns the function that unlocks or protects a file identity.
func (p *passphraseAsker) identity(conf config.Config) func() (desk.Secret, error) {
	return func() (desk.Secret, error) {
		secret, err := p.known(conf)
		if err == nil || !errors.Is(err, errNoTerminal) {
			return secret, err
		}
		if !p.interactive {
			return desk.Secret{}, fmt.Errorf("%w: name a file in COUNTERSIGN_PASSPHRASE_FILE or identity.passphrase_file, or start the core in a terminal with: countersign serve", err)
		}
		secret, err = askSecret("Desk passphrase: ")
		if err == nil {
			p.got = &secret
		}
		return secret, err
	}
}

// known returns the passphrase without asking anybody.
func (p *passphraseAsker) known(conf config.Config) (desk.Secret, error) {
	if p.fixed != nil {
		return *p.fixed, nil
	}
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
func (p *passphraseAsker) choose(conf config.Config) (desk.Secret, error) {
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
	fmt.Fprint(tty, "Choose a desk passphrase. You will type it to answer approvals in a terminal.\n")
	_ = tty.Close()
	for {
		first, err := askText("New desk passphrase: ")
		if err != nil {
			return desk.Secret{}, err
		}
		if len(first) < minPassphrase {
			fmt.Fprintf(p.streams.Err, "It needs at least %d characters.\n", minPassphrase)
			continue
		}
		second, err := askText("The same again: ")
		if err != nil {
			return desk.Secret{}, err
		}
		if first == second {
			return desk.NewSecret(first), nil
		}
		fmt.Fprintln(p.streams.Err, "The two are not the same. Once more.")
	}
}

func askSecret(prompt string) (desk.Secret, error) {
	text, err := askText(prompt)
	return desk.NewSecret(text), err
}

// askText reads one line from the controlling terminal without showing it. Standard input is never used: what an agent
// pipes in is not a person.
func askText(prompt string) (string, error) {
	tty, err := openTerminal()
	if err != nil {
		return "", errNoTerminal
	}
	defer tty.Close()
	fmt.Fprint(tty, prompt)
	line, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(tty)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}
