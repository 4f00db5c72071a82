package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
)

// Limits of asking the session bus.
const (
	busTimeout = 500 * time.Millisecond
)

// The names on the session bus.
const (
	busName       = "org.freedesktop.DBus"
	notifications = "org.freedesktop.Notifications"
	watcher       = "org.kde.StatusNotifierWatcher"
	portal        = "org.freedesktop.portal.Desktop"
)

// busAddress returns the address of the session bus, "" where there is none. The library would otherwise start a bus of
// its own, one for each question.
func busAddress(env func(string) string) string {
	if address := env("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address
	}
	dir := env("XDG_RUNTIME_DIR")
	if dir == "" {
		return ""
	}
	path := filepath.Join(dir, "bus")
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSocket == 0 {
		return ""
	}
	return "unix:path=" + path
}

// probe asks the session bus what the desktop offers. What does not answer is not there.
func probe(ctx context.Context) desktop {
	address := busAddress(os.Getenv)
	if address == "" {
		return desktop{}
	}
	ctx, cancel := context.WithTimeout(ctx, 4*busTimeout)
	defer cancel()
	bus, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return desktop{}
	}
	defer func() { _ = bus.Close() }() // nothing is under way
	b := asker{ctx: ctx, bus: bus}
	d := desktop{trayHost: b.trayHost(), notifications: b.hasOwner(notifications) || b.activatable(notifications), dark: b.dark()}
	if d.notifications {
		var can []string
		answered := b.call(0, notifications, "/org/freedesktop/Notifications", notifications+".GetCapabilities", &can)
		d.markup = readsMarkup(answered, can)
	}
	return d
}

// readsMarkup reports whether a notification service reads markup. One that does not answer in time may: then text is
// quoted that need not be, which is ugly, and no agent's words become a link or a picture.
func readsMarkup(answered bool, can []string) bool {
	return !answered || slices.Contains(can, "body-markup")
}

// asker asks the session bus, one question after another.
type asker struct {
	ctx context.Context
	bus *dbus.Conn
}

func (b asker) call(flags dbus.Flags, name, path, method string, out any, args ...any) bool {
	ctx, cancel := context.WithTimeout(b.ctx, busTimeout)
	defer cancel()
	return b.bus.Object(name, dbus.ObjectPath(path)).CallWithContext(ctx, method, flags, args...).Store(out) == nil
}

func (b asker) hasOwner(name string) bool {
	var has bool
	return b.call(0, busName, "/org/freedesktop/DBus", busName+".NameHasOwner", &has, name) && has
}

func (b asker) activatable(name string) bool {
	var names []string
	return b.call(0, busName, "/org/freedesktop/DBus", busName+".ListActivatableNames", &names) && slices.Contains(names, name)
}

// trayHost reports whether something draws tray icons (StatusNotifierItem). A watcher that does not say so counts as no:
// a window that hides where no icon is cannot be found again.
func (b asker) trayHost() bool {
	var there dbus.Variant
	if !b.hasOwner(watcher) ||
		!b.call(dbus.FlagNoAutoStart, watcher, "/StatusNotifierWatcher", "org.freedesktop.DBus.Properties.Get", &there, watcher, "IsStatusNotifierHostRegistered") {
		return false
	}
	yes, ok := there.Value().(bool)
	return ok && yes
}

// dark reports whether the desktop prefers dark, by the settings portal, which is not started for it.
func (b asker) dark() bool {
	var value dbus.Variant
	if !b.call(dbus.FlagNoAutoStart, portal, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings.Read", &value,
		"org.freedesktop.appearance", "color-scheme") {
		return false
	}
	for { // the portal wraps its answer twice
		inner, ok := value.Value().(dbus.Variant)
		if !ok {
			break
		}
		value = inner
	}
	scheme, ok := value.Value().(uint32)
	return ok && scheme == 1
}
