package state

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"countersign/backend/capability"
)

// Proof says what a chain that holds proves, in the same words everywhere.
const Proof = "These receipts are evidence against changes by other accounts and by boxed processes: each entry is signed with this desk's key and names the one before it, so none can be altered, removed from the middle or put in another order unnoticed. They are no evidence against an unboxed process of the same account, which can read the key. Removing the newest entries is noticed only against a head that is kept elsewhere."

// Verification is the result of Verify.
type Verification struct {
	Entries  uint64 `json:"entries"`  // read and found to hold
	Segments int    `json:"segments"` // read
	Head     Head   `json:"head"`     // the newest entry that holds: everything up to it does
	Break    *Break `json:"break,omitempty"`
	// Known is the head that the chain was compared with. Nil: whether the newest entries are missing is not known.
	Known *Head `json:"known,omitempty"`
	// Unended are records of starts without an end, oldest first: the core stopped, or the process still runs.
	Unended []string `json:"unended,omitempty"`
	// Torn are the pieces that entries of the chain name, and Unnamed those that none names yet.
	Torn    []Torn   `json:"torn,omitempty"`
	Unnamed []string `json:"unnamed,omitempty"`
	// Cut is the number of bytes behind the newest entry that are not a whole entry: the core is writing, or a crash
	// cut it off and the next open will move it aside.
	Cut int `json:"cut,omitempty"`
	// Foreign are files in the directory that do not belong there.
	Foreign []string `json:"foreign,omitempty"`
	// Follows is the broken chain that this one was begun after.
	Follows *SetAside `json:"follows,omitempty"`
}

// Holds reports whether everything that was looked at holds.
func (v Verification) Holds() bool { return v.Break == nil }

// String says in a sentence or two how far the chain holds.
func (v Verification) String() string {
	text := fmt.Sprintf("%d entries in %d segments hold.", v.Entries, v.Segments)
	switch {
	case v.Break != nil:
		text = fmt.Sprintf("The chain holds up to entry %d. %v.", v.Head.Sequence, v.Break)
	case v.Known == nil:
		text += " No other head is known: whether newer entries were removed cannot be said."
	default:
		text += fmt.Sprintf(" Complete to entry %d, the newest that is known elsewhere.", v.Known.Sequence)
	}
	if len(v.Unended) > 0 {
		text += fmt.Sprintf(" %d starts have no end.", len(v.Unended))
	}
	return text
}

// Verify checks every entry of the chain in dir (the receipts directory) by the public key, without a core, and
// compares it with a head known from elsewhere (nil: none). The error is only about reading; what does not hold is in
// the result. It changes nothing.
func Verify(dir string, public ed25519.PublicKey, known *Head) (Verification, error) {
	if len(public) != ed25519.PublicKeySize {
		return Verification{}, fmt.Errorf("verify receipts: the public key has %d bytes", len(public))
	}
	v := &verifier{public: public, ids: map[string]bool{}, open: map[string]uint64{}, named: map[string]bool{}}
	v.result.Known = known
	if err := v.run(dir); err != nil {
		return Verification{}, fmt.Errorf("verify receipts: %w", err)
	}
	return v.result, nil
}

// Verify checks the whole chain by this desk's key and the newest head. Entries appended meanwhile may or may not be
// counted.
func (r *Receipts) Verify() (Verification, error) {
	head := r.Head()
	known := &head
	if head.Sequence == 0 {
		known = nil
	}
	return Verify(r.dir, r.id.public, known)
}

// VerifyOffline checks the chain of a state directory that no core has open, by the public key and the head that its
// store remembers. It changes nothing. ErrNoIdentity: there is no store, or it knows no key yet.
func VerifyOffline(stateDir string) (Verification, error) {
	v, err := verifyOffline(stateDir)
	if err != nil {
		return Verification{}, fmt.Errorf("verify receipts: %w", err)
	}
	return v, nil
}

func verifyOffline(stateDir string) (Verification, error) {
	path := filepath.Join(stateDir, StoreFile)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return Verification{}, fault("open", path, ErrNoIdentity)
	}
	s := &Store{dir: stateDir}
	if err := s.openFile(path, Options{LockTimeout: lockTimeout}); err != nil {
		s.abandon()
		return Verification{}, fault("open", path, err)
	}
	defer func() { _ = s.Close() }()
	public, err := remembered(s)
	if err != nil {
		return Verification{}, err
	}
	if public == nil {
		return Verification{}, fault("open", path, ErrNoIdentity)
	}
	known, _, err := StoreHeads(s).Known()
	if err != nil {
		return Verification{}, err
	}
	return Verify(filepath.Join(stateDir, ReceiptsDir), public, known)
}

