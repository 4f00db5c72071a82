package state

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

// entry is the classifier's entry in a keyring in memory.
func (k *fakeKeyring) entry() classifierEntry {
	return classifierEntry{k.vault(), func(string, string) error {
		if k.stored == "" {
			return keyring.ErrNotFound
		}
		k.stored = ""
		return k.setErr
	}}
}

func TestClassifierEntry(t *testing.T) {
	ctx := context.Background()
	k := &fakeKeyring{}
	e := k.entry()
	if _, err := e.read(ctx); !errors.Is(err, ErrNoClassifierKey) || Hint(err) == "" {
		t.Errorf("none: %v", err)
	}
	if err := e.drop(ctx); !errors.Is(err, ErrNoClassifierKey) {
		t.Errorf("none to remove: %v", err)
	}
	for _, key := range []string{"k-1", "k-2"} { // the second in the place of the first
		if err := e.replace(ctx, NewSecret(key)); err != nil {
			t.Fatal(err)
		}
		if got, err := e.read(ctx); err != nil || string(got.Reveal()) != key {
			t.Errorf("%v", err)
		}
	}
	if err := errors.Join(e.drop(ctx)); err != nil || k.stored != "" {
		t.Errorf("%v", err)
	}
	for name, k := range map[string]*fakeKeyring{
		"refuses to read":  {getErr: errors.New("odd")},
		"refuses to write": {setErr: errors.New("odd")},
		"keeps another":    {onSet: func(string) string { return "x" }},
		"is locked":        {setErr: errors.New("failed to unlock correct collection '/x'")},
	} {
		err := k.entry().replace(ctx, NewSecret("hunter2"))
		var fault *Fault
		// The device key's way out, a file, is none here.
		if !errors.As(err, &fault) || strings.Contains(Hint(err), "identity.store") || Hint(err) == "" || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v (%s)", name, err, Hint(err))
		}
	}
	if _, err := (&fakeKeyring{stored: "two words"}).entry().read(ctx); !errors.Is(err, ErrClassifierKeyForm) {
		t.Errorf("an entry that somebody changed: %v", err)
	}
}

func TestClassifierKeyForm(t *testing.T) {
	dir := t.TempDir()
	for _, key := range []string{"", "two words", "line\n", "tab\t", "é", "\x00", strings.Repeat("x", maxClassifierKey+1)} {
		if err := SetClassifierKey(context.Background(), dir, NewSecret(key)); !errors.Is(err, ErrClassifierKeyForm) || Hint(err) == "" {
			t.Errorf("%q: %v", key, err)
		}
	}
	if _, err := ClassifierKey(context.Background(), dir+"/none"); err == nil {
		t.Error("a directory that is not there")
	}
}

// Two desks have two entries, and neither is the device key's.
func TestClassifierAccount(t *testing.T) {
	one, two := must(classifierVault(t.TempDir()))(t), must(classifierVault(t.TempDir()))(t)
	if one.account == two.account || !strings.HasPrefix(one.account, "classifier-") || one.service != DefaultService {
		t.Errorf("%q, %q", one.account, two.account)
	}
}
