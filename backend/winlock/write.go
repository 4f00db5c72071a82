package winlock

import (
	"context"
	"io/fs"
	"time"

	"countersign/backend/pathid"
)

// DefaultWait is how long WriteChecked waits for another program's lock where nothing else is said.
const DefaultWait = 5 * time.Second

// Options says where may be written and how long to wait for a lock.
type Options struct {
	Roots []string      // absolute; the approved path must lie in one of them, now as then
	Wait  time.Duration // bound for the lock; 0 means DefaultWait, negative does not wait

	step func(step) // tests look in at each step
}

// step names a moment of a checked write.
type step string

// The moments, in order.
const (
	stepOpened    step = "opened"    // the directory is open
	stepLocked    step = "locked"    // the file is open and locked
	stepVerified  step = "verified"  // it is the approved one
	stepStaged    step = "staged"    // the new content is on disk beside it
	stepChecked   step = "checked"   // the last look before publishing
	stepPublished step = "published" // exchanged, linked or renamed; can still be taken back
)

func (o Options) at(s step) {
	if o.step != nil {
		o.step(s)
	}
}

func (o Options) wait() time.Duration {
	switch {
	case o.Wait == 0:
		return DefaultWait
	case o.Wait < 0:
		return 0
	}
	return o.Wait
}

// How a write was published, as receipts say it.
const (
	HowExchange = "exchange"
	HowLink     = "link"
	HowRename   = "rename"
)

// Published says what a checked write changed.
type Published struct {
	Path      string          `json:"path"`
	OldDigest string          `json:"old_digest,omitempty"` // absent for a new file
	NewDigest string          `json:"new_digest"`
	Before    pathid.Identity `json:"before,omitzero"` // zero for a new file
	After     pathid.Identity `json:"after"`
	How       string          `json:"how"` // "exchange", "link" or "rename"
}

// WriteChecked replaces the file that the snapshot describes by content, or creates it where the snapshot says that
// nothing stood there (with missing directories). It checks everything that the snapshot says again and changes nothing
// when any of it is not so. ctx cancels it until the moment of publishing.
//
// The content is durable when it returns nil.
func WriteChecked(ctx context.Context, want Snapshot, content []byte, o Options) (Published, error) {
	done, err := checkedWrite(ctx, want, content, o)
	if err != nil {
		return Published{}, refuse("write", want.Path, err)
	}
	return done, nil
}

func checkedWrite(ctx context.Context, want Snapshot, content []byte, o Options) (Published, error) {
	if err := want.Validate(); err != nil {
		return Published{}, err
	}
	if err := ctx.Err(); err != nil {
		return Published{}, err
	}
	if why := windowsTrick(pathid.Host(), want.Path); why != "" {
		return Published{}, ErrAmbiguous
	}
	if _, err := innermost(o.Roots, want.Path); err != nil {
		return Published{}, err
	}
	if err := want.resolvesAsApproved(); err != nil {
		return Published{}, err
	}
	done := Published{Path: want.Path, OldDigest: want.Digest, NewDigest: DigestOf(content), Before: want.Identity}
	var err error
	if want.Missing {
		done.After, done.How, err = create(ctx, want, content, o)
	} else {
		done.After, done.How, err = replace(ctx, want, content, o)
	}
	return done, err
}

// resolvesAsApproved reports ErrParentChanged, ErrLink or ErrDeleted when the path that was asked for leads elsewhere now.
func (s Snapshot) resolvesAsApproved() error {
	r, err := resolve(s.Asked)
	if err != nil {
		return because(ErrParentChanged, err)
	}
	if r.Path == s.Path {
		return nil
	}
	host := pathid.Host()
	if info, err := pathid.OS().Lstat(s.Path); err == nil && info.Mode&fs.ModeSymlink != 0 {
		if parent, err := pathid.OpenRoot(pathid.OS(), pathid.Dir(host, s.Path)); err == nil && parent.Identity.Same(s.Parent.Identity) {
			return ErrLink // only the last component became a link
		}
	}
	return ErrParentChanged
}
