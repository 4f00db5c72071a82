//go:build !(linux || freebsd || netbsd || openbsd || dragonfly)

package state

import (
	"fmt"
	"strings"
)

// keyringReachable holds always: the keychain and the credential store are part of the system.
func keyringReachable() error { return nil }

// keyringFaultOS says what an error of the system means. macOS's security(1) ends with its own error text; -25308
// (errSecInteractionNotAllowed) and "User canceled" are a locked keychain.
func keyringFaultOS(err error) error {
	text := err.Error()
	if strings.Contains(text, "-25308") || strings.Contains(text, "User canceled") || strings.Contains(text, "exit status 36") {
		return fmt.Errorf("%w: %w", ErrKeyringLocked, err)
	}
	return fmt.Errorf("%w: %w", ErrKeyringFailed, err)
}
