//go:build linux

package state

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/zalando/go-keyring"
)

// The tests below meet a real bus and a real gnome-keyring, each in a process of its own, because the library keeps
// one connection per process.

const keyringPassword = "test keyring"

// startKeyring is a shell script that unlocks a new keyring and becomes the program behind it.
const startKeyring = `printf '%s' '` + keyringPassword + `' | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" "$@"`

func needPrograms(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
}

// cleanEnvironment has no session bus. HOME and XDG_RUNTIME_DIR are new directories.
func cleanEnvironment(t *testing.T) []string {
	t.Helper()
	// The keyring's socket lies in XDG_RUNTIME_DIR and its path must be short.
	run, err := os.MkdirTemp("", "rt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	return []string{"HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + run, "PATH=" + os.Getenv("PATH")}
}

func noUserBus(t *testing.T) {
	t.Helper()
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join("/run/user", fmt.Sprint(os.Getuid()), name)); err == nil {
			t.Skip("this account has a session bus; the case without one cannot be shown")
		}
	}
}

func runChild(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	limited := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	limited.Env = cmd.Env
	// A daemon that outlives the child must not keep us waiting for its end of the pipe.
	limited.WaitDelay = time.Second
	out, err := limited.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func inSession(t *testing.T, role string, env []string, session, script []string, args ...string) {
	t.Helper()
	child := asRole(t, role, env, args...)
	words := append(append(append([]string{}, session...), "--"), script...)
	cmd := exec.Command("dbus-run-session", append(append(words, child.Path), args...)...)
	cmd.Env = child.Env
	runChild(t, cmd)
}

func keyringOptions(dir string) IdentityOptions {
	return IdentityOptions{Store: IdentityKeyring, Dir: dir, Create: true, Timeout: 10 * time.Second}
}

// expect opens the identity in dir and checks the error.
func expect(what, dir string, o IdentityOptions, want error) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	start := time.Now()
	if _, err := OpenIdentity(context.Background(), s, o); !errors.Is(err, want) || want != nil && Hint(err) == "" {
		return fmt.Errorf("%s: got %v after %s, want %v", what, err, time.Since(start), want)
	}
	var rec identityRecord
	if found, err := rememberedIn(s, &rec); err != nil || found && errors.Is(want, ErrKeyringMissing) {
		return fmt.Errorf("%s: a key is remembered, %v", what, err)
	}
	if _, err := os.Stat(filepath.Join(dir, KeyFile)); err == nil {
		return fmt.Errorf("%s: it fell back to a file", what)
	}
	return nil
}

func rememberedIn(s *Store, rec *identityRecord) (bool, error) {
	public, err := remembered(s)
	rec.Public = public
	return public != nil, err
}

func init() {
	roles["keyring works"] = keyringWorks
	roles["keyring is locked"] = keyringIsLocked
	roles["keyring hangs"] = keyringHangs
	roles["keyring is missing"] = func(args []string) error {
		return expect("missing", args[0], keyringOptions(args[0]), ErrKeyringMissing)
	}
}

func keyringWorks(args []string) error {
	ctx, dir := context.Background(), args[0]
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	o := keyringOptions(dir)
	o.Create = false
	if _, err := OpenIdentity(ctx, s, o); !errors.Is(err, ErrNoIdentity) {
		return fmt.Errorf("before it was made: %w", err)
	}
	o.Create = true
	id, err := OpenIdentity(ctx, s, o)
	if err != nil {
		return err
	}
	again, err := OpenIdentity(ctx, s, o)
	if err != nil {
		return err
	}
	if again.Fingerprint() != id.Fingerprint() {
		return errors.New("another identity came back")
	}
	account := keyringAccount(dir)
	kept, err := keyring.Get(DefaultService, account)
	if err != nil || !strings.HasPrefix(kept, seedPrefix) {
		return fmt.Errorf("the entry is not where it is documented: %w", err)
	}

	// Somebody swaps the entry.
	if err := keyring.Set(DefaultService, account, seedPrefix+base64Text(make([]byte, 32))); err != nil {
		return err
	}
	if _, err := OpenIdentity(ctx, s, o); !errors.Is(err, ErrIdentityMismatch) || Hint(err) == "" {
		return fmt.Errorf("swapped: %w", err)
	}
	if err := keyring.Set(DefaultService, account, "nonsense"); err != nil {
		return err
	}
	if _, err := OpenIdentity(ctx, s, o); !errors.Is(err, ErrIdentityDamaged) {
		return fmt.Errorf("nonsense: %w", err)
	}
	// Somebody removes it: a desk that had a key does not make another one by itself.
	if err := keyring.Delete(DefaultService, account); err != nil {
		return err
	}
	if _, err := OpenIdentity(ctx, s, o); !errors.Is(err, ErrNoIdentity) || !strings.Contains(err.Error(), id.Fingerprint()) {
		return fmt.Errorf("removed: %w", err)
	}
	if err := keyring.Set(DefaultService, account, kept); err != nil {
		return err
	}
	_, err = OpenIdentity(ctx, s, o)
	return err
}

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// keyringIsLocked locks the keyring as a screen lock or a time limit does. There is no screen here, so the prompt
// cannot be shown: the keyring dismisses it at once, or waits until the time limit.
func keyringIsLocked(args []string) error {
	dir := args[0]
	if err := expect("unlocked", dir, keyringOptions(dir), nil); err != nil {
		return err
	}
	conn, err := dbus.SessionBus()
	if err != nil {
		return err
	}
	var locked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	err = conn.Object("org.freedesktop.secrets", "/org/freedesktop/secrets").
		Call("org.freedesktop.Secret.Service.Lock", 0, []dbus.ObjectPath{"/org/freedesktop/secrets/collection/login"}).
		Store(&locked, &prompt)
	if err != nil || len(locked) != 1 {
		return fmt.Errorf("lock the keyring: %v, %w", locked, err)
	}
	o := keyringOptions(dir)
	o.Timeout = 3 * time.Second
	return expect("locked", dir, o, ErrKeyringLocked)
}

