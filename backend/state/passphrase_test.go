package state

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/backend/approval"
)

// testClock is a clock that a test moves.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func newTestClock() *testClock { return &testClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// cheapPassphrase replaces the stored hash by one that costs nothing to check: the tests are about tries.
func cheapPassphrase(t *testing.T, s *Store, text string) {
	t.Helper()
	rec := passphraseRecord{Algorithm: algorithmArgon2id, Time: 1, Memory: 8, Threads: 1, Salt: make([]byte, saltSize)}
	rec.Hash = rec.hash(NewSecret(text), hashSize)
	put(t, s, bucketMeta, keyPassphrase, rec)
}

func TestPassphrase(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	if err := CheckPassphrase(s, NewSecret("anything at all")); !errors.Is(err, ErrNoPassphrase) || Hint(err) == "" {
		t.Fatalf("before one is set: %v", err)
	}
	if has, err := HasPassphrase(s); has || err != nil {
		t.Fatalf("HasPassphrase: %v, %v", has, err)
	}
	if err := SetPassphrase(s, NewSecret("correct horse")); err != nil {
		t.Fatal(err)
	}
	if has, err := HasPassphrase(s); !has || err != nil {
		t.Fatalf("HasPassphrase: %v, %v", has, err)
	}
	if err := CheckPassphrase(s, NewSecret("correct horse")); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"correct hors", ""} {
		if err := CheckPassphrase(s, NewSecret(wrong)); !errors.Is(err, ErrWrongPassphrase) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	rec, _ := get[passphraseRecord](t, s, bucketMeta, keyPassphrase)
	if !rec.valid() || rec.Memory != argonMemory || len(rec.Salt) != saltSize {
		t.Errorf("stored %+v", rec)
	}
	if data := must(os.ReadFile(filepath.Join(dir, StoreFile)))(t); strings.Contains(string(data), "correct") {
		t.Error("the passphrase itself is in the store")
	}
	first := rec.Hash
	if err := SetPassphrase(s, NewSecret("correct horse")); err != nil {
		t.Fatal(err)
	}
	if rec, _ := get[passphraseRecord](t, s, bucketMeta, keyPassphrase); string(rec.Hash) == string(first) {
		t.Error("the salt was used twice")
	}
}

