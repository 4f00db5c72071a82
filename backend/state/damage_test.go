package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/approval"
)

// content returns everything in the store.
func content(s approval.Store, buckets []string) (map[string]string, error) {
	out := map[string]string{}
	err := s.View(func(tx approval.Tx) error {
		for _, b := range buckets {
			err := tx.Each(b, "", func(key string, raw json.RawMessage) error {
				out[b+"/"+key] = string(raw)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

var imageBuckets = []string{"meta", "small", "empty", "calls", "big"}

// storeImage builds a store with every kind of page: inline and empty buckets, a tree of three levels, overflow pages,
// a list of free pages. It returns the file.
func storeImage(t testing.TB, size int) []byte {
	t.Helper()
	dir := t.TempDir()
	s := openTest(t, dir)
	err := s.Update(func(tx approval.Tx) error {
		for i := range size {
			if err := tx.Put("calls", fmt.Sprintf("%032d", i), strings.Repeat("v", 20+i%300)); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.Put("small", "a", 1), tx.Put("small", "b", "two"), tx.Put("small", "c", []int{3}),
			tx.Put("empty", "x", 1), tx.Delete("empty", "x"),
			tx.Put("big", "k", strings.Repeat("B", 3*4096)))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(func(tx approval.Tx) error { // leaves free pages
		for i := 0; i < size; i += 3 {
			if err := tx.Delete("calls", fmt.Sprintf("%032d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return must(os.ReadFile(filepath.Join(dir, StoreFile)))(t)
}

// openImage opens a copy of image. Opening it may fail with ErrDamaged and in no other way; when it succeeds, the
// content must be want, to the byte.
func openImage(t *testing.T, dir string, image []byte, what string, want map[string]string) (damaged bool) {
	t.Helper()
	path := filepath.Join(dir, StoreFile)
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Options{})
	if err == nil {
		got, err := content(s, imageBuckets)
		_ = s.Close()
		if err != nil {
			t.Fatalf("%s: it opened, and reading failed: %v", what, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: it opened with other content: %s", what, diff)
		}
		return false
	}
	if !errors.Is(err, ErrDamaged) || Hint(err) == "" {
		t.Fatalf("%s: %v", what, err)
	}
	if after := must(os.ReadFile(path))(t); sha256.Sum256(after) != sha256.Sum256(image) {
		t.Fatalf("%s: the damaged file was changed", what)
	}
	return true
}

// Damage at random bytes is never a panic, never another content, and the file is never replaced.
func TestDamagedStore(t *testing.T) {
	image := storeImage(t, 900)
	dir := t.TempDir()
	want := map[string]string{}
	func() {
		_ = os.WriteFile(filepath.Join(dir, StoreFile), image, 0o600)
		s := openTest(t, dir)
		defer func() { _ = s.Close() }()
		want = must(content(s, imageBuckets))(t)
	}()
	random := rand.New(rand.NewPCG(1, 2))
	page := os.Getpagesize()
	damaged := 0
	// Headers of pages decide most, so half of the hits go there.
	position := func() int {
		if random.IntN(2) == 0 {
			return random.IntN(len(image)/page)*page + random.IntN(96)
		}
		return random.IntN(len(image))
	}
	count := func(hit bool) {
		if hit {
			damaged++
		}
	}
	for n := range 250 {
		b := bytes.Clone(image)
		at, bit := position(), byte(1)<<random.IntN(8)
		b[at] ^= bit
		count(openImage(t, dir, b, fmt.Sprintf("flip %d: bit %#x of byte %d", n, bit, at), want))
	}
	for n := range 60 {
		b := bytes.Clone(image)
		at := position()
		for i := at; i < min(at+1+random.IntN(64), len(b)); i++ {
			b[i] = byte(random.Uint32())
		}
		count(openImage(t, dir, b, fmt.Sprintf("noise %d at byte %d", n, at), want))
	}
	for n := range 40 {
		b := bytes.Clone(image)
		from, to := random.IntN(len(b)/page)*page, random.IntN(len(b)/page)*page
		copy(b[to:to+page], image[from:from+page])
		count(openImage(t, dir, b, fmt.Sprintf("copy %d: page %d over %d", n, from/page, to/page), want))
	}
	for n := range 40 {
		count(openImage(t, dir, image[:random.IntN(len(image))], fmt.Sprintf("cut %d", n), want))
	}
	count(openImage(t, dir, nil, "empty file", want))
	count(openImage(t, dir, []byte("not a store"), "text", want))
	count(openImage(t, dir, make([]byte, len(image)), "zeros", want))
	if damaged < 100 {
		t.Errorf("only %d of the changes were noticed: the test hits nothing", damaged)
	}
}

// bbolt would open a store whose newest header is unreadable in the state before the last commit. An answer that was
// acknowledged would be undone, and a call could run twice.
func TestNewestHeaderDamaged(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	put(t, s, "b", "k", "before")
	put(t, s, "b", "k", "acknowledged")
	_ = s.Close()
	path := filepath.Join(dir, StoreFile)
	image := must(os.ReadFile(path))(t)
	newest := -1
	var newestID uint64
	for i := range 2 {
		m, ok := readMetaAt(bytes.NewReader(image), int64(i*os.Getpagesize()))
		if !ok {
			t.Fatal("no header")
		}
		if newest < 0 || m.txid > newestID {
			newest, newestID = i, m.txid
		}
	}
	image[newest*os.Getpagesize()+pageHeader+40] ^= 1
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
		t.Fatalf("Open: %v", err)
	}
	s, err := Open(dir, Options{AcceptOlder: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got, _ := get[string](t, s, "b", "k"); got != "before" {
		t.Errorf("the older state has %q", got)
	}
}

// A file that is cut off while it is mapped is a memory fault, which would end the core.
func TestStoreCutOffWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut off on Windows")
	}
	dir := t.TempDir()
	s := openTest(t, dir)
	for i := range 50 {
		put(t, s, "b", fmt.Sprint(i), strings.Repeat("x", 4096))
	}
	if err := os.Truncate(filepath.Join(dir, StoreFile), 2*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	_, err := content(s, []string{"b"})
	if !errors.Is(err, ErrDamaged) {
		t.Fatalf("reading: %v", err)
	}
	if err := s.Update(func(tx approval.Tx) error { return tx.Put("b", "k", 1) }); !errors.Is(err, ErrDamaged) {
		t.Errorf("it went on writing: %v", err)
	}
	if err := s.Err(); !errors.Is(err, ErrDamaged) {
		t.Errorf("Err: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(dir, Options{LockTimeout: time.Second}); !errors.Is(err, ErrDamaged) {
		t.Errorf("the next Open: %v", err)
	}
}

func TestGuardedTurnsPanicsIntoDamage(t *testing.T) {
	s := openTest(t, t.TempDir())
	if err := s.call(func() error { panic("assertion failed") }); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if err := s.View(func(approval.Tx) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("the store went on: %v", err)
	}
}

func FuzzCheckFile(f *testing.F) {
	image := storeImage(f, 40)
	f.Add(uint32(0), []byte{})
	f.Add(uint32(len(image)), []byte("tail"))
	f.Fuzz(func(t *testing.T, at uint32, noise []byte) {
		b := bytes.Clone(image)
		for i, c := range noise {
			b[(int(at)+i)%len(b)] ^= c
		}
		for _, older := range []bool{false, true} {
			err := checkFile(bytes.NewReader(b), int64(len(b)), older, func(bucket, key, value []byte) error {
				_, err := unseal(string(bucket), string(key), value)
				return err
			})
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		}
	})
}
