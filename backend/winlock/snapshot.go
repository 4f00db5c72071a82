package winlock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/backend/pathid"
)

// MaxSize is the largest file, in bytes, that is digested: 4 GiB.
const MaxSize = 4 << 30

// Snapshot is what stood at a path when the operation was admitted: the precondition that is part of the approval. It
// is data; only Take makes a true one, and WriteChecked believes none of it without looking.
type Snapshot struct {
	Asked    string          `json:"asked"`             // absolute, as it was asked for
	Path     string          `json:"path"`              // what Asked resolved to
	Root     pathid.Root     `json:"root"`              // the innermost root that holds Path
	Parent   pathid.Root     `json:"parent"`            // Path's directory, or for a missing one its nearest existing ancestor
	Missing  bool            `json:"missing,omitempty"` // nothing stood there; the fields below are empty
	Digest   string          `json:"digest,omitempty"`  // "sha256:" + lower-case hex
	Size     int64           `json:"size,omitempty"`    // bytes
	ModTime  time.Time       `json:"mod_time,omitzero"`
	Identity pathid.Identity `json:"identity,omitzero"`
	Mode     fs.FileMode     `json:"mode,omitempty"`
}

// Take records what stands at the absolute path, which must lead into one of the roots, for a later WriteChecked.
// What could not be written by it is refused already here: a path outside the roots, a link that changes while it is
// looked at, anything but a regular file, a file with several names. A path where nothing stands gives a Snapshot that is
// Missing.
func Take(path string, roots []string) (Snapshot, error) {
	at, err := locate(path, roots)
	if err != nil {
		return Snapshot{}, refuse("snapshot", path, err)
	}
	if at.missing {
		return at.snapshot(), nil
	}
	s, err := at.describe()
	if err != nil {
		return Snapshot{}, refuse("snapshot", path, err)
	}
	return s, nil
}

// Look records where the absolute path leads, for a read: path, root and directory, without opening the file. What it
// returns says nothing about content, and WriteChecked takes it only where nothing stands.
func Look(path string, roots []string) (Snapshot, error) {
	at, err := locate(path, roots)
	if err != nil {
		return Snapshot{}, refuse("look", path, err)
	}
	return at.snapshot(), nil
}

func (p place) describe() (Snapshot, error) {
	f, info, err := openRead(p)
	if err != nil {
		return Snapshot{}, err
	}
	defer f.Close()
	if info.Links > 1 {
		return Snapshot{}, ErrSeveralLinks
	}
	s := p.snapshot()
	s.Digest, err = digestStable(f, &info)
	if err != nil {
		return Snapshot{}, err
	}
	s.Size, s.ModTime, s.Identity, s.Mode = info.Size, info.ModTime.UTC().Round(0), info.Identity, info.Mode
	return s, nil
}

// stableTries is how often a file that changes while it is read is read again.
const stableTries = 3

// digestStable digests the open file and describes it as it was then. A file that keeps changing is ErrChanged.
func digestStable(f *os.File, info *pathid.Info) (string, error) {
	for range stableTries {
		digest, err := digestOf(context.Background(), f, info.Size)
		if err != nil && !errors.Is(err, ErrChanged) {
			return "", readFault(err)
		}
		now, errStat := describe(f)
		if errStat != nil {
			return "", errStat
		}
		if err == nil && unchanged(*info, now) {
			return digest, nil
		}
		*info = now
	}
	return "", ErrChanged
}

func unchanged(a, b pathid.Info) bool { return a.Size == b.Size && a.ModTime.Equal(b.ModTime) }

