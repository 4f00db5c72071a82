package capability

import (
	"slices"
)

// Effective is what a process is given. Only Intersect makes one; the zero Effective gives nothing and covers nothing.
type Effective struct {
	set   bool
	class ProcessClass
	cwd   string
	b     bounds
}

// Intersect narrows the request by every ceiling. It fails, with an error that is ErrInvalid, ErrZeroCeiling, ErrCwd or
// ErrIntegration, when the request is malformed, when a ceiling is the zero one, when the working directory does not
// lie in what is left to read or list or lies in a denied root, and when an integration on the host is wanted below
// danger-full-access.
func Intersect(req Request, ceilings ...Ceiling) (Effective, error) {
	if _, err := ParseProcessClass(string(req.Class)); err != nil {
		return Effective{}, err
	}
	if err := checkPath("cwd", req.Cwd); err != nil {
		return Effective{}, err
	}
	b, err := newBounds(req)
	if err != nil {
		return Effective{}, err
	}
	for _, c := range ceilings {
		if !c.set {
			return Effective{}, ErrZeroCeiling
		}
		b = b.meet(c.b)
	}
	if !b.list.covers(req.Cwd) || b.denied.covers(req.Cwd) {
		return Effective{}, &cwdError{req.Cwd}
	}
	if req.Class == ClassIntegration && b.policy != DangerFullAccess {
		return Effective{}, ErrIntegration
	}
	return Effective{set: true, class: req.Class, cwd: req.Cwd, b: b}, nil
}

type cwdError struct{ cwd string }

func (e *cwdError) Error() string { return e.cwd + ": " + ErrCwd.Error() }
func (e *cwdError) Unwrap() error { return ErrCwd }

// IsZero reports whether this is the zero Effective, which gives nothing.
func (e Effective) IsZero() bool { return !e.set }

// Ceiling returns the effective capability as the ceiling of a child.
func (e Effective) Ceiling() Ceiling { return Ceiling{set: e.set, b: e.b} }

// Covers returns nil when everything the child's request names lies within e, and otherwise a *WiderError that names the
// first thing that does not. Denied roots and limits that the child does not name are inherited. A malformed request is
// ErrInvalid.
func (e Effective) Covers(req Request) error {
	if _, err := ParseProcessClass(string(req.Class)); err != nil {
		return err
	}
	if err := checkPath("cwd", req.Cwd); err != nil {
		return err
	}
	b, err := newBounds(req)
	if err != nil {
		return err
	}
	if !e.set {
		return &WiderError{What: "class", Value: string(req.Class)}
	}
	if req.Class == ClassIntegration && e.class != ClassIntegration {
		// What the owner launches on the host is nobody's child.
		return &WiderError{What: "class", Value: string(req.Class)}
	}
	if !e.b.list.covers(req.Cwd) || e.b.denied.covers(req.Cwd) {
		return &WiderError{What: "cwd", Value: req.Cwd}
	}
	return e.b.wider(b)
}

// Snapshot returns the readable form: sorted, minimal lists that are never nil. Write roots stand among the read roots
// too, unless a wider read root holds them; metadata roots are only those that may not be read.
func (e Effective) Snapshot() Snapshot {
	if !e.set {
		return Snapshot{}
	}
	list := make([]string, 0, len(e.b.list.roots))
	for _, root := range e.b.list.roots {
		if !e.b.read.covers(root) {
			list = append(list, root)
		}
	}
	return Snapshot{Request{
		Class:         e.class,
		Policy:        e.b.policy,
		Shell:         e.b.shell,
		Cwd:           e.cwd,
		ReadRoots:     some(e.b.read.roots),
		WriteRoots:    some(e.b.write.roots),
		MetadataRoots: list,
		DeniedRoots:   some(e.b.denied.roots),
		Network:       e.b.reach.network(),
		Targets:       e.b.reach.texts(),
		Environment:   some(e.b.names.names),
		Limits:        e.b.limits,
	}}
}

// some copies a list and makes nil an empty list, so that equal capabilities have equal JSON.
func some(list []string) []string { return append(make([]string, 0, len(list)), list...) }

// FromSnapshot makes a stored capability effective again. Everything in it is validated as if it were a new request.
// The caller intersects with today's ceilings by Covers or by a new Intersect where they may have narrowed.
func FromSnapshot(s Snapshot) (Effective, error) { return Intersect(s.Request) }

// MayRead reports whether the path, absolute and resolved, may be read.
func (e Effective) MayRead(path string) bool {
	return e.set && checkPath("path", path) == nil && e.b.read.covers(path) && !e.b.denied.covers(path)
}

// MayWrite reports whether the path, absolute and resolved, may be written.
func (e Effective) MayWrite(path string) bool {
	return e.set && checkPath("path", path) == nil && e.b.write.covers(path) && !e.b.denied.covers(path)
}

// HasEnvironment reports whether the environment name may be passed on.
func (e Effective) HasEnvironment(name string) bool { return e.set && e.b.names.has(name) }

// Equal reports whether both give the same.
func (e Effective) Equal(other Effective) bool {
	a, b := e.Snapshot().Request, other.Snapshot().Request
	return e.set == other.set && a.Class == b.Class && a.Policy == b.Policy && a.Shell == b.Shell &&
		a.Cwd == b.Cwd && slices.Equal(a.ReadRoots, b.ReadRoots) &&
		slices.Equal(a.WriteRoots, b.WriteRoots) && slices.Equal(a.MetadataRoots, b.MetadataRoots) &&
		slices.Equal(a.DeniedRoots, b.DeniedRoots) && a.Network == b.Network && slices.Equal(a.Targets, b.Targets) &&
		slices.Equal(a.Environment, b.Environment) && a.Limits == b.Limits
}
