package desk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"countersign/backend/approval"
	"countersign/backend/config"
	"countersign/backend/policy"
	"countersign/backend/rules"
	"countersign/backend/sandbox"
	"countersign/backend/state"
	"countersign/backend/wire"
)

// KeyFile is the name of a file identity in the state directory, IdentityFile the identity.store that keeps it.
const (
	KeyFile      = state.KeyFile
	IdentityFile = state.IdentityFile
)

// FileRules are the rules of config.toml: what every decision begins with.
func FileRules(file string, r config.Rules) policy.RuleSet {
	return rules.FromFile(policy.SourceGlobal, file, r.Deny, r.Ask, r.Allow)
}

// Secret is a text that prints itself redacted.
type Secret = state.Secret

// NewSecret wraps a secret text.
func NewSecret(text string) Secret { return state.NewSecret(text) }

// ReadPassphraseFile reads a passphrase from a file that only its owner can read.
func ReadPassphraseFile(path string) (Secret, error) { return state.ReadPassphraseFile(path) }

// StartCore starts the program exe as a core that outlives its caller, with exactly the given environment.
func StartCore(exe string, args, env []string) error { return sandbox.StartCore(exe, args, env) }

// Helper is a process of our own that ends with the one that started it.
type Helper = sandbox.Helper

// StartHelper starts the program exe as a helper of this process, with exactly the given environment.
func StartHelper(exe string, args, env []string) (*Helper, error) {
	return sandbox.StartHelper(exe, args, env)
}

// HasPassphrase reports whether a desk passphrase is set.
func (d *Desk) HasPassphrase() (bool, error) { return state.HasPassphrase(d.store) }

// ErrPassphraseSet means that a desk passphrase is set already: who replaces it has to know it.
var ErrPassphraseSet = errors.New("a desk passphrase is set already")

// SetPassphrase sets the desk passphrase that terminal answers need, where none is set.
func (d *Desk) SetPassphrase(s Secret) error {
	has, err := d.HasPassphrase()
	if err == nil && has {
		err = ErrPassphraseSet
	}
	if err != nil {
		return err
	}
	return state.SetPassphrase(d.store, s)
}

// ChangePassphrase replaces the desk passphrase by another one, for whoever knows it.
func (d *Desk) ChangePassphrase(old, next Secret) error {
	if err := d.CheckPassphrase(old); err != nil {
		return err
	}
	return state.SetPassphrase(d.store, next)
}

// CheckPassphrase compares s with the desk passphrase. Wrong ones make the next try wait, whoever made them.
func (d *Desk) CheckPassphrase(s Secret) error {
	err := state.CheckPassphrase(d.store, s)
	debug.FreeOSMemory() // checking takes a lot of it, once
	return err
}

// WrongPassphrase reports whether CheckPassphrase refused what it was given, and not something else.
func WrongPassphrase(err error) bool { return errors.Is(err, state.ErrWrongPassphrase) }

// Waiting counts the open questions.
func (d *Desk) Waiting() int {
	open, err := d.calls.Pending()
	if err != nil {
		d.log.Error("count pending", "error", err)
	}
	return len(open)
}

// Verify checks the whole chain of receipts against this desk's key and the newest head it remembers.
func (d *Desk) Verify() (wire.Verification, error) {
	v, err := d.receipts.Verify()
	if err != nil {
		return wire.Verification{}, err
	}
	return wireVerification(v), nil
}

// VerifyOffline checks the receipts under a state directory without a core. Without an identity at hand, the public
// key the store remembers is used.
func VerifyOffline(stateDir string) (wire.Verification, error) {
	if _, err := os.Lstat(filepath.Join(stateDir, state.StoreFile)); errors.Is(err, fs.ErrNotExist) {
		return wire.Verification{}, &wire.Error{Code: "no_desk", Args: map[string]string{"state": stateDir}}
	}
	v, err := state.VerifyOffline(stateDir)
	if err != nil {
		return wire.Verification{}, err
	}
	return wireVerification(v), nil
}

// Owner returns the caller that stands for the owner in this very process: the window, or whoever opened the desk.
// A process that only connects can never become it.
func (d *Desk) Owner() Caller { return Caller{Surface: SurfaceOwner} }

var _ approval.Store = (*state.Store)(nil)
