package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	bucketMeta = "meta"
	keySchema  = "schema"

	// firstSchema is the layout this program began with.
	firstSchema = 1
	// copyTime is how a copy's name tells when it was made; it sorts.
	copyTime = "20060102T150405Z"
	// copyNames bounds the search for a free name when several copies are made in one second.
	copyNames = 100
)

// schema is the value of keySchema.
type schema struct {
	Version int `json:"version"`
}

// migration brings the store from one schema to the next, forward only, in one transaction with the new number.
// Values inside are sealed (seal, unseal).
type migration struct {
	name string // for the error text
	run  func(*bolt.Tx) error
}

// migrations holds the step from schema 1 to 2 at index 0, and so on. A step that was ever released is never changed.
var migrations []migration

// newest is the schema that this program writes.
func newest(steps []migration) int { return firstSchema + len(steps) }

func writeSchema(tx *bolt.Tx, version int) error {
	raw, err := json.Marshal(schema{Version: version})
	if err != nil {
		return err
	}
	b, err := tx.CreateBucketIfNotExists([]byte(bucketMeta))
	if err != nil {
		return err
	}
	return b.Put([]byte(keySchema), seal(bucketMeta, keySchema, raw))
}

func readSchema(tx *bolt.Tx) (int, error) {
	b := tx.Bucket([]byte(bucketMeta))
	if b == nil {
		return 0, broken("it has no schema version")
	}
	raw, err := unseal(bucketMeta, keySchema, b.Get([]byte(keySchema)))
	if err != nil {
		return 0, err
	}
	var v schema
	if err := json.Unmarshal(raw, &v); err != nil || v.Version < firstSchema {
		return 0, broken("it has no schema version")
	}
	return v.Version, nil
}

// migrate brings an opened store to the newest schema, with a copy before each step.
func (s *Store) migrate(steps []migration, now func() time.Time) error {
	path := filepath.Join(s.dir, StoreFile)
	for {
		var version int
		err := s.call(func() error {
			return s.db.View(func(tx *bolt.Tx) (err error) { version, err = readSchema(tx); return err })
		})
		switch {
		case err != nil:
			return err
		case version > newest(steps):
			return fault("open", path, fmt.Errorf("%w: schema %d, this version knows %d", ErrNewerSchema, version, newest(steps)))
		case version == newest(steps):
			return nil
		}
		step := steps[version-firstSchema]
		if err := s.copyBefore(version, now()); err != nil {
			return fmt.Errorf("copy the store before migration %q: %w", step.name, err)
		}
		err = s.call(func() error {
			return s.db.Update(func(tx *bolt.Tx) error {
				if err := step.run(tx); err != nil {
					return err
				}
				return writeSchema(tx, version+1)
			})
		})
		if err != nil {
			return fmt.Errorf("migration %q: %w", step.name, mapDisk(err))
		}
	}
}

// copyBefore writes a consistent copy of the store beside it.
func (s *Store) copyBefore(version int, at time.Time) error {
	for i := range copyNames {
		name := fmt.Sprintf("state-v%d-%s.db", version, at.UTC().Format(copyTime))
		if i > 0 {
			name = fmt.Sprintf("state-v%d-%s-%d.db", version, at.UTC().Format(copyTime), i)
		}
		err := createPrivate(filepath.Join(s.dir, name), func(w io.Writer) error {
			return s.call(func() error {
				return s.db.View(func(tx *bolt.Tx) error { _, err := tx.WriteTo(w); return err })
			})
		})
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fault("copy", s.dir, fs.ErrExist)
}
