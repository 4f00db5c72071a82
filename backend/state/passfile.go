package state

import (
	"bytes"
	"fmt"
)

const (
	// minPassphrase and maxPassphrase are the limits of a passphrase in bytes.
	minPassphrase = 8
	maxPassphrase = 1024
	// maxPassphraseFile leaves room for a line end.
	maxPassphraseFile = maxPassphrase + 2
)

// PassphraseFile returns a function that reads the passphrase from path; see ReadPassphraseFile.
func PassphraseFile(path string) func() (Secret, error) {
	return func() (Secret, error) { return ReadPassphraseFile(path) }
}

// ReadPassphraseFile reads a passphrase from the first and only line of a file, which must be a regular file of this
// account with mode 0600, not a symbolic link.
func ReadPassphraseFile(path string) (Secret, error) {
	data, err := readPrivate(path, maxPassphraseFile)
	if err != nil {
		return Secret{}, fmt.Errorf("read passphrase file: %w", err)
	}
	defer clear(data)
	line := bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r"))
	s := NewSecret(line)
	if s.Empty() {
		return Secret{}, fmt.Errorf("read passphrase file: %w", fault("read", path, ErrPassphraseNeeded))
	}
	if err := onePrintableLine(s); err != nil {
		return Secret{}, fmt.Errorf("read passphrase file: %w", fault("read", path, err))
	}
	return s, nil
}

// usablePassphrase reports why s must not be chosen as a passphrase.
func usablePassphrase(s Secret) error {
	if n := len(s.Reveal()); n < minPassphrase || n > maxPassphrase {
		return fmt.Errorf("%w: it has %d bytes", ErrPassphraseForm, n)
	}
	return onePrintableLine(s)
}

// onePrintableLine refuses control characters: they are what a wrong file or a confused terminal sends.
func onePrintableLine(s Secret) error {
	for _, b := range s.Reveal() {
		if b < ' ' || b == 0x7f {
			return fmt.Errorf("%w: it has control characters or more than one line", ErrPassphraseForm)
		}
	}
	return nil
}
