package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"countersign/backend/capability"
)

// recordKeys is what the index needs of a record.
type recordKeys struct {
	ID      string                `json:"id"`
	Kind    capability.RecordKind `json:"kind"`
	Session string                `json:"session"`
	Call    string                `json:"call"`
}

// loading is the state of reading a chain at open.
type loading struct {
	known *Head
	place at
	last  parsed // the newest entry, for its signature
	named map[string]bool
}

// load reads the chain, builds the index and moves a torn end aside.
func (r *Receipts) load(known *Head) error {
	l, err := readLayout(r.dir)
	if err != nil {
		return err
	}
	st := &loading{known: known, named: map[string]bool{}}
	for n := 1; n <= l.segments; n++ {
		if err := r.loadSegment(st, n, n == l.segments && l.gap == 0); err != nil {
			return err
		}
	}
	if l.gap != 0 {
		st.place.segment, st.place.line = l.gap, 1
		return st.place.fails(BreakSegment, "the segment is missing")
	}
	r.head = st.place.head
	if r.head.Sequence > 0 {
		if b := st.place.signed(st.last, r.id.public); b != nil {
			b.Line, b.Sequence = st.place.line-1, r.head.Sequence
			return b
		}
	}
	if known != nil && r.head.Sequence < known.Sequence {
		return st.place.fails(BreakTruncated, "entries up to %d are known", known.Sequence)
	}
	return r.findTorn(st.named)
}

func (r *Receipts) loadSegment(st *loading, n int, newest bool) error {
	f, err := openSegment(r.dir, n, os.O_RDWR)
	if err != nil {
		return err
	}
	st.place.segment, st.place.line = n, 1
	in := newLines(f)
	for {
		line, offset, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		var p parsed
		cutOff := errors.Is(err, errCutOff)
		switch {
		case err == nil:
			p, err = parseLine(line)
		case errors.Is(err, ErrTooLarge):
			_ = f.Close()
			return st.place.fails(BreakSyntax, "the line is too long")
		case !cutOff:
			_ = f.Close()
			return err
		}
		if err != nil {
			if !newest || !in.atEnd() || !st.mayBeTorn(cutOff) {
				_ = f.Close()
				return st.place.fails(breakOf(cutOff), "%v", err)
			}
			if err := r.moveTorn(f, n, offset); err != nil {
				_ = f.Close()
				return err
			}
			break
		}
		if err := r.loadEntry(st, p, line, n, offset); err != nil {
			_ = f.Close()
			return err
		}
	}
	if !newest {
		_ = f.Close()
		if st.place.line == 1 {
			return st.place.fails(BreakSegment, "the segment is empty")
		}
		return nil
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		_ = f.Close()
		return err
	}
	r.file, r.segment, r.offset = f, n, size
	return nil
}

func breakOf(cutOff bool) BreakReason {
	if cutOff {
		return BreakTorn
	}
	return BreakSyntax
}

func (r *Receipts) loadEntry(st *loading, p parsed, line []byte, n int, offset int64) error {
	if b := st.place.linked(p); b != nil {
		return b
	}
	var keys recordKeys
	if err := json.Unmarshal(p.statement.Predicate.Record, &keys); err != nil {
		return st.place.fails(BreakRecord, "%v", err)
	}
	if r.index.has(keys.ID) {
		return st.place.fails(BreakRecord, "record %s was there before", keys.ID)
	}
	head := Head{Sequence: st.place.head.Sequence + 1, Digest: lineDigest(line)}
	if st.known != nil && st.known.Sequence == head.Sequence && *st.known != head {
		return st.place.fails(BreakRewritten, "another entry is known in its place")
	}
	for _, t := range p.statement.Predicate.Torn {
		st.named[t.File] = true
	}
	r.index.add(position{segment: n, offset: offset, length: len(line), digest: head.Digest},
		capability.Record{ID: keys.ID, Kind: keys.Kind, Session: keys.Session, Call: keys.Call})
	st.last, st.place.head = p, head
	st.place.line++
	return nil
}

// mayBeTorn says whether an unreadable last line can be what a crash left of an entry that nobody relied on. A line
// without its end can, unless the entry is known to have been complete. A line with its end can only where blocks
// reached the disk out of order, which is believed when the known head is older.
func (st *loading) mayBeTorn(cutOff bool) bool {
	if st.known == nil {
		return cutOff
	}
	return st.known.Sequence < st.place.head.Sequence+1
}

// moveTorn moves what stands behind offset into a .torn file and cuts the segment there. It may be repeated after a
// crash in its middle.
func (r *Receipts) moveTorn(f *os.File, segment int, offset int64) error {
	rest, err := io.ReadAll(io.NewSectionReader(f, offset, maxEntry))
	if err != nil {
		return err
	}
	path := filepath.Join(r.dir, tornName(segment, offset))
	err = createPrivateBytes(path, rest)
	if errors.Is(err, fs.ErrExist) {
		have, err := readPrivate(path, maxEntry)
		if err != nil {
			return err
		}
		if !slices.Equal(have, rest) {
			return fault("create", path, fmt.Errorf("%w: it holds something else", ErrReceiptsBroken))
		}
	} else if err != nil {
		return err
	}
	if err := f.Truncate(offset); err != nil {
		return err
	}
	return f.Sync()
}

// findTorn collects the .torn files that no entry names yet; the next entry will.
func (r *Receipts) findTorn(named map[string]bool) error {
	l, err := readLayout(r.dir)
	if err != nil {
		return err
	}
	for _, name := range l.torn {
		if named[name] {
			continue
		}
		data, err := readPrivate(filepath.Join(r.dir, name), maxEntry)
		if err != nil {
			return err
		}
		r.torn = append(r.torn, Torn{File: name, Bytes: int64(len(data)), Digest: lineDigest(data)})
	}
	return nil
}
