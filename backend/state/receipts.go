package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"countersign/backend/approval"
	"countersign/backend/capability"
)

// DefaultSegmentBytes is the size at which a segment is full: about twenty thousand entries.
const DefaultSegmentBytes = 64 << 20

// ReceiptOption changes how receipts are kept.
type ReceiptOption func(*Receipts)

// SegmentBytes sets the size at which the next segment begins. Zero: DefaultSegmentBytes.
func SegmentBytes(n int64) ReceiptOption {
	return func(r *Receipts) {
		if n > 0 {
			r.limit = n
		}
	}
}

// Heads sets who remembers the newest head, instead of the store. Nil: nobody does, and the removal of the newest
// entries is not noticed.
func Heads(k HeadKeeper) ReceiptOption { return func(r *Receipts) { r.heads = k } }

// Receipts is the receipt chain of one desk, open for appending. It is safe for concurrent use.
type Receipts struct {
	dir   string
	id    *Identity
	limit int64
	heads HeadKeeper
	lock  *os.File

	mu      sync.RWMutex // guards everything below; a HeadKeeper is called under it and must not call back
	index   index
	head    Head
	segment int
	file    *os.File // the newest segment; nil before the first entry
	offset  int64    // its good length
	torn    []Torn   // for the next entry
	follows *SetAside
	unkept  bool  // the newest head could not be kept
	stopped error // why nothing more is appended
}

// OpenReceipts opens the receipt chain of a state directory, making it on the first start. It reads every entry, checks
// that each names the one before and that the newest is signed by id, which together proves all of them, and that no
// entry is missing that the store (or Heads) knows of. An entry that a crash cut off is moved aside into a .torn file,
// which the next entry names. Errors wrap ErrReceiptsBroken (a *Break names the place), ErrLocked, ErrInsecure,
// ErrNoSpace.
func OpenReceipts(stateDir string, store approval.Store, id *Identity, options ...ReceiptOption) (*Receipts, error) {
	r := &Receipts{dir: filepath.Join(stateDir, ReceiptsDir), id: id, limit: DefaultSegmentBytes, heads: StoreHeads(store)}
	for _, o := range options {
		o(r)
	}
	if err := r.open(); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("open receipts: %w", mapDisk(err))
	}
	return r, nil
}

func (r *Receipts) open() error {
	if err := privateDir(r.dir); err != nil {
		return err
	}
	var err error
	if r.lock, err = openNoFollow(filepath.Join(r.dir, receiptsLock), os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	switch ok, err := tryLock(r.lock); {
	case err != nil:
		return err
	case !ok:
		return fault("open", r.dir, ErrLocked)
	}
	var known *Head
	if r.heads != nil {
		if known, r.follows, err = r.heads.Known(); err != nil {
			return err
		}
	}
	if err := r.load(known); err != nil {
		return err
	}
	if r.head.Sequence > 0 {
		r.follows = nil // its first entry names what it follows
		if r.heads != nil && (known == nil || *known != r.head) {
			return r.heads.Keep(r.head) // the core ended between the two
		}
	}
	return nil
}

// Close closes the chain; nothing can be appended afterwards.
func (r *Receipts) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = ErrClosed
	var err error
	for _, f := range []*os.File{r.file, r.lock} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	r.file, r.lock = nil, nil
	return err
}

// Head returns the newest entry; its Sequence is 0 while there is none.
func (r *Receipts) Head() Head {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.head
}

// Append signs record, chains it and forces it to the disk before it returns the digest of its entry. When it fails,
// the record is not in the chain; the one exception is ErrInterrupted, where only the next open shows it. It must not
// be called inside an Update of the store that keeps the heads.
func (r *Receipts) Append(record capability.Record) (string, error) {
	if err := record.Validate(); err != nil {
		return "", fmt.Errorf("append receipt: %w: %w", ErrReceiptInvalid, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	digest, err := r.appendLocked(record)
	if err != nil {
		return "", fmt.Errorf("append receipt: %w", mapDisk(err))
	}
	return digest, nil
}

func (r *Receipts) appendLocked(record capability.Record) (string, error) {
	if r.stopped != nil {
		return "", r.stopped
	}
	if r.index.has(record.ID) {
		return "", fmt.Errorf("%w: %s", ErrReceiptExists, record.ID)
	}
	// At most one entry may be ahead of the kept head: otherwise a disk that is full in one place only would end the
	// protection against removal unnoticed.
	if r.unkept {
		if err := r.keepLocked(); err != nil {
			return "", fmt.Errorf("keep the newest head: %w", err)
		}
	}
	if r.file == nil || r.offset >= r.limit {
		if err := r.rotateLocked(); err != nil {
			return "", err
		}
	}
	p := predicate{
		Sequence: r.head.Sequence + 1, Segment: r.segment, Previous: r.head.Digest, Torn: r.torn, Follows: r.follows,
	}
	line, err := p.sign(r.id, record)
	if err != nil {
		return "", err
	}
	if err := r.writeLocked(line); err != nil {
		return "", err
	}
	body := line[:len(line)-1]
	r.head = Head{Sequence: p.Sequence, Digest: lineDigest(body)}
	r.index.add(position{segment: r.segment, offset: r.offset, length: len(body), digest: r.head.Digest}, record)
	r.offset += int64(len(line))
	r.torn, r.follows = nil, nil
	// The entry is durable. A head that cannot be kept now is made up for before the next one.
	_ = r.keepLocked()
	return r.head.Digest, nil
}

func (r *Receipts) keepLocked() error {
	if r.heads == nil {
		return nil
	}
	err := r.heads.Keep(r.head)
	r.unkept = err != nil
	return err
}

// writeLocked writes line behind the good part of the segment and forces it out. What a failed write left is removed.
func (r *Receipts) writeLocked(line []byte) error {
	if _, err := r.file.WriteAt(line, r.offset); err != nil {
		back := r.file.Truncate(r.offset)
		if back == nil {
			back = r.file.Sync()
		}
		if back != nil {
			r.stopped = fmt.Errorf("%w (%w)", ErrInterrupted, errors.Join(err, back))
			return r.stopped
		}
		return err
	}
	if err := r.file.Sync(); err != nil {
		// After a failed fsync nobody knows what is on the disk, and a second one may lie (fsync(2), "Errors").
		r.stopped = fmt.Errorf("%w (%w)", ErrInterrupted, err)
		return r.stopped
	}
	return nil
}

// rotateLocked begins the next segment.
func (r *Receipts) rotateLocked() error {
	next := r.segment + 1
	if next > maxSegment {
		return fmt.Errorf("%w: there are %d segments", ErrTooLarge, maxSegment)
	}
	f, err := openNoFollow(filepath.Join(r.dir, segmentName(next)), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	if err := syncDir(r.dir); err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return err
	}
	if r.file != nil {
		_ = r.file.Close() // everything in it was forced out
	}
	r.file, r.segment, r.offset = f, next, 0
	return nil
}

// readEntry returns the entry at a position, checked against the digest it had when it was indexed.
func readEntry(f io.ReaderAt, p position) (Entry, error) {
	line := make([]byte, p.length)
	if _, err := f.ReadAt(line, p.offset); err != nil {
		return Entry{}, fmt.Errorf("%w: segment %06d: %w", ErrReceiptsBroken, p.segment, err)
	}
	if lineDigest(line) != p.digest {
		return Entry{}, fmt.Errorf("%w: an entry of segment %06d was changed since the core started", ErrReceiptsBroken, p.segment)
	}
	parts, err := parseLine(line)
	if err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrReceiptsBroken, err)
	}
	return parts.entry(line)
}