// hangingService answers nothing, like a service whose prompt is open.
type hangingService struct{}

// Unlock never returns.
func (hangingService) Unlock([]dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	select {}
}

func keyringHangs(args []string) error {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return err
	}
	if err := conn.Export(hangingService{}, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"); err != nil {
		return err
	}
	if _, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil {
		return err
	}
	o := keyringOptions(args[0])
	o.Timeout = 300 * time.Millisecond
	start := time.Now()
	if err := expect("hanging", args[0], o, ErrKeyringLocked); err != nil {
		return err
	}
	if d := time.Since(start); d > 5*time.Second {
		return fmt.Errorf("it took %s", d)
	}
	return nil
}

func TestRealKeyring(t *testing.T) {
	needPrograms(t, "dbus-run-session", "gnome-keyring-daemon", "sh")
	for _, role := range []string{"keyring works", "keyring is locked"} {
		t.Run(role, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			inSession(t, role, cleanEnvironment(t), nil, []string{"sh", "-c", startKeyring}, dir)
		})
	}
}

// emptyBus is a configuration of a bus that starts no service.
const emptyBus = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

func TestBusWithoutKeyring(t *testing.T) {
	needPrograms(t, "dbus-run-session")
	conf := filepath.Join(t.TempDir(), "bus.conf")
	if err := os.WriteFile(conf, []byte(emptyBus), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"keyring is missing", "keyring hangs"} {
		t.Run(role, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			inSession(t, role, cleanEnvironment(t), []string{"--config-file=" + conf}, nil, dir)
		})
	}
}

// Without a bus the library would run dbus-launch and leave a daemon behind at every call.
func TestNoBus(t *testing.T) {
	noUserBus(t)
	tools := t.TempDir()
	marker := filepath.Join(tools, "was-run")
	script := "#!/bin/sh\n: >" + marker + "\nexit 1\n"
	if err := os.WriteFile(filepath.Join(tools, "dbus-launch"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{
		"none": "", "empty": "DBUS_SESSION_BUS_ADDRESS=", "autolaunch": "DBUS_SESSION_BUS_ADDRESS=autolaunch:",
		"autolaunch with scope": "DBUS_SESSION_BUS_ADDRESS=autolaunch:scope=*user",
		"nobody listens":        "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(tools, "none"),
	} {
		t.Run(name, func(t *testing.T) {
			env := append(cleanEnvironment(t), "PATH="+tools+":"+os.Getenv("PATH"))
			if address != "" {
				env = append(env, address)
			}
			dir := filepath.Join(t.TempDir(), "state")
			runChild(t, asRole(t, "keyring is missing", env, dir))
			if _, err := os.Stat(marker); err == nil {
				t.Error("dbus-launch was run")
			}
		})
	}
}

func TestKeyringFaultOS(t *testing.T) {
	dbusError := func(name string) error { return dbus.Error{Name: name} }
	for name, tt := range map[string]struct{ err, want error }{
		"no service":      {dbusError("org.freedesktop.DBus.Error.ServiceUnknown"), ErrKeyringMissing},
		"locked":          {dbusError("org.freedesktop.Secret.Error.IsLocked"), ErrKeyringLocked},
		"no reply":        {dbusError("org.freedesktop.DBus.Error.NoReply"), ErrKeyringLocked},
		"other":           {dbusError("org.freedesktop.DBus.Error.AccessDenied"), ErrKeyringFailed},
		"connection ends": {dbus.ErrClosed, ErrKeyringMissing},
		"unknown":         {errors.New("odd"), ErrKeyringFailed},
	} {
		if got := keyringFault(tt.err); !errors.Is(got, tt.want) || !strings.Contains(got.Error(), tt.err.Error()) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
