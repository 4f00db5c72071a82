package approval

import (
	"encoding/json"
	"slices"
	"strings"
)

// Get returns a call as it is stored.
func (r *Registry) Get(id string) (Call, error) {
	var out Call
	err := r.view(func(t *txn) error {
		c, err := t.call(id)
		if err != nil {
			return err
		}
		out = *c
		return nil
	})
	return out, err
}

// Question returns a question as it is stored, open or closed.
func (r *Registry) Question(id string) (Question, error) {
	var out Question
	err := r.view(func(t *txn) error {
		q, err := t.question(id)
		if err != nil {
			return err
		}
		out = *q
		return nil
	})
	return out, err
}

// Pending returns every open question of every session and principal, oldest first.
func (r *Registry) Pending() ([]Question, error) {
	var out []Question
	err := r.view(func(t *txn) error {
		ids, err := t.ids(BucketOpenQuestions, "")
		if err != nil {
			return err
		}
		out = make([]Question, 0, len(ids))
		for _, id := range ids {
			q, err := t.question(id)
			if err != nil {
				return damaged(err)
			}
			out = append(out, *q)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Question) int {
		if n := a.CreatedAt.Compare(b.CreatedAt); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, err
}

// Calls returns the newest calls of a session, newest first, at most limit.
func (r *Registry) Calls(session string, limit int) ([]Call, error) {
	var out []Call
	err := r.view(func(t *txn) error {
		out = nil
		return t.Each(BucketSessionCalls, indexPrefix(session), func(key string, _ json.RawMessage) error {
			if len(out) >= limit {
				return ErrStop
			}
			c, err := t.call(lastPart(key))
			if err != nil {
				return damaged(err)
			}
			out = append(out, *c)
			return nil
		})
	})
	return out, err
}

// Recent returns the newest calls of all sessions, newest first, at most limit. It looks at the key of every call, and
// reads only those that it returns.
func (r *Registry) Recent(limit int) ([]Call, error) {
	var out []Call
	err := r.view(func(t *txn) error {
		out = nil
		var newest []string // time NUL id
		keep := func() {
			slices.Sort(newest)
			newest = newest[:max(min(len(newest), limit), 0)]
		}
		err := t.Each(BucketSessionCalls, "", func(key string, _ json.RawMessage) error {
			_, rest, _ := strings.Cut(key, separator)
			if newest = append(newest, rest); len(newest) > 2*limit {
				keep()
			}
			return nil
		})
		if err != nil {
			return err
		}
		keep()
		for _, key := range newest {
			c, err := t.call(lastPart(key))
			if err != nil {
				return damaged(err)
			}
			out = append(out, *c)
		}
		return nil
	})
	return out, err
}

func (r *Registry) view(fn func(*txn) error) error {
	return r.store.View(func(tx Tx) error { return fn(&txn{Tx: tx, now: r.now(), ttl: r.ttl}) })
}
