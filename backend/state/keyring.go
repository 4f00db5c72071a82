package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// keyringTimeout limits one call into the keyring. A locked keyring opens a prompt and blocks until it is answered;
// the prompt stays on the screen, and the next start finds the keyring unlocked.
const keyringTimeout = 5 * time.Second

// keyringVault keeps the key in the operating system's keyring.
type keyringVault struct {
	service, account string
	timeout          time.Duration
	reachable        func() error // what must hold before the library is called at all
	get              func(service, account string) (string, error)
	set              func(service, account, secret string) error
}

func newKeyringVault(o IdentityOptions) (*keyringVault, error) {
	// The real path, so that one directory has one account however it is reached.
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	v := &keyringVault{
		service: o.Service, account: keyringAccount(dir), timeout: o.Timeout,
		reachable: keyringReachable, get: keyring.Get, set: keyring.Set,
	}
	if v.service == "" {
		v.service = DefaultService
	}
	if v.timeout <= 0 {
		v.timeout = keyringTimeout
	}
	return v, nil
}

// keyringAccount names the entry of one state directory. A hash, because keyrings differ in what they let a name hold.
func keyringAccount(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "device-key-" + strings.ToLower(lowerBase32.EncodeToString(sum[:]))[:16]
}

func (v *keyringVault) load(ctx context.Context) (Secret, error) {
	text, err := v.limited(ctx, func() (string, error) { return v.get(v.service, v.account) })
	return NewSecret(text), err
}

// save stores key. The keyring replaces an entry of the same name, so it is looked for first; between the two nobody
// else of this desk can write, because the store is locked.
func (v *keyringVault) save(ctx context.Context, key Secret) error {
	switch _, err := v.load(ctx); {
	case err == nil:
		return fmt.Errorf("%w: the keyring has an entry already", ErrIdentityMismatch)
	case !errors.Is(err, errNoKey):
		return err
	}
	_, err := v.limited(ctx, func() (string, error) { return "", v.set(v.service, v.account, string(key.Reveal())) })
	return err
}

// limited runs one call into the library under the time limit. A call that does not come back is left behind.
func (v *keyringVault) limited(ctx context.Context, call func() (string, error)) (string, error) {
	if err := v.reachable(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1) // buffered: a late answer must not block its goroutine for ever
	go func() {
		defer func() {
			// The library asserts types of what a foreign service sends.
			if p := recover(); p != nil {
				done <- answer{"", fmt.Errorf("%w: the service sent something unexpected: %v", ErrKeyringFailed, p)}
			}
		}()
		text, err := call()
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, keyringFault(a.err)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%w: no answer in %s", ErrKeyringLocked, v.timeout)
	}
}

// keyringFault says what an error of the library means.
func keyringFault(err error) error {
	var known *Fault
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, keyring.ErrNotFound):
		return errNoKey
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return fmt.Errorf("%w: %w", ErrKeyringMissing, err)
	case strings.Contains(err.Error(), "failed to unlock"):
		// The prompt was dismissed, or there was no screen to show it on.
		return fmt.Errorf("%w: %w", ErrKeyringLocked, err)
	}
	return keyringFaultOS(err)
}
