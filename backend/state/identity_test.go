package state

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"

	"countersign/backend/approval"
)

// cheapFactor makes the tests' passphrases cost nothing.
const cheapFactor = 2

func fileOptions(dir, passphrase string) IdentityOptions {
	return IdentityOptions{
		Store: IdentityFile, Dir: dir, Create: true, WorkFactor: cheapFactor,
		Passphrase: func() (Secret, error) { return NewSecret(passphrase), nil },
	}
}

func testIdentity(t testing.TB) *Identity {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return newIdentity(private)
}

func TestFingerprint(t *testing.T) {
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	got := Fingerprint(public)
	if !regexp.MustCompile(`^[a-z2-7]{26}$`).MatchString(got) {
		t.Errorf("form: %q", got)
	}
	if want := "copdsqhgjnkjc4rardm2bv2bmk"; got != want { // fixed for ever: principal ids and receipts hold it
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFileIdentity(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := openTest(t, dir)
	o := fileOptions(dir, "open sesame")
	o.Create = false
	if _, err := OpenIdentity(ctx, s, o); !errors.Is(err, ErrNoIdentity) || Hint(err) == "" {
		t.Fatalf("without Create: %v", err)
	}
	o.Create = true
	id, err := OpenIdentity(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, KeyFile)
	info := must(os.Stat(path))(t)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %#o", info.Mode().Perm())
	}
	data := must(os.ReadFile(path))(t)
	if !strings.HasPrefix(string(data), "age-encryption.org/v1\n-> scrypt ") || strings.Contains(string(data), seedPrefix) {
		t.Errorf("not an encrypted age file: %.60q", data)
	}
	again, err := OpenIdentity(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if again.Fingerprint() != id.Fingerprint() || !again.Public().Equal(id.Public()) {
		t.Error("another identity came back")
	}
	message := []byte("hello")
	if !ed25519.Verify(id.Public(), message, again.Sign(message)) {
		t.Error("the signature does not hold")
	}
	for _, text := range []string{fmt.Sprint(id), fmt.Sprintf("%+v", id), fmt.Sprintf("%#v", id)} {
		if text != "identity "+id.Fingerprint() {
			t.Errorf("printed as %q", text)
		}
	}
	asked := 0
	o.Passphrase = func() (Secret, error) { asked++; return NewSecret("open sesame"), nil }
	if _, err := OpenIdentity(ctx, s, o); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	o.WorkFactor = 0 // the file's own factor is what counts for opening
	if _, err := OpenIdentity(ctx, s, o); err != nil {
		t.Error(err)
	}
}

func TestFileIdentityFaults(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("no terminal")
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string, o *IdentityOptions)
		want    error
	}{
		{"wrong passphrase", func(_ *testing.T, _ string, o *IdentityOptions) {
			o.Passphrase = func() (Secret, error) { return NewSecret("open sesamf"), nil }
		}, ErrWrongPassphrase},
		{"no passphrase", func(_ *testing.T, _ string, o *IdentityOptions) { o.Passphrase = nil }, ErrPassphraseNeeded},
		{"empty passphrase", func(_ *testing.T, _ string, o *IdentityOptions) {
			o.Passphrase = func() (Secret, error) { return Secret{}, nil }
		}, ErrPassphraseNeeded},
		{"passphrase cannot be asked", func(_ *testing.T, _ string, o *IdentityOptions) {
			o.Passphrase = func() (Secret, error) { return Secret{}, broken }
		}, broken},
		{"file is gone", func(_ *testing.T, dir string, _ *IdentityOptions) { _ = os.Remove(filepath.Join(dir, KeyFile)) }, ErrNoIdentity},
		{"file is cut off", func(_ *testing.T, dir string, _ *IdentityOptions) { _ = os.Truncate(filepath.Join(dir, KeyFile), 100) }, ErrIdentityDamaged},
		{"end is cut off", func(t *testing.T, dir string, _ *IdentityOptions) {
			path := filepath.Join(dir, KeyFile)
			_ = os.Truncate(path, must(os.Stat(path))(t).Size()-1)
		}, ErrIdentityDamaged},
		{"file is something else", func(_ *testing.T, dir string, _ *IdentityOptions) {
			_ = os.WriteFile(filepath.Join(dir, KeyFile), []byte("hello"), 0o600)
		}, ErrIdentityDamaged},
		{"file is huge", func(_ *testing.T, dir string, _ *IdentityOptions) {
			_ = os.Truncate(filepath.Join(dir, KeyFile), maxKeyFile+1)
		}, ErrTooLarge},
		{"content is something else", func(t *testing.T, dir string, _ *IdentityOptions) { encryptTo(t, dir, "hello") }, ErrIdentityDamaged},
		{"content is a short key", func(t *testing.T, dir string, _ *IdentityOptions) { encryptTo(t, dir, seedPrefix+"AAAA") }, ErrIdentityDamaged},
		{"content is another key", func(t *testing.T, dir string, _ *IdentityOptions) {
			encryptTo(t, dir, seedPrefix+strings.Repeat("A", 43)+"=")
		}, ErrIdentityMismatch},
		{"place is unknown", func(_ *testing.T, _ string, o *IdentityOptions) { o.Store = "" }, ErrUnknownIdentityStore},
		{"place is misspelled", func(_ *testing.T, _ string, o *IdentityOptions) { o.Store = "keychain" }, ErrUnknownIdentityStore},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, []struct {
			name    string
			prepare func(t *testing.T, dir string, o *IdentityOptions)
			want    error
		}{
			{"others may read it", func(_ *testing.T, dir string, _ *IdentityOptions) { _ = os.Chmod(filepath.Join(dir, KeyFile), 0o644) }, ErrInsecure},
			{"it is a link", func(_ *testing.T, dir string, _ *IdentityOptions) {
				path := filepath.Join(dir, KeyFile)
				_ = errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
			}, ErrInsecure},
		}...)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openTest(t, dir)
			o := fileOptions(dir, "open sesame")
			if _, err := OpenIdentity(ctx, s, o); err != nil {
				t.Fatal(err)
			}
			tt.prepare(t, dir, &o)
			before, _ := os.ReadFile(filepath.Join(dir, KeyFile))
			_, err := OpenIdentity(ctx, s, o)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if tt.want != broken && Hint(err) == "" {
				t.Error("no hint")
			}
			if strings.Contains(err.Error(), "sesam") {
				t.Errorf("the error shows the passphrase: %v", err)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, KeyFile)); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// encryptTo replaces the key file by text under the tests' passphrase.