// digestOf digests exactly size bytes from the file's start through the given handle, without moving its offset. Fewer
// or more bytes are ErrChanged.
func digestOf(ctx context.Context, f io.ReaderAt, size int64) (string, error) {
	if size > MaxSize {
		return "", ErrTooLarge
	}
	sum := sha256.New()
	buf := make([]byte, 256*1024)
	for off := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.ReadAt(buf, off)
		sum.Write(buf[:n])
		if off += int64(n); off > size {
			return "", ErrChanged
		}
		if errors.Is(err, io.EOF) {
			if off != size {
				return "", ErrChanged
			}
			return digestText(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

const digestPrefix = "sha256:"

func digestText(sum []byte) string { return digestPrefix + hex.EncodeToString(sum) }

// DigestOf returns the digest of content in the form that snapshots use.
func DigestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return digestText(sum[:])
}

// place is where a path leads.
type place struct {
	asked   string
	path    string
	root    pathid.Root
	parent  pathid.Root // path's directory, or its nearest existing ancestor when that is missing too
	missing bool
}

func (p place) snapshot() Snapshot {
	return Snapshot{Asked: p.asked, Path: p.path, Root: p.root, Parent: p.parent, Missing: p.missing}
}

// Locate returns the absolute path that name means for a program in the directory base, by the rules of this system.
func Locate(base, name string) (string, error) { return pathid.Abs(pathid.Host(), base, name) }

// locate resolves the path and finds its root and directory. It looks and opens nothing.
func locate(path string, roots []string) (place, error) {
	host, view := pathid.Host(), pathid.OS()
	if !utf8.ValidString(path) {
		return place{}, because(ErrAmbiguous, errors.New("not valid UTF-8"))
	}
	if !pathid.IsAbs(host, path) {
		return place{}, pathid.ErrRelative
	}
	asked, err := pathid.Abs(host, "", path)
	if err != nil {
		return place{}, err
	}
	if why := windowsTrick(host, asked); why != "" {
		return place{}, because(ErrAmbiguous, errors.New(why))
	}
	r, err := resolve(asked)
	if err != nil {
		return place{}, lookFault(err)
	}
	if !utf8.ValidString(r.Path) {
		return place{}, because(ErrAmbiguous, errors.New("leads to a name that is not valid UTF-8"))
	}
	p := place{asked: asked, path: r.Path, missing: !r.Exists}
	if p.root, err = innermost(roots, r.Path); err != nil {
		return place{}, err
	}
	if pathid.Base(host, p.path) == "" {
		return place{}, ErrNotRegular
	}
	for dir := pathid.Dir(host, p.path); ; dir = pathid.Dir(host, dir) {
		if !pathid.Contains(host, p.root.Path, dir) {
			// A root that is the file itself, or that went away meanwhile.
			return place{}, ErrOutsideRoots
		}
		p.parent, err = pathid.OpenRoot(view, dir)
		if err == nil && p.parent.Path == dir {
			return p, nil
		}
		if _, errStat := view.Lstat(dir); !p.missing || !errors.Is(errStat, fs.ErrNotExist) {
			return place{}, because(ErrParentChanged, err)
		}
	}
}

// innermost returns the deepest root that holds the path. A root that cannot be opened holds nothing.
func innermost(roots []string, path string) (pathid.Root, error) {
	var best pathid.Root
	for _, name := range roots {
		root, err := openRoot(name)
		if err != nil || !pathid.Contains(pathid.Host(), root.Path, path) {
			continue
		}
		if best.Path == "" || pathid.Contains(pathid.Host(), best.Path, root.Path) {
			best = root
		}
	}
	if best.Path == "" {
		return pathid.Root{}, ErrOutsideRoots
	}
	return best, nil
}

// lookFault names what a path that changes while it is resolved runs into: a link that is none any more, a directory that
// is gone.
func lookFault(err error) error {
	for _, known := range []error{pathid.ErrNotDirectory, pathid.ErrMagicLink, pathid.ErrTooManyLinks, fs.ErrPermission} {
		if errors.Is(err, known) {
			return err
		}
	}
	if isBadPath(err) {
		return err
	}
	return because(ErrParentChanged, err)
}

// resolve is pathid.Resolve with the names that the system itself would give: without 8.3 names on Windows.
func resolve(path string) (pathid.Resolved, error) {
	r, err := pathid.Resolve(pathid.Host(), pathid.OS(), path)
	if err == nil {
		r.Path, err = properPath(r.Path)
	}
	return r, err
}

func openRoot(path string) (pathid.Root, error) {
	root, err := pathid.OpenRoot(pathid.OS(), path)
	if err == nil {
		root.Path, err = properPath(root.Path)
	}
	return root, err
}

// windowsTrick says why Windows would open another file than the name says. Elsewhere these are ordinary names.
func windowsTrick(p pathid.Platform, path string) string {
	if !p.IsWindows() {
		return ""
	}
	switch why := pathid.Suspicious(path); why {
	case pathid.SuspiciousControl, pathid.SuspiciousShortName:
		return "" // odd, but one file
	default:
		return why
	}
}

// Validate reports whether the snapshot is well formed: what Take could have made on this system.
func (s Snapshot) Validate() error {
	host := pathid.Host()
	for _, path := range []string{s.Asked, s.Path, s.Root.Path, s.Parent.Path} {
		clean, err := pathid.Abs(host, "", path)
		if err != nil || clean != path || !utf8.ValidString(path) {
			return because(ErrInvalidSnapshot, errors.New("a path is not absolute and clean"))
		}
	}
	if pathid.Base(host, s.Path) == "" || !pathid.Contains(host, s.Root.Path, s.Parent.Path) ||
		!pathid.Contains(host, s.Parent.Path, pathid.Dir(host, s.Path)) {
		return because(ErrInvalidSnapshot, errors.New("path, directory and root do not lie in each other"))
	}
	if s.Root.Identity == (pathid.Identity{}) || s.Parent.Identity == (pathid.Identity{}) {
		return because(ErrInvalidSnapshot, errors.New("no identity of root or directory"))
	}
	if s.Missing {
		if s.Digest != "" || s.Identity != (pathid.Identity{}) || s.Size != 0 {
			return because(ErrInvalidSnapshot, errors.New("missing, and yet described"))
		}
		return nil
	}
	sum, ok := strings.CutPrefix(s.Digest, digestPrefix)
	if !ok || len(sum) != 2*sha256.Size || s.Identity == (pathid.Identity{}) || s.Size < 0 ||
		s.Parent.Path != pathid.Dir(host, s.Path) {
		return because(ErrInvalidSnapshot, errors.New("no digest, identity or directory of the file"))
	}
	return nil
}

// place returns where the snapshot was taken.
func (s Snapshot) place() place {
	return place{asked: s.Asked, path: s.Path, root: s.Root, parent: s.Parent, missing: s.Missing}
}
