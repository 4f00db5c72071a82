// Package approvaltest holds an in-memory approval.Store and a settable clock for tests. The store is strict where a
// real one is merely undefined: a write during a walk of the same bucket, a write in a View and the use of a
// transaction after its function returned are errors, so that a test finds them.
package approvaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"countersign/backend/approval"
)

// Step is one operation of a transaction that a fault function may fail.
type Step struct {
	Op     string // "put", "delete" or "commit"
	Bucket string // empty for a commit
	Key    string // empty for a commit
}

// Store is an approval.Store in memory. It survives the Registry built on it, which is how tests restart one.
type Store struct {
	mu      sync.RWMutex // guards everything below; held for writing during Update, for reading during View
	buckets map[string]map[string]json.RawMessage
	fault   func(Step) error
	commits int
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{buckets: make(map[string]map[string]json.RawMessage)}
}

// SetFault makes fn judge every put, delete and commit from now on; an error fails that step, and with it the
// transaction. nil removes it.
func (s *Store) SetFault(fn func(Step) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fn
}

// FailCommits makes every commit fail with err, until it is called with nil. It replaces a fault function.
func (s *Store) FailCommits(err error) {
	if err == nil {
		s.SetFault(nil)
		return
	}
	s.SetFault(func(step Step) error {
		if step.Op == "commit" {
			return err
		}
		return nil
	})
}

// Commits returns how many updates were committed.
func (s *Store) Commits() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.commits
}

// Dump returns the whole content as text, by bucket and key. Empty buckets are left out.
func (s *Store) Dump() map[string]map[string]string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make(map[string]map[string]string)
	for bucket, values := range s.buckets {
		for key, raw := range values {
			if out[bucket] == nil {
				out[bucket] = make(map[string]string)
			}
			out[bucket][key] = string(raw)
		}
	}
	return out
}

// Update implements approval.Store.
func (s *Store) Update(fn func(approval.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &tx{store: s, writable: true, writes: make(map[string]map[string]json.RawMessage), walking: make(map[string]int)}
	defer func() { t.done = true }()
	if err := fn(t); err != nil {
		return err
	}
	if err := t.check("commit", "", ""); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for bucket, writes := range t.writes {
		if s.buckets[bucket] == nil {
			s.buckets[bucket] = make(map[string]json.RawMessage)
		}
		for key, raw := range writes {
			if raw == nil {
				delete(s.buckets[bucket], key)
			} else {
				s.buckets[bucket][key] = raw
			}
		}
	}
	s.commits++
	return nil
}

// View implements approval.Store.
func (s *Store) View(fn func(approval.Tx) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := &tx{store: s, walking: make(map[string]int)}
	defer func() { t.done = true }()
	return fn(t)
}

// Faults of the caller that a real store would punish later.
var (
	errDone     = errors.New("approvaltest: transaction used after its function returned")
	errReadOnly = errors.New("approvaltest: write in a View")
	errWalking  = errors.New("approvaltest: write to a bucket during a walk of it")
	errEmptyKey = errors.New("approvaltest: empty bucket or key")
)

// tx is an overlay over the store's content; nil stands for a deleted value.
type tx struct {
	store    *Store
	writable bool
	done     bool
	writes   map[string]map[string]json.RawMessage
	walking  map[string]int
}

func (t *tx) check(op, bucket, key string) error {
	if t.store.fault == nil {
		return nil
	}
	return t.store.fault(Step{Op: op, Bucket: bucket, Key: key})
}

func (t *tx) raw(bucket, key string) json.RawMessage {
	if raw, ok := t.writes[bucket][key]; ok {
		return raw
	}
	return t.store.buckets[bucket][key]
}

// Get implements approval.Tx.
func (t *tx) Get(bucket, key string, v any) (bool, error) {
	if t.done {
		return false, errDone
	}
	raw := t.raw(bucket, key)
	if raw == nil {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return false, fmt.Errorf("%s/%q: %w", bucket, key, err)
	}
	return true, nil
}

func (t *tx) write(op, bucket, key string, raw json.RawMessage) error {
	switch {
	case t.done:
		return errDone
	case !t.writable:
		return errReadOnly
	case t.walking[bucket] > 0:
		return errWalking
	case bucket == "" || key == "":
		return errEmptyKey
	}
	if err := t.check(op, bucket, key); err != nil {
		return err
	}
	if t.writes[bucket] == nil {
		t.writes[bucket] = make(map[string]json.RawMessage)
	}
	t.writes[bucket][key] = raw
	return nil
}

// Put implements approval.Tx.
func (t *tx) Put(bucket, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s/%q: %w", bucket, key, err)
	}
	return t.write("put", bucket, key, raw)
}

// Delete implements approval.Tx.
func (t *tx) Delete(bucket, key string) error { return t.write("delete", bucket, key, nil) }

// Each implements approval.Tx.
func (t *tx) Each(bucket, prefix string, fn func(key string, raw json.RawMessage) error) error {
	if t.done {
		return errDone
	}
	keys := make(map[string]bool)
	for _, values := range []map[string]json.RawMessage{t.store.buckets[bucket], t.writes[bucket]} {
		for key := range values {
			if strings.HasPrefix(key, prefix) {
				keys[key] = true
			}
		}
	}
	t.walking[bucket]++
	defer func() { t.walking[bucket]-- }()
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		raw := t.raw(bucket, key)
		if raw == nil {
			continue
		}
		if err := fn(key, slices.Clone(raw)); err != nil {
			if errors.Is(err, approval.ErrStop) {
				return nil
			}
			return err
		}
	}
	return nil
}
