package state

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign/backend/approval"
)

const (
	// IdentityKeyring and IdentityFile are the values of identity.store.
	IdentityKeyring = "keyring"
	IdentityFile    = "file"

	// DefaultService is the service name of our entries in the keyring.
	DefaultService = "dev.countersign.Desk"

	// fingerprintLength is the number of base32 characters: 130 bits of the hash.
	fingerprintLength = 26

	keyIdentity = "identity"

	// seedPrefix marks a stored key and its format.
	seedPrefix = "countersign-ed25519-1:"
)

var lowerBase32 = base32.StdEncoding.WithPadding(base32.NoPadding)

// Fingerprint returns the short name of a device key: the first 26 characters of the lower-case base32 form of the
// SHA-256 of the public key. Principal ids ("owner/<fingerprint>") and key ids of receipts use it.
func Fingerprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return strings.ToLower(lowerBase32.EncodeToString(sum[:]))[:fingerprintLength]
}

// Identity is the owner device's key. It signs for whoever holds the value; it is safe for concurrent use.
type Identity struct {
	public      ed25519.PublicKey
	private     ed25519.PrivateKey
	fingerprint string
}

func newIdentity(private ed25519.PrivateKey) *Identity {
	public := ed25519.PublicKey(private[ed25519.PrivateKeySize-ed25519.PublicKeySize:]) // RFC 8032: seed, then public key
	return &Identity{public: public, private: private, fingerprint: Fingerprint(public)}
}

// Fingerprint returns the key's short name.
func (i *Identity) Fingerprint() string { return i.fingerprint }

// Public returns a copy of the public key.
func (i *Identity) Public() ed25519.PublicKey { return bytes.Clone(i.public) }

// Sign signs message (RFC 8032 Ed25519).
func (i *Identity) Sign(message []byte) []byte { return ed25519.Sign(i.private, message) }

// String returns the fingerprint; the private key is never printed.
func (i *Identity) String() string { return "identity " + i.fingerprint }

// GoString returns the same as String.
func (i *Identity) GoString() string { return i.String() }

// IdentityOptions says where the device key is kept.
type IdentityOptions struct {
	// Store is IdentityKeyring or IdentityFile. Anything else is ErrUnknownIdentityStore: there is no default here,
	// and one is never tried after the other.
	Store string
	// Dir is the state directory. The file is kept in it; the keyring's account name is derived from it.
	Dir string
	// Service is the keyring's service name. Empty: DefaultService.
	Service string
	// Passphrase gives the passphrase of the file. It is called only for IdentityFile. Empty or nil is
	// ErrPassphraseNeeded.
	Passphrase func() (Secret, error)
	// Create makes a key when there is none and the store does not remember one either.
	Create bool
	// Timeout limits every single call into the keyring. Zero: 5 s.
	Timeout time.Duration

	// WorkFactor is log2 of the cost of one guess at a new file's passphrase (scrypt). Zero: 18, about a second. Less is
	// right only for a throw-away desk, whose passphrase is random and never leaves the process.
	WorkFactor int
}

// vault is a place that keeps one key.
type vault interface {
	// load returns the key as text, or errNoKey.
	load(ctx context.Context) (Secret, error)
	// save keeps key. It never replaces another one.
	save(ctx context.Context, key Secret) error
}

// errNoKey says that a vault works and is empty.
var errNoKey = errors.New("no key")

// OpenIdentity opens the owner device's key, or makes it. The store remembers the public key from when it is first
// seen; afterwards another key is ErrIdentityMismatch and a missing one ErrNoIdentity, also with Create. Errors wrap
// the faults of the identity, each with a hint. Nothing falls back silently.
func OpenIdentity(ctx context.Context, store approval.Store, o IdentityOptions) (*Identity, error) {
	id, err := openIdentity(ctx, store, o)
	if err != nil {
		return nil, fmt.Errorf("open identity: %w", err)
	}
	return id, nil
}

func openIdentity(ctx context.Context, store approval.Store, o IdentityOptions) (*Identity, error) {
	v, err := openVault(o)
	if err != nil {
		return nil, err
	}
	known, err := remembered(store)
	if err != nil {
		return nil, err
	}
	id, err := loadIdentity(ctx, v)
	switch {
	case errors.Is(err, errNoKey) && known != nil:
		return nil, fmt.Errorf("%w: %s is expected", ErrNoIdentity, Fingerprint(known))
	case errors.Is(err, errNoKey) && !o.Create:
		return nil, ErrNoIdentity
	case errors.Is(err, errNoKey):
		if id, err = createIdentity(ctx, v); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if known != nil && !known.Equal(id.public) {
		return nil, fmt.Errorf("%w: %s is expected, %s was found", ErrIdentityMismatch, Fingerprint(known), id.fingerprint)
	}
	if known == nil {
		if err := remember(store, id.public); err != nil {
			return nil, err
		}
	}
	return id, nil
}

func openVault(o IdentityOptions) (vault, error) {
	switch o.Store {
	case IdentityKeyring:
		return newKeyringVault(o)
	case IdentityFile:
		return newFileVault(o), nil
	default:
		return nil, fmt.Errorf("%w: %q", ErrUnknownIdentityStore, o.Store)
	}
}

// createIdentity makes a key, keeps it, and reads it back: a keyring that accepts a key and has another one
// afterwards must be noticed before anything is signed with it.
func createIdentity(ctx context.Context, v vault) (*Identity, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	text := NewSecret(seedPrefix + base64.StdEncoding.EncodeToString(private.Seed()))
	defer text.Wipe()
	if err := v.save(ctx, text); err != nil {
		return nil, err
	}
	id, err := loadIdentity(ctx, v)
	if errors.Is(err, errNoKey) {
		return nil, fmt.Errorf("%w: it did not keep the key", ErrKeyringFailed)
	}
	if err != nil {
		return nil, err
	}
	if !id.private.Equal(private) {
		return nil, fmt.Errorf("%w: another program stored a key at the same moment", ErrIdentityMismatch)
	}
	return id, nil
}

func loadIdentity(ctx context.Context, v vault) (*Identity, error) {
	text, err := v.load(ctx)
	if err != nil {
		return nil, err
	}
	defer text.Wipe()
	encoded, ok := bytes.CutPrefix(text.Reveal(), []byte(seedPrefix))
	if !ok {
		return nil, fmt.Errorf("%w: unknown format", ErrIdentityDamaged)
	}
	seed, err := base64.StdEncoding.Strict().AppendDecode(nil, encoded)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%w: bad length or characters", ErrIdentityDamaged) // the details would show key bytes
	}
	return newIdentity(ed25519.NewKeyFromSeed(seed)), nil
}

// identityRecord is the value of keyIdentity.
type identityRecord struct {
	Public []byte `json:"public"`
}

// remembered returns the public key that the store belongs to, or nil.
func remembered(store approval.Store) (ed25519.PublicKey, error) {
	var rec identityRecord
	found := false
	err := store.View(func(tx approval.Tx) (err error) {
		found, err = tx.Get(bucketMeta, keyIdentity, &rec)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	if len(rec.Public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: the remembered public key has a bad length", ErrDamaged)
	}
	return rec.Public, nil
}

func remember(store approval.Store, public ed25519.PublicKey) error {
	return store.Update(func(tx approval.Tx) error {
		return tx.Put(bucketMeta, keyIdentity, identityRecord{Public: public})
	})
}
