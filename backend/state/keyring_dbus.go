//go:build linux || freebsd || netbsd || openbsd || dragonfly

package state

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
)

// keyringReachable looks for the address of a session bus. Without one the library would run dbus-launch, which leaves
// a bus daemon behind at every call. The places are those where the library looks before it does that.
func keyringReachable() error {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		if strings.HasPrefix(a, "autolaunch:") {
			return fmt.Errorf("%w: DBUS_SESSION_BUS_ADDRESS asks to start a bus", ErrKeyringMissing)
		}
		return nil
	}
	dir := filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
		return nil
	}
	if data, err := os.ReadFile(filepath.Join(dir, "dbus-session")); err == nil && strings.HasPrefix(string(data), "DBUS_SESSION_BUS_ADDRESS=") {
		return nil
	}
	return fmt.Errorf("%w: there is no session bus", ErrKeyringMissing)
}

// keyringFaultOS says what an error of the bus means.
func keyringFaultOS(err error) error {
	var fromBus dbus.Error
	if errors.As(err, &fromBus) {
		switch fromBus.Name {
		case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
			"org.freedesktop.DBus.Error.Spawn.ServiceNotFound", "org.freedesktop.DBus.Error.Spawn.ExecFailed",
			"org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.NoServer",
			"org.freedesktop.DBus.Error.Disconnected":
			return fmt.Errorf("%w: %w", ErrKeyringMissing, err)
		case "org.freedesktop.Secret.Error.IsLocked", "org.freedesktop.DBus.Error.NoReply",
			"org.freedesktop.DBus.Error.Timeout":
			return fmt.Errorf("%w: %w", ErrKeyringLocked, err)
		}
		return fmt.Errorf("%w: %w", ErrKeyringFailed, err)
	}
	var dial *net.OpError
	if errors.As(err, &dial) || errors.Is(err, dbus.ErrClosed) {
		return fmt.Errorf("%w: the session bus does not answer: %w", ErrKeyringMissing, err)
	}
	return fmt.Errorf("%w: %w", ErrKeyringFailed, err)
}
