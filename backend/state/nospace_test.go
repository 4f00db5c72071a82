//go:build linux

package state

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"countersign/backend/approval"
	"countersign/backend/capability"
)

// smallDisk mounts a tmpfs of the given size, or skips.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", bytes)); err != nil {
		t.Skipf("mounting a small tmpfs is not permitted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all the space that is left and returns a function that gives it back.
func fill(t *testing.T, dir string) (release func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f := must(os.Create(path))(t)
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(bytes.Repeat([]byte{1}, size)); err != nil {
			size /= 2
		}
	}
	_ = f.Close()
	return func() { _ = os.Remove(path) }
}

func noise(n int) string {
	b := make([]byte, n/2)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

func TestStoreDiskFull(t *testing.T) {
	disk := smallDisk(t, 2<<20)
	dir := filepath.Join(disk, "state")
	s := openTest(t, dir)
	put(t, s, "b", "first", "kept")
	written := 0
	var err error
	for err == nil && written < 1000 {
		if err = s.Update(func(tx approval.Tx) error { return tx.Put("b", fmt.Sprint(written), noise(20_000)) }); err == nil {
			written++
		}
	}
	if !errors.Is(err, ErrNoSpace) || Hint(err) == "" {
		t.Fatalf("after %d values: %v", written, err)
	}
	if s.Err() != nil {
		t.Fatalf("a full disk stopped the store: %v", s.Err())
	}
	check := func(s *Store) {
		t.Helper()
		if v, _ := get[string](t, s, "b", "first"); v != "kept" {
			t.Errorf("first is %q", v)
		}
		if n := len(keys(t, s, "b", "")); n != written+1 {
			t.Errorf("%d values, want %d", n, written+1)
		}
	}
	check(s)
	_ = s.Close()
	s = openTest(t, dir) // opens while the disk is still full
	check(s)
	// Deleting gives pages back, and the store goes on in its own file.
	for range 20 {
		written--
		if err := s.Update(func(tx approval.Tx) error { return tx.Delete("b", fmt.Sprint(written)) }); err != nil && !errors.Is(err, ErrNoSpace) {
			t.Fatal(err)
		} else if err != nil {
			written++
			break
		}
	}
	check(s)
	_ = s.Close()
	check(openTest(t, dir))
}

func TestFirstStartOnFullDisk(t *testing.T) {
	disk := smallDisk(t, 1<<20)
	dir := filepath.Join(disk, "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	release := fill(t, disk)
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("Open: %v", err)
	}
	if names := must(os.ReadDir(dir))(t); len(names) != 0 {
		t.Errorf("half of a store was left: %v", names)
	}
	v := newFileVault(fileOptions(dir, "open sesame"))
	if err := v.save(t.Context(), NewSecret("key")); !errors.Is(err, ErrNoSpace) {
		t.Errorf("key file: %v", err)
	}
	release()
	openTest(t, dir)
}

func TestMigrationOnFullDisk(t *testing.T) {
	disk := smallDisk(t, 1<<20)
	dir := filepath.Join(disk, "state")
	s := openTest(t, dir)
	put(t, s, "b", "k", "kept")
	_ = s.Close()
	release := fill(t, disk)
	steps := []migration{{"touch", func(tx *bolt.Tx) error { return nil }}}
	if _, err := open(dir, Options{}, steps); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("open: %v", err)
	}
	if copies := must(filepath.Glob(filepath.Join(dir, "*state-v*")))(t); len(copies) != 0 {
		t.Errorf("half a copy was left: %v", copies)
	}
	release()
	s = must(open(dir, Options{}, steps))(t)
	defer func() { _ = s.Close() }()
	if v, _ := get[string](t, s, "b", "k"); v != "kept" {
		t.Errorf("value is %q", v)
	}
}

func TestReceiptsDiskFull(t *testing.T) {
	disk := smallDisk(t, 1<<20)
	dir := filepath.Join(disk, "state")
	s, id := openTest(t, filepath.Join(t.TempDir(), "state")), testIdentity(t) // the store on another disk
	r := must(OpenReceipts(dir, s, id, SegmentBytes(100_000)))(t)
	defer func() { _ = r.Close() }()
	written := 0
	var err error
	record := func() capability.Record {
		d := decision("s", "c")
		d.Extra = map[string]string{"noise": noise(9000)}
		return d
	}
	for err == nil && written < 1000 {
		if _, err = r.Append(record()); err == nil {
			written++
		}
	}
	if !errors.Is(err, ErrNoSpace) {
		t.Fatalf("after %d: %v", written, err)
	}
	if v := must(r.Verify())(t); !v.Holds() || v.Entries != uint64(written) || v.Cut != 0 {
		t.Errorf("%+v", v)
	}
	// Space comes back; the chain goes on where it was.
	l := must(readLayout(filepath.Join(dir, ReceiptsDir)))(t)
	if l.segments < 2 {
		t.Fatalf("layout %+v", l)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=2097152"); err != nil {
		t.Fatal(err)
	}
	must(r.Append(record()))(t)
	_ = r.Close()
	r = must(OpenReceipts(dir, s, id))(t)
	if v := must(r.Verify())(t); !v.Holds() || v.Entries != uint64(written)+1 {
		t.Errorf("%+v", v)
	}
	_ = r.Close()
}