func encryptTo(t *testing.T, dir, text string) {
	t.Helper()
	to := must(age.NewScryptRecipient("open sesame"))(t)
	to.SetWorkFactor(cheapFactor)
	f := must(os.OpenFile(filepath.Join(dir, KeyFile), os.O_WRONLY|os.O_TRUNC, 0o600))(t)
	w := must(age.Encrypt(f, to))(t)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestNewFileIdentityNeedsAUsablePassphrase(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	if _, err := OpenIdentity(context.Background(), s, fileOptions(dir, "short")); !errors.Is(err, ErrPassphraseForm) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, KeyFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
	if _, found := get[identityRecord](t, s, bucketMeta, keyIdentity); found {
		t.Error("a key is remembered")
	}
}

func TestFileVaultNeverReplaces(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, KeyFile), []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := newFileVault(fileOptions(dir, "open sesame"))
	if err := v.save(context.Background(), NewSecret("x")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("save: %v", err)
	}
	if data := must(os.ReadFile(filepath.Join(dir, KeyFile)))(t); string(data) != "precious" {
		t.Error("it was replaced")
	}
	if names := must(os.ReadDir(dir))(t); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// A store that is empty takes the key that is there: the first start after the store was set aside.
func TestIdentityIsRememberedWhenFirstSeen(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	id, err := OpenIdentity(ctx, openTest(t, filepath.Join(dir, "one")), fileOptions(dir, "open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	s := openTest(t, filepath.Join(dir, "two"))
	o := fileOptions(dir, "open sesame")
	o.Create = false
	if _, err := OpenIdentity(ctx, s, o); err != nil {
		t.Fatal(err)
	}
	if rec, _ := get[identityRecord](t, s, bucketMeta, keyIdentity); !id.Public().Equal(ed25519.PublicKey(rec.Public)) {
		t.Error("another key is remembered")
	}
	put(t, s, bucketMeta, keyIdentity, identityRecord{Public: []byte("short")})
	if _, err := OpenIdentity(ctx, s, o); !errors.Is(err, ErrDamaged) {
		t.Errorf("short public key: %v", err)
	}
	_ = s.Close()
	if _, err := OpenIdentity(ctx, s, o); !errors.Is(err, ErrClosed) {
		t.Errorf("closed store: %v", err)
	}
	var _ approval.Store = s
}
