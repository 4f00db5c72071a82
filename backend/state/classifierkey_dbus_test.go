//go:build linux

package state

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/zalando/go-keyring"
)

func init() { roles["classifier's key"] = classifierKeyWorks }

func classifierKeyWorks(args []string) error {
	ctx, dir := context.Background(), args[0]
	if _, err := ClassifierKey(ctx, dir); !errors.Is(err, ErrNoClassifierKey) {
		return fmt.Errorf("before it was kept: %w", err)
	}
	for _, key := range []string{"k-1", "k-2"} {
		if err := SetClassifierKey(ctx, dir, NewSecret(key)); err != nil {
			return err
		}
		if got, err := ClassifierKey(ctx, dir); err != nil || string(got.Reveal()) != key {
			return fmt.Errorf("after it was kept: %w", err)
		}
	}
	if _, err := keyring.Get(DefaultService, classifierAccount(keyringAccount(dir))); err != nil {
		return fmt.Errorf("the entry is not where it is documented: %w", err)
	}
	if _, err := keyring.Get(DefaultService, keyringAccount(dir)); !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("the device key's entry was touched: %w", err)
	}
	if err := RemoveClassifierKey(ctx, dir); err != nil {
		return err
	}
	if err := RemoveClassifierKey(ctx, dir); !errors.Is(err, ErrNoClassifierKey) {
		return fmt.Errorf("after it was removed: %w", err)
	}
	return nil
}

func TestClassifierKeyInKeyring(t *testing.T) {
	needPrograms(t, "dbus-run-session", "gnome-keyring-daemon")
	dir := must(filepath.EvalSymlinks(t.TempDir()))(t)
	inSession(t, "classifier's key", cleanEnvironment(t), nil, []string{"sh", "-c", startKeyring}, dir)
}

// Without a session bus the owner is told so, with what to do here.
func TestClassifierKeyWithoutBus(t *testing.T) {
	noUserBus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	_, err := ClassifierKey(context.Background(), t.TempDir())
	if !errors.Is(err, ErrKeyringMissing) || Hint(err) == "" {
		t.Errorf("%v", err)
	}
}
