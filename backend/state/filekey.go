package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"
)

const (
	// KeyFile is the name of the encrypted key in the state directory.
	KeyFile = "identity.age"

	// fileWorkFactor makes one guess at the passphrase cost about a second and 256 MiB (scrypt, N = 2^18, r = 8).
	fileWorkFactor = 18
	// maxWorkFactor bounds what a file may demand of us: about four seconds and 1 GiB.
	maxWorkFactor = 20
	// maxKeyFile bounds the file; a real one has under 400 bytes.
	maxKeyFile = 64 << 10
	// maxKeyText bounds what is inside.
	maxKeyText = 1024
)

// fileVault keeps the key in a file encrypted by a passphrase (age-encryption.org/v1, scrypt).
type fileVault struct {
	path       string
	passphrase func() (Secret, error)
	workFactor int
	asked      *Secret // the passphrase, asked for once
}

func newFileVault(o IdentityOptions) *fileVault {
	v := &fileVault{path: filepath.Join(o.Dir, KeyFile), passphrase: o.Passphrase, workFactor: o.WorkFactor}
	if v.workFactor == 0 {
		v.workFactor = fileWorkFactor
	}
	return v
}

func (v *fileVault) ask() (string, error) {
	if v.asked != nil {
		return string(v.asked.Reveal()), nil
	}
	if v.passphrase == nil {
		return "", ErrPassphraseNeeded
	}
	s, err := v.passphrase()
	if err != nil {
		return "", err
	}
	if s.Empty() {
		return "", ErrPassphraseNeeded
	}
	v.asked = &s
	return string(s.Reveal()), nil
}

func (v *fileVault) load(context.Context) (Secret, error) {
	data, err := readPrivate(v.path, maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Secret{}, errNoKey
	}
	if err != nil {
		return Secret{}, err
	}
	passphrase, err := v.ask()
	if err != nil {
		return Secret{}, err
	}
	key, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return Secret{}, err
	}
	key.SetMaxWorkFactor(max(maxWorkFactor, v.workFactor))
	r, err := age.Decrypt(bytes.NewReader(data), key)
	var noMatch *age.NoIdentityMatchError
	switch {
	case errors.As(err, &noMatch):
		return Secret{}, fault("open", v.path, ErrWrongPassphrase)
	case err != nil:
		return Secret{}, fault("open", v.path, fmt.Errorf("%w: %w", ErrIdentityDamaged, err))
	}
	text, err := io.ReadAll(io.LimitReader(r, maxKeyText))
	if err != nil {
		return Secret{}, fault("open", v.path, fmt.Errorf("%w: %w", ErrIdentityDamaged, err))
	}
	defer clear(text)
	return NewSecret(text), nil
}

func (v *fileVault) save(_ context.Context, key Secret) error {
	passphrase, err := v.ask()
	if err != nil {
		return err
	}
	if err := usablePassphrase(*v.asked); err != nil {
		return err
	}
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return err
	}
	to.SetWorkFactor(v.workFactor)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to)
	if err != nil {
		return err
	}
	if _, err := w.Write(key.Reveal()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(v.path), dirMode); err != nil {
		return mapDisk(err)
	}
	return createPrivateBytes(v.path, out.Bytes())
}
