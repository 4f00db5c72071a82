package state

import (
	"fmt"
	"os"

	"countersign/backend/capability"
)

const (
	// DefaultList and MaxList are the number of entries List returns when none is given, and at most.
	DefaultList = 100
	MaxList     = 1000
)

// Filter chooses entries. Empty fields choose all.
type Filter struct {
	Session string
	Call    string
	Kind    capability.RecordKind
	Before  uint64 // only entries older than this sequence: the next page
	Limit   int    // 0: DefaultList; at most MaxList
}

// position says where an entry stands.
type position struct {
	segment int
	offset  int64
	length  int
	digest  string
	kind    capability.RecordKind
	session string
}

// index finds entries in memory: entry number i has sequence i+1.
type index struct {
	entries   []position
	byID      map[string]int
	bySession map[string][]int
	byCall    map[string][]int
	words     map[string]string // one copy of every session
}

func (x *index) has(id string) bool {
	_, ok := x.byID[id]
	return ok
}

func (x *index) add(p position, r capability.Record) {
	if x.byID == nil {
		x.byID, x.bySession, x.byCall = map[string]int{}, map[string][]int{}, map[string][]int{}
		x.words = map[string]string{}
	}
	p.kind, p.session = capability.RecordKind(x.word(string(r.Kind))), x.word(r.Session)
	i := len(x.entries)
	x.entries = append(x.entries, p)
	x.byID[r.ID] = i
	x.bySession[p.session] = append(x.bySession[p.session], i)
	x.byCall[r.Call] = append(x.byCall[r.Call], i)
}

func (x *index) word(s string) string {
	if w, ok := x.words[s]; ok {
		return w
	}
	x.words[s] = s
	return s
}

// find returns the numbers of the entries that f chooses, newest first.
func (x *index) find(f Filter) []int {
	limit := f.Limit
	if limit <= 0 {
		limit = DefaultList
	}
	limit = min(limit, MaxList)
	var out []int
	take := func(i int) (more bool) {
		p := x.entries[i]
		if (f.Before == 0 || uint64(i)+1 < f.Before) && (f.Kind == "" || p.kind == f.Kind) && (f.Session == "" || p.session == f.Session) {
			out = append(out, i)
		}
		return len(out) < limit
	}
	if f.Call == "" && f.Session == "" {
		for i := len(x.entries) - 1; i >= 0 && take(i); i-- {
		}
		return out
	}
	chosen := x.bySession[f.Session]
	if f.Call != "" {
		chosen = x.byCall[f.Call]
	}
	for n := len(chosen) - 1; n >= 0 && take(chosen[n]); n-- {
	}
	return out
}

// List returns the entries that f chooses, newest first.
func (r *Receipts) List(f Filter) ([]Entry, error) {
	r.mu.RLock()
	found := r.index.find(f)
	places := make([]position, len(found))
	for n, i := range found {
		places[n] = r.index.entries[i]
	}
	r.mu.RUnlock()

	out := make([]Entry, 0, len(places))
	var file *os.File
	open := 0
	defer func() {
		if file != nil {
			_ = file.Close()
		}
	}()
	for _, p := range places {
		if p.segment != open {
			if file != nil {
				_ = file.Close()
			}
			var err error
			if file, err = openSegment(r.dir, p.segment, os.O_RDONLY); err != nil {
				return nil, fmt.Errorf("list receipts: %w", err)
			}
			open = p.segment
		}
		e, err := readEntry(file, p)
		if err != nil {
			return nil, fmt.Errorf("list receipts: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// Get returns the entry of the record id, or ErrNoReceipt.
func (r *Receipts) Get(id string) (Entry, error) {
	r.mu.RLock()
	i, ok := r.index.byID[id]
	var p position
	if ok {
		p = r.index.entries[i]
	}
	r.mu.RUnlock()
	if !ok {
		return Entry{}, fmt.Errorf("get receipt: %w: %q", ErrNoReceipt, id)
	}
	f, err := openSegment(r.dir, p.segment, os.O_RDONLY)
	if err != nil {
		return Entry{}, fmt.Errorf("get receipt: %w", err)
	}
	defer func() { _ = f.Close() }()
	e, err := readEntry(f, p)
	if err != nil {
		return Entry{}, fmt.Errorf("get receipt: %w", err)
	}
	return e, nil
}
