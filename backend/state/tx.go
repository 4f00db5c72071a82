package state

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"countersign/backend/approval"
)

const (
	// MaxValue is the size limit of one value as JSON: a whole message of the wire (4 MiB) with what is kept beside it.
	MaxValue = 8 << 20
	// MaxKey is the size limit of a key in bytes.
	MaxKey = 4096

	sealSize = 4 // of the checksum in front of a value
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal puts a checksum over bucket, key and value in front of value.
func seal(bucket, key string, value []byte) []byte {
	out := binary.BigEndian.AppendUint32(make([]byte, 0, sealSize+len(value)), checksum(bucket, key, value))
	return append(out, value...)
}

// unseal returns the value behind a checksum that holds; it is part of sealed.
func unseal(bucket, key string, sealed []byte) ([]byte, error) {
	if len(sealed) < sealSize || binary.BigEndian.Uint32(sealed) != checksum(bucket, key, sealed[sealSize:]) {
		return nil, broken("the value of %s/%q does not match its checksum", bucket, key)
	}
	return sealed[sealSize:], nil
}

func checksum(bucket, key string, value []byte) uint32 {
	c := crc32.Update(0, castagnoli, append([]byte(bucket), 0))
	c = crc32.Update(c, castagnoli, append([]byte(key), 0))
	return crc32.Update(c, castagnoli, value)
}

// transaction implements approval.Tx. It belongs to one goroutine.
type transaction struct {
	store *Store
	tx    *bolt.Tx
	write bool
	done  bool
}

func (s *Store) begin(write bool) (*transaction, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	t := &transaction{store: s, write: write}
	err := s.call(func() (err error) {
		t.tx, err = s.db.Begin(write)
		return err
	})
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return nil, ErrClosed
	}
	if err != nil {
		return nil, err
	}
	// The store may have stopped while this one waited for its turn.
	if err := s.Err(); err != nil && !errors.Is(err, ErrClosed) {
		t.rollback()
		return nil, err
	}
	return t, nil
}

func (t *transaction) rollback() {
	if t.done {
		return
	}
	t.done = true
	_ = t.store.call(t.tx.Rollback)
}

func (t *transaction) commit() error {
	if t.done {
		return ErrTxDone
	}
	t.done = true
	id, s := t.tx.ID(), t.store
	err := mapDisk(s.call(t.tx.Commit))
	if err == nil || errors.Is(err, ErrDamaged) {
		return err
	}
	return s.failedCommit(id, err)
}

// failedCommit says what the failure of the commit with the given id means. A commit fails before its header is
// written, and then nothing changed; or while the header is forced to the disk, and then it may survive or not. In the
// second case the mapped file already shows it.
func (s *Store) failedCommit(id int, err error) error {
	landed := false
	look := s.call(func() error {
		return s.db.View(func(tx *bolt.Tx) error { landed = tx.ID() >= id; return nil })
	})
	if look != nil || landed {
		return s.halt(fmt.Errorf("%w (%w)", ErrInterrupted, errors.Join(err, look)))
	}
	return fmt.Errorf("commit: %w", err)
}

// bucket returns a bucket, or nil when there is none. make makes it.
func (t *transaction) bucket(name string, make bool) (b *bolt.Bucket, err error) {
	if t.done || make && !t.write {
		return nil, ErrTxDone
	}
	err = t.store.call(func() (err error) {
		if b = t.tx.Bucket([]byte(name)); b == nil && make {
			b, err = t.tx.CreateBucket([]byte(name))
		}
		return err
	})
	return b, err
}

// Get implements approval.Tx.
func (t *transaction) Get(bucket, key string, v any) (bool, error) {
	b, err := t.bucket(bucket, false)
	if b == nil || err != nil {
		return false, err
	}
	var raw []byte
	found := false
	err = t.store.call(func() error {
		sealed := b.Get([]byte(key))
		if sealed == nil {
			return nil
		}
		found = true
		value, err := unseal(bucket, key, sealed)
		raw = bytes.Clone(value) // what v keeps must not point into the mapped file
		return err
	})
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("read %s/%q: %w", bucket, key, err)
	}
	return true, nil
}

// Put implements approval.Tx. A value over MaxValue or a key over MaxKey is ErrTooLarge.
func (t *transaction) Put(bucket, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s/%q: %w", bucket, key, err)
	}
	if len(raw) > MaxValue || len(key) > MaxKey || len(bucket) > MaxKey {
		return fmt.Errorf("write %s/%.64q: %w: %d bytes", bucket, key, ErrTooLarge, len(raw))
	}
	b, err := t.bucket(bucket, true)
	if err != nil {
		return err
	}
	return t.store.call(func() error { return b.Put([]byte(key), seal(bucket, key, raw)) })
}

// Delete implements approval.Tx.
func (t *transaction) Delete(bucket, key string) error {
	if !t.write {
		return ErrTxDone
	}
	b, err := t.bucket(bucket, false)
	if b == nil || err != nil {
		return err
	}
	return t.store.call(func() error { return b.Delete([]byte(key)) })
}

// Each implements approval.Tx. In a writing transaction fn may change the bucket it walks: keys put behind the current
// one are seen, keys deleted are not.
func (t *transaction) Each(bucket, prefix string, fn func(key string, raw json.RawMessage) error) error {
	b, err := t.bucket(bucket, false)
	if b == nil || err != nil {
		return err
	}
	cursor := b.Cursor()
	var key string
	var raw json.RawMessage
	step := func(move func() ([]byte, []byte)) (more bool, err error) {
		err = t.store.call(func() error {
			k, sealed := move()
			if k == nil || !bytes.HasPrefix(k, []byte(prefix)) {
				return nil
			}
			more, key = true, string(k)
			value, err := unseal(bucket, key, sealed)
			raw = bytes.Clone(value)
			return err
		})
		return more, err
	}
	next := cursor.Next
	if t.write {
		// A change invalidates the cursor: search again for the first key behind the last one.
		next = func() ([]byte, []byte) { return cursor.Seek([]byte(key + "\x00")) }
	}
	more, err := step(func() ([]byte, []byte) { return cursor.Seek([]byte(prefix)) })
	for ; more && err == nil; more, err = step(next) {
		switch err := fn(key, raw); {
		case errors.Is(err, approval.ErrStop):
			return nil
		case err != nil:
			return err
		case t.done:
			return ErrTxDone
		}
	}
	return err
}