func TestPassphraseForm(t *testing.T) {
	s := openTest(t, t.TempDir())
	for name, text := range map[string]string{
		"empty": "", "short": "1234567", "long": strings.Repeat("x", maxPassphrase+1),
		"two lines": "first line\nsecond", "NUL": "12345678\x00", "delete": "12345678\x7f",
	} {
		if err := SetPassphrase(s, NewSecret(text)); !errors.Is(err, ErrPassphraseForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := SetPassphrase(s, NewSecret("密码密码")); err != nil {
		t.Error(err)
	}
}

func TestWaitAfterFailedTries(t *testing.T) {
	tests := []struct {
		failed int
		want   time.Duration
	}{
		{0, 0}, {1, 0}, {2, 0}, {3, time.Second}, {4, 2 * time.Second}, {5, 4 * time.Second}, {12, 512 * time.Second},
		{13, longestWait}, {14, longestWait}, {1 << 40, longestWait}, {-1, 0},
	}
	for _, tt := range tests {
		if got := waitAfter(tt.failed); got != tt.want {
			t.Errorf("after %d: %s, want %s", tt.failed, got, tt.want)
		}
	}
}

func TestPassphraseTries(t *testing.T) {
	dir := t.TempDir()
	s, clock := openTest(t, dir), newTestClock()
	cheapPassphrase(t, s, "right one")
	right, wrong := NewSecret("right one"), NewSecret("wrong one")
	for range freeTries {
		if err := checkPassphrase(s, clock, wrong); !errors.Is(err, ErrWrongPassphrase) {
			t.Fatal(err)
		}
	}
	// The wait holds for the right one too, is told, and outlives the core.
	_ = s.Close()
	s = openTest(t, dir)
	err := checkPassphrase(s, clock, right)
	var tries *TriesError
	if !errors.As(err, &tries) || !errors.Is(err, ErrTooManyTries) || tries.Wait != firstWait || Hint(err) == "" {
		t.Fatalf("got %v", err)
	}
	if !tries.Until.Equal(clock.Now().Add(firstWait)) || !strings.Contains(err.Error(), "1s") {
		t.Errorf("until %s: %v", tries.Until, err)
	}
	clock.add(firstWait)
	if err := checkPassphrase(s, clock, wrong); !errors.Is(err, ErrWrongPassphrase) {
		t.Fatal(err)
	}
	clock.add(firstWait)
	if err := checkPassphrase(s, clock, right); !errors.Is(err, ErrTooManyTries) {
		t.Fatalf("the wait did not grow: %v", err)
	}
	clock.add(firstWait)
	if err := checkPassphrase(s, clock, right); err != nil {
		t.Fatal(err)
	}
	if _, found := get[triesRecord](t, s, bucketMeta, keyTries); found {
		t.Error("the failed tries were not forgotten")
	}
}

// A clock that is set back by a year must not keep the owner out for a year.
func TestPassphraseClockSetBack(t *testing.T) {
	s, clock := openTest(t, t.TempDir()), newTestClock()
	cheapPassphrase(t, s, "right one")
	for range freeTries {
		_ = checkPassphrase(s, clock, NewSecret("wrong one"))
	}
	clock.add(-365 * 24 * time.Hour)
	if err := checkPassphrase(s, clock, NewSecret("right one")); !errors.Is(err, ErrTooManyTries) {
		t.Fatalf("setting the clock back ended the wait: %v", err)
	}
	clock.add(firstWait)
	if err := checkPassphrase(s, clock, NewSecret("right one")); err != nil {
		t.Fatal(err)
	}
}

// Many guesses at once must not share one free try.
func TestPassphraseManyAtOnce(t *testing.T) {
	s, clock := openTest(t, t.TempDir()), newTestClock()
	cheapPassphrase(t, s, "right one")
	var wg sync.WaitGroup
	var mu sync.Mutex
	looked := 0
	for range 20 {
		wg.Go(func() {
			if err := checkPassphrase(s, clock, NewSecret("wrong one")); errors.Is(err, ErrWrongPassphrase) {
				mu.Lock()
				looked++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if looked != freeTries {
		t.Errorf("%d guesses were looked at, want %d", looked, freeTries)
	}
}

func TestPassphraseStoredHashIsBounded(t *testing.T) {
	s := openTest(t, t.TempDir())
	good := passphraseRecord{Algorithm: algorithmArgon2id, Time: 1, Memory: 8, Threads: 1, Salt: make([]byte, 16), Hash: make([]byte, 32)}
	for name, change := range map[string]func(*passphraseRecord){
		"algorithm": func(r *passphraseRecord) { r.Algorithm = "plain" },
		"memory":    func(r *passphraseRecord) { r.Memory = 1 << 31 },
		"time":      func(r *passphraseRecord) { r.Time = 1 << 30 },
		"threads":   func(r *passphraseRecord) { r.Threads = 0 },
		"empty":     func(r *passphraseRecord) { r.Hash = nil },
		"salt":      func(r *passphraseRecord) { r.Salt = nil },
	} {
		rec := good
		change(&rec)
		put(t, s, bucketMeta, keyPassphrase, rec)
		if err := CheckPassphrase(s, NewSecret("anything")); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPassphraseStoreFails(t *testing.T) {
	s := openTest(t, t.TempDir())
	_ = s.Close()
	for name, err := range map[string]error{
		"set":   SetPassphrase(s, NewSecret("long enough")),
		"check": CheckPassphrase(s, NewSecret("long enough")),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var _ approval.Clock = wallClock{}
}

func TestPassphraseFile(t *testing.T) {
	write := func(t *testing.T, text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "pass")
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tt := range map[string]struct{ text, want string }{
		"plain": {"open sesame", "open sesame"}, "with line end": {"open sesame\n", "open sesame"},
		"Windows line end": {"open sesame\r\n", "open sesame"}, "spaces stay": {"  x  \n", "  x  "},
		"longest": {strings.Repeat("x", maxPassphrase) + "\r\n", strings.Repeat("x", maxPassphrase)},
	} {
		s, err := PassphraseFile(write(t, tt.text, 0o600))()
		if err != nil || string(s.Reveal()) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"empty": {"", ErrPassphraseNeeded}, "only a line end": {"\n", ErrPassphraseNeeded},
		"two lines": {"sesame\ntwo\n", ErrPassphraseForm}, "two line ends": {"sesame\n\n", ErrPassphraseForm},
		"NUL": {"sesame\x00b", ErrPassphraseForm}, "too long": {strings.Repeat("x", maxPassphraseFile+1), ErrTooLarge},
	} {
		_, err := ReadPassphraseFile(write(t, tt.text, 0o600))
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: the error shows the passphrase", name)
		}
	}
	if _, err := ReadPassphraseFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o660} {
		if _, err := ReadPassphraseFile(write(t, "open sesame", mode)); !errors.Is(err, ErrInsecure) || Hint(err) == "" {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
	real := write(t, "open sesame", 0o600)
	if err := os.Symlink(real, real+".link"); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPassphraseFile(real + ".link"); !errors.Is(err, ErrInsecure) {
		t.Errorf("symbolic link: %v", err)
	}
	if _, err := ReadPassphraseFile("/dev/null"); !errors.Is(err, ErrInsecure) {
		t.Errorf("device: %v", err)
	}
}
