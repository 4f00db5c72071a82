package state

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/crypto/argon2"

	"countersign/backend/approval"
)

const (
	keyPassphrase = "passphrase"
	keyTries      = "passphrase_tries"

	algorithmArgon2id = "argon2id"
	saltSize          = 16
	hashSize          = 32

	// One guess costs 64 MiB and three passes (RFC 9106, second recommended option).
	argonTime    = 3
	argonMemory  = 64 << 10 // KiB
	argonThreads = 4

	// Bounds of what a stored hash may demand of us.
	maxArgonTime   = 64
	maxArgonMemory = 1 << 20 // KiB

	// After the failed try with number freeTries comes the first wait; it doubles from firstWait to longestWait.
	freeTries   = 3
	firstWait   = time.Second
	longestWait = 15 * time.Minute
)

// TriesError says until when no passphrase is looked at. It is ErrTooManyTries.
type TriesError struct {
	Until time.Time     // wall clock
	Wait  time.Duration // from now
}

// Error returns the text of ErrTooManyTries with the wait.
func (e *TriesError) Error() string {
	return fmt.Sprintf("%v: wait %s", ErrTooManyTries, e.Wait.Round(time.Second))
}

// Unwrap returns ErrTooManyTries.
func (e *TriesError) Unwrap() error { return ErrTooManyTries }

// passphraseRecord is the value of keyPassphrase.
type passphraseRecord struct {
	Algorithm string    `json:"algorithm"`
	Time      uint32    `json:"time"`
	Memory    uint32    `json:"memory_kib"`
	Threads   uint8     `json:"threads"`
	Salt      []byte    `json:"salt"`
	Hash      []byte    `json:"hash"`
	SetAt     time.Time `json:"set_at"`
}

// triesRecord is the value of keyTries.
type triesRecord struct {
	Failed    int       `json:"failed"`
	NotBefore time.Time `json:"not_before"`
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now().Round(0) } // without the monotonic reading: sleep counts

// SetPassphrase stores the desk passphrase, which answers in a terminal need, as a salted Argon2id hash. It replaces
// an older one and forgets failed tries; who may do that is for the caller to decide. ErrPassphraseForm: it is too
// short or not one line.
func SetPassphrase(store approval.Store, passphrase Secret) error {
	return setPassphrase(store, wallClock{}, passphrase)
}

func setPassphrase(store approval.Store, clock approval.Clock, passphrase Secret) error {
	if err := usablePassphrase(passphrase); err != nil {
		return fmt.Errorf("set passphrase: %w", err)
	}
	rec := passphraseRecord{
		Algorithm: algorithmArgon2id, Time: argonTime, Memory: argonMemory,
		Threads: uint8(min(argonThreads, runtime.NumCPU())),
		Salt:    make([]byte, saltSize), SetAt: clock.Now().UTC(),
	}
	if _, err := rand.Read(rec.Salt); err != nil {
		return fmt.Errorf("set passphrase: %w", err)
	}
	rec.Hash = rec.hash(passphrase, hashSize)
	err := store.Update(func(tx approval.Tx) error {
		if err := tx.Delete(bucketMeta, keyTries); err != nil {
			return err
		}
		return tx.Put(bucketMeta, keyPassphrase, rec)
	})
	if err != nil {
		return fmt.Errorf("set passphrase: %w", err)
	}
	return nil
}

// HasPassphrase reports whether a desk passphrase is set.
func HasPassphrase(store approval.Store) (bool, error) {
	var rec passphraseRecord
	found := false
	err := store.View(func(tx approval.Tx) (err error) {
		found, err = tx.Get(bucketMeta, keyPassphrase, &rec)
		return err
	})
	return found, err
}

// CheckPassphrase compares passphrase with the stored one: nil, ErrWrongPassphrase, ErrNoPassphrase, or a *TriesError
// (ErrTooManyTries) while it must not be looked at. The wait grows with every failed try, is kept in the store by wall
// clock, and survives restarts.
func CheckPassphrase(store approval.Store, passphrase Secret) error {
	return checkPassphrase(store, wallClock{}, passphrase)
}

func checkPassphrase(store approval.Store, clock approval.Clock, passphrase Secret) error {
	rec, err := claimTry(store, clock.Now())
	if err != nil {
		return fmt.Errorf("check passphrase: %w", err)
	}
	if subtle.ConstantTimeCompare(rec.hash(passphrase, uint32(len(rec.Hash))), rec.Hash) != 1 {
		return fmt.Errorf("check passphrase: %w", ErrWrongPassphrase)
	}
	err = store.Update(func(tx approval.Tx) error { return tx.Delete(bucketMeta, keyTries) })
	if err != nil {
		return fmt.Errorf("check passphrase: %w", err)
	}
	return nil
}

// claimTry counts a try as failed before it is made, so that neither many at once nor a killed core get a free one.
func claimTry(store approval.Store, now time.Time) (passphraseRecord, error) {
	var rec passphraseRecord
	var tooEarly *TriesError
	err := store.Update(func(tx approval.Tx) error {
		found, err := tx.Get(bucketMeta, keyPassphrase, &rec)
		if err != nil {
			return err
		}
		if !found {
			return ErrNoPassphrase
		}
		if !rec.valid() {
			return fmt.Errorf("%w: the stored passphrase hash is not usable", ErrDamaged)
		}
		var tries triesRecord
		if _, err := tx.Get(bucketMeta, keyTries, &tries); err != nil {
			return err
		}
		// A clock that was set back must not turn a minute into a year.
		if limit := now.Add(waitAfter(tries.Failed)); tries.NotBefore.After(limit) {
			tries.NotBefore = limit
			if err := tx.Put(bucketMeta, keyTries, tries); err != nil {
				return err
			}
		}
		if now.Before(tries.NotBefore) {
			tooEarly = &TriesError{Until: tries.NotBefore, Wait: tries.NotBefore.Sub(now)}
			return nil // commit the corrected time
		}
		tries.Failed++
		tries.NotBefore = now.Add(waitAfter(tries.Failed))
		return tx.Put(bucketMeta, keyTries, tries)
	})
	if err == nil && tooEarly != nil {
		err = tooEarly
	}
	return rec, err
}

// waitAfter returns how long no try is accepted after the given number of failed ones.
func waitAfter(failed int) time.Duration {
	if failed < freeTries {
		return 0
	}
	wait := firstWait
	for range failed - freeTries {
		if wait *= 2; wait >= longestWait {
			return longestWait
		}
	}
	return wait
}

func (r passphraseRecord) valid() bool {
	return r.Algorithm == algorithmArgon2id && r.Time >= 1 && r.Time <= maxArgonTime &&
		r.Memory >= 8 && r.Memory <= maxArgonMemory && r.Threads >= 1 &&
		len(r.Salt) >= 8 && len(r.Hash) >= 16 && len(r.Hash) <= 64
}

func (r passphraseRecord) hash(passphrase Secret, size uint32) []byte {
	return argon2.IDKey(passphrase.Reveal(), r.Salt, r.Time, r.Memory, r.Threads, size)
}
