package state

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

// fakeKeyring is a keyring in memory, for faults that a real one does not show on demand.
type fakeKeyring struct {
	mu     sync.Mutex
	stored string
	getErr error
	setErr error
	onSet  func(string) string // what is really kept
}

func (k *fakeKeyring) get(string, string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.getErr == nil && k.stored == "" {
		return "", keyring.ErrNotFound
	}
	return k.stored, k.getErr
}

func (k *fakeKeyring) set(_, _, text string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.setErr != nil {
		return k.setErr
	}
	if k.onSet != nil {
		text = k.onSet(text)
	}
	k.stored = text
	return nil
}

func (k *fakeKeyring) vault() *keyringVault {
	return &keyringVault{
		service: DefaultService, account: "a", timeout: time.Minute,
		reachable: func() error { return nil }, get: k.get, set: k.set,
	}
}

func TestKeyringVault(t *testing.T) {
	ctx := context.Background()
	other := newIdentity(testIdentity(t).private)
	tests := []struct {
		name string
		k    *fakeKeyring
		want error
	}{
		{"works", &fakeKeyring{}, nil},
		{"refuses to read", &fakeKeyring{getErr: errors.New("odd")}, ErrKeyringFailed},
		{"refuses to write", &fakeKeyring{setErr: errors.New("odd")}, ErrKeyringFailed},
		{"prompt dismissed", &fakeKeyring{getErr: errors.New("failed to unlock correct collection '/x'")}, ErrKeyringLocked},
		{"unsupported", &fakeKeyring{getErr: keyring.ErrUnsupportedPlatform}, ErrKeyringMissing},
		{"keeps nothing", &fakeKeyring{onSet: func(string) string { return "" }}, ErrKeyringFailed},
		{"keeps another key", &fakeKeyring{onSet: func(string) string { return seedText(other) }}, ErrIdentityMismatch},
		{"keeps nonsense", &fakeKeyring{onSet: func(string) string { return "nonsense" }}, ErrIdentityDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := tt.k.vault()
			_, err := loadIdentity(ctx, v)
			if errors.Is(err, errNoKey) {
				_, err = createIdentity(ctx, v)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("never replaces an entry", func(t *testing.T) {
		k := &fakeKeyring{stored: seedText(other)}
		if err := k.vault().save(ctx, NewSecret("x")); !errors.Is(err, ErrIdentityMismatch) || k.stored != seedText(other) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a panic in the library is an error", func(t *testing.T) {
		v := (&fakeKeyring{}).vault()
		v.get = func(string, string) (string, error) { panic("interface conversion") }
		if _, err := v.load(ctx); !errors.Is(err, ErrKeyringFailed) {
			t.Error(err)
		}
	})
	t.Run("not called when it is not reachable", func(t *testing.T) {
		v := (&fakeKeyring{}).vault()
		v.reachable = func() error { return ErrKeyringMissing }
		v.get = func(string, string) (string, error) { t.Error("called"); return "", nil }
		if _, err := v.load(ctx); !errors.Is(err, ErrKeyringMissing) {
			t.Error(err)
		}
	})
}

func seedText(id *Identity) string {
	return seedPrefix + base64.StdEncoding.EncodeToString(id.private.Seed())
}

// A prompt blocks the call until somebody answers it. The core must not hang with it.
func TestKeyringTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := make(chan struct{})
		v := (&fakeKeyring{}).vault()
		v.timeout = keyringTimeout
		v.get = func(string, string) (string, error) { <-answered; return "", nil }
		start := time.Now()
		_, err := v.load(context.Background())
		if !errors.Is(err, ErrKeyringLocked) || time.Since(start) != keyringTimeout {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		go func() { time.Sleep(time.Second); cancel() }()
		start = time.Now()
		if _, err := v.load(ctx); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("cancelled after %s: %v", time.Since(start), err)
		}
		close(answered)
	})
}

func TestKeyringAccount(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a := must(newKeyringVault(IdentityOptions{Dir: one}))(t)
	b := must(newKeyringVault(IdentityOptions{Dir: one + "/."}))(t)
	c := must(newKeyringVault(IdentityOptions{Dir: two, Service: "test", Timeout: time.Second}))(t)
	if a.account != b.account || a.account == c.account || !strings.HasPrefix(a.account, "device-key-") {
		t.Errorf("%q, %q, %q", a.account, b.account, c.account)
	}
	if a.service != DefaultService || a.timeout != keyringTimeout || c.service != "test" || c.timeout != time.Second {
		t.Errorf("%+v, %+v", a, c)
	}
	if _, err := newKeyringVault(IdentityOptions{Dir: one + "/none"}); err == nil {
		t.Error("a directory that is not there")
	}
}
