package state

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zalando/go-keyring"
)

// maxClassifierKey is the longest key of the classifier's endpoint, in bytes: Windows keeps no longer entries.
const maxClassifierKey = 2048

// Faults of the classifier's key.
var (
	ErrNoClassifierKey = &Fault{"classifier_key_missing", "no key for the classifier is kept for this desk",
		"Keep one with: countersign classifier set-key. A server that needs none works without."}
	ErrClassifierKeyForm = &Fault{"classifier_key_form", "that cannot be a key",
		"A key is one line of at most 2048 visible characters, without spaces."}
)

// classifierFault gives a fault of the keyring the hint that fits here: the device key has another place to be kept, this
// one has not.
type classifierFault struct{ error }

// Unwrap returns the fault itself.
func (f classifierFault) Unwrap() error { return f.error }

// Hint says how to mend it.
func (f classifierFault) Hint() string {
	return "The key of the classifier's endpoint is kept in the operating system's keyring only. Unlock it, or on Linux start one (gnome-keyring or KWallet) inside the desktop session, then try again. A server on this machine that needs no key works without one."
}

// ClassifierKey returns the key of the classifier's endpoint that is kept for the desk with this state directory. Each desk
// has its own entry: another directory's configuration must not decide where this one's key is sent. None is
// ErrNoClassifierKey.
func ClassifierKey(ctx context.Context, dir string) (Secret, error) {
	v, err := classifierVault(dir)
	if err != nil {
		return Secret{}, err
	}
	return v.read(ctx)
}

// SetClassifierKey keeps the key, in the place of another one.
func SetClassifierKey(ctx context.Context, dir string, key Secret) error {
	if err := checkClassifierKey(key); err != nil {
		return err
	}
	v, err := classifierVault(dir)
	if err != nil {
		return err
	}
	return v.replace(ctx, key)
}

// RemoveClassifierKey removes the key. None is ErrNoClassifierKey.
func RemoveClassifierKey(ctx context.Context, dir string) error {
	v, err := classifierVault(dir)
	if err != nil {
		return err
	}
	return v.drop(ctx)
}

func checkClassifierKey(key Secret) error {
	text := key.Reveal()
	if len(text) == 0 || len(text) > maxClassifierKey {
		return ErrClassifierKeyForm
	}
	for _, c := range text {
		if c <= ' ' || c >= 0x7f {
			return ErrClassifierKeyForm
		}
	}
	return nil
}

// classifierEntry is the keyring's entry of one desk's classifier.
type classifierEntry struct {
	*keyringVault
	remove func(service, account string) error
}

func classifierVault(dir string) (classifierEntry, error) {
	v, err := newKeyringVault(IdentityOptions{Dir: dir})
	if err != nil {
		return classifierEntry{}, fmt.Errorf("find this desk's entry in the keyring: %w", err)
	}
	v.account = classifierAccount(v.account)
	return classifierEntry{v, keyring.Delete}, nil
}

// classifierAccount makes the entry's name from that of the device key: the same desk, another kind of entry.
func classifierAccount(deviceAccount string) string {
	return "classifier-" + strings.TrimPrefix(deviceAccount, "device-key-")
}

func (e classifierEntry) read(ctx context.Context) (Secret, error) {
	key, err := e.load(ctx)
	if err != nil {
		return Secret{}, classifierKeyError("read", err)
	}
	if err := checkClassifierKey(key); err != nil {
		return Secret{}, fmt.Errorf("the keyring's entry was changed: %w", err)
	}
	return key, nil
}

func (e classifierEntry) replace(ctx context.Context, key Secret) error {
	if _, err := e.limited(ctx, func() (string, error) { return "", e.set(e.service, e.account, string(key.Reveal())) }); err != nil {
		return classifierKeyError("keep", err)
	}
	kept, err := e.load(ctx)
	if err != nil {
		return classifierKeyError("read back", err)
	}
	if string(kept.Reveal()) != string(key.Reveal()) {
		return classifierKeyError("keep", fmt.Errorf("%w: it holds something else than it was given", ErrKeyringFailed))
	}
	return nil
}

func (e classifierEntry) drop(ctx context.Context) error {
	if _, err := e.limited(ctx, func() (string, error) { return "", e.remove(e.service, e.account) }); err != nil {
		return classifierKeyError("remove", err)
	}
	return nil
}

func classifierKeyError(what string, err error) error {
	if errors.Is(err, errNoKey) {
		return ErrNoClassifierKey
	}
	return classifierFault{fmt.Errorf("%s the classifier's key: %w", what, err)}
}
