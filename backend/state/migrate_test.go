package state

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"countersign/backend/approval"
)

func clockAt(text string) func() time.Time {
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return when }
}

// rename moves everything from one bucket to another, as a real migration would.
func renameBucket(from, to string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte(to))
		if err != nil {
			return err
		}
		err = tx.Bucket([]byte(from)).ForEach(func(k, v []byte) error {
			value, err := unseal(from, string(k), v)
			if err != nil {
				return err
			}
			return b.Put(k, seal(to, string(k), value))
		})
		if err != nil {
			return err
		}
		return tx.DeleteBucket([]byte(from))
	}
}

func TestMigration(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	put(t, s, "old", "k", "kept")
	_ = s.Close()
	steps := []migration{
		{"rename old", renameBucket("old", "middle")},
		{"rename middle", renameBucket("middle", "new")},
	}
	now := clockAt("2026-01-02T03:04:05Z")
	s, err := open(dir, Options{Now: now}, steps)
	if err != nil {
		t.Fatal(err)
	}
	if v, found := get[string](t, s, "new", "k"); !found || v != "kept" {
		t.Errorf("found %v: %q", found, v)
	}
	_ = s.Close()

	t.Run("a copy from before each step opens in the older version", func(t *testing.T) {
		for version, bucket := range map[string]string{"v1": "old", "v2": "middle"} {
			data := must(os.ReadFile(filepath.Join(dir, "state-"+version+"-20260102T030405Z.db")))(t)
			older := t.TempDir()
			if err := os.WriteFile(filepath.Join(older, StoreFile), data, 0o600); err != nil {
				t.Fatal(err)
			}
			known := steps[:0]
			if version == "v2" {
				known = steps[:1]
			}
			s := must(open(older, Options{}, known))(t)
			if v, found := get[string](t, s, bucket, "k"); !found || v != "kept" {
				t.Errorf("%s: found %v: %q", version, found, v)
			}
			_ = s.Close()
		}
	})
	t.Run("the older version refuses the newer store and leaves it", func(t *testing.T) {
		before := must(os.ReadFile(filepath.Join(dir, StoreFile)))(t)
		_, err := Open(dir, Options{})
		if !errors.Is(err, ErrNewerSchema) || Hint(err) == "" {
			t.Fatalf("Open: %v", err)
		}
		if diff := cmp.Diff(before, must(os.ReadFile(filepath.Join(dir, StoreFile)))(t)); diff != "" {
			t.Error("the file was changed")
		}
	})
	t.Run("the newest version does nothing more", func(t *testing.T) {
		s, err := open(dir, Options{Now: clockAt("2027-01-01T00:00:00Z")}, steps)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if copies := must(filepath.Glob(filepath.Join(dir, "state-v*.db")))(t); len(copies) != 2 {
			t.Errorf("copies: %v", copies)
		}
	})
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	put(t, s, "b", "k", "kept")
	_ = s.Close()
	broken := errors.New("no")
	steps := []migration{{"half", func(tx *bolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("b")), broken)
	}}}
	// Twice within a second: the second copy finds another name, none is replaced.
	for range 2 {
		if _, err := open(dir, Options{Now: clockAt("2026-01-02T03:04:05Z")}, steps); !errors.Is(err, broken) {
			t.Fatalf("open: %v", err)
		}
	}
	if copies := must(filepath.Glob(filepath.Join(dir, "state-v1-*.db")))(t); len(copies) != 2 {
		t.Errorf("copies: %v", copies)
	}
	s = openTest(t, dir)
	if v, _ := get[string](t, s, "b", "k"); v != "kept" {
		t.Errorf("value is %q", v)
	}
}

func TestNewStoreHasNewestSchema(t *testing.T) {
	ran := false
	steps := []migration{{"never on a new store", func(*bolt.Tx) error { ran = true; return nil }}}
	s := must(open(t.TempDir(), Options{}, steps))(t)
	defer func() { _ = s.Close() }()
	if v, _ := get[schema](t, s, bucketMeta, keySchema); v.Version != 2 || ran {
		t.Errorf("schema %d, ran %v", v.Version, ran)
	}
}

func TestStoreWithoutSchema(t *testing.T) {
	for name, change := range map[string]func(tx approval.Tx) error{
		"missing":  func(tx approval.Tx) error { return tx.Delete(bucketMeta, keySchema) },
		"zero":     func(tx approval.Tx) error { return tx.Put(bucketMeta, keySchema, schema{}) },
		"nonsense": func(tx approval.Tx) error { return tx.Put(bucketMeta, keySchema, "one") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openTest(t, dir)
			if err := s.Update(change); err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
			if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
				t.Errorf("Open: %v", err)
			}
		})
	}
	t.Run("a bbolt file of another program", func(t *testing.T) {
		dir := t.TempDir()
		db := must(bolt.Open(filepath.Join(dir, StoreFile), 0o600, nil))(t)
		_ = db.Close()
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("Open: %v", err)
		}
	})
}