// verifier is the state of one Verify.
type verifier struct {
	public ed25519.PublicKey
	result Verification
	place  at
	ids    map[string]bool
	open   map[string]uint64 // start record id → sequence
	named  map[string]bool
}

func (v *verifier) run(dir string) error {
	l, err := readLayout(dir)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = layout{}, nil
	}
	if err != nil {
		return err
	}
	v.result.Foreign = l.foreign
	for n := 1; n <= l.segments && v.result.Break == nil; n++ {
		if err := v.segment(dir, n, n == l.segments && l.gap == 0); err != nil {
			return err
		}
	}
	v.finish(l)
	return nil
}

func (v *verifier) segment(dir string, n int, newest bool) error {
	f, err := openSegment(dir, n, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	v.result.Segments++
	v.place.segment, v.place.line = n, 1
	in := newLines(f)
	for v.result.Break == nil {
		line, _, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			if v.place.line == 1 && !newest {
				v.result.Break = v.place.fails(BreakSegment, "the segment is empty")
			}
			return nil
		case errors.Is(err, errCutOff) && newest && (v.result.Known == nil || v.atKnown()):
			v.result.Cut = len(line)
			return nil
		case errors.Is(err, errCutOff):
			v.result.Break = v.place.fails(BreakTorn, "%v", err)
			return nil
		case errors.Is(err, ErrTooLarge):
			v.result.Break = v.place.fails(BreakSyntax, "the line is too long")
			return nil
		case err != nil:
			return err
		}
		b := v.entry(line)
		if b != nil && b.Reason == BreakSyntax && newest && in.atEnd() && v.atKnown() {
			v.result.Cut = len(line) + 1 // blocks of it never reached the disk: see loading.mayBeTorn
			return nil
		}
		v.result.Break = b
	}
	return nil
}

// atKnown reports whether everything that is known from elsewhere was read.
func (v *verifier) atKnown() bool {
	return v.result.Known != nil && v.result.Known.Sequence <= v.place.head.Sequence
}

// entry checks one line, in the order in which a reader trusts it: form, signature, meaning, place.
func (v *verifier) entry(line []byte) *Break {
	p, err := parseLine(line)
	if err != nil {
		return v.place.fails(BreakSyntax, "%v", err)
	}
	if b := v.place.exact(p, line); b != nil {
		return b
	}
	if b := v.place.signed(p, v.public); b != nil {
		return b
	}
	e, b := v.place.meant(p, line)
	if b != nil {
		return b
	}
	if b := v.place.linked(p); b != nil {
		return b
	}
	if v.ids[e.Record.ID] {
		return v.place.fails(BreakRecord, "record %s was there before", e.Record.ID)
	}
	if k := v.result.Known; k != nil && k.Sequence == e.Sequence && k.Digest != e.Digest {
		return v.place.fails(BreakRewritten, "another entry is known in its place")
	}
	v.accept(e)
	return nil
}

func (v *verifier) accept(e Entry) {
	v.ids[e.Record.ID] = true
	switch e.Record.Kind {
	case capability.RecordStart:
		v.open[e.Record.ID] = e.Sequence
	case capability.RecordEnd:
		delete(v.open, e.Record.Start)
	}
	for _, t := range e.Torn {
		v.named[t.File] = true
	}
	v.result.Torn = append(v.result.Torn, e.Torn...)
	if e.Sequence == 1 {
		v.result.Follows = e.Follows
	}
	v.result.Entries++
	v.result.Head = Head{Sequence: e.Sequence, Digest: e.Digest}
	v.place.head = v.result.Head
	v.place.line++
}

// finish says what is missing at the end.
func (v *verifier) finish(l layout) {
	if v.result.Break == nil && l.gap != 0 {
		v.place.segment, v.place.line = l.gap, 1
		v.result.Break = v.place.fails(BreakSegment, "the segment is missing")
	}
	if k := v.result.Known; v.result.Break == nil && k != nil && k.Sequence > v.place.head.Sequence {
		v.result.Break = v.place.fails(BreakTruncated, "entries up to %d are known", k.Sequence)
	}
	for id := range v.open {
		v.result.Unended = append(v.result.Unended, id)
	}
	slices.SortFunc(v.result.Unended, func(a, b string) int { return int(v.open[a]) - int(v.open[b]) })
	for _, name := range l.torn {
		if !v.named[name] {
			v.result.Unnamed = append(v.result.Unnamed, name)
		}
	}
}
