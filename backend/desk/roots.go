package desk

import (
	"context"
	"slices"

	"countersign/backend/pathid"
	"countersign/backend/wire"
)

// maxRoots is how many directories a session may work in.
const maxRoots = 16

// addRoot lets a session work in a further directory. What is wider than a project can be is refused: the boundary of its
// commands would hold nothing.
func (d *Desk) addRoot(_ context.Context, _ *exchange, in wire.ChangeRoot) (wire.Session, error) {
	root, err := pathid.OpenRoot(d.fsys, in.Directory)
	if err != nil {
		return wire.Session{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": in.Directory, "problem": err.Error()}}
	}
	if why := d.tooWide(root.Path); why != "" {
		return wire.Session{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": root.Path, "problem": why}}
	}
	s, err := d.changeSession(in.Session, func(s *Session) error {
		switch {
		case slices.Contains(s.Roots, root.Path):
		case len(s.Roots) >= maxRoots:
			return &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": "a session has at most " + itoa(maxRoots) + " directories"}}
		default:
			s.Roots = append(slices.Clone(s.Roots), root.Path)
		}
		return nil
	})
	if err != nil {
		return wire.Session{}, err
	}
	return d.wireSession(s), nil
}

// removeRoot takes a directory that was added away again. The first one stays: it is where the session works.
func (d *Desk) removeRoot(_ context.Context, _ *exchange, in wire.ChangeRoot) (wire.Session, error) {
	s, err := d.changeSession(in.Session, func(s *Session) error {
		i := slices.Index(s.Roots, in.Directory)
		if i < 1 {
			return &wire.Error{Code: "unknown_root", Args: map[string]string{"path": in.Directory}}
		}
		s.Roots = slices.Delete(slices.Clone(s.Roots), i, i+1)
		return nil
	})
	if err != nil {
		return wire.Session{}, err
	}
	return d.wireSession(s), nil
}

// tooWide says why a directory cannot be a session's, or "".
func (d *Desk) tooWide(dir string) string {
	for _, own := range d.own.Paths {
		if own != "" && pathid.Contains(d.platform, dir, own) {
			return "what the desk itself keeps lies in it"
		}
	}
	if home := d.options.OwnerHome; home != "" && pathid.Contains(d.platform, dir, home) {
		return "the whole home directory lies in it"
	}
	if pathid.Dir(d.platform, dir) == dir {
		return "it is the top of the filesystem"
	}
	return ""
}

// setAttended says whether a session's own questions may wait for the owner.
func (d *Desk) setAttended(_ context.Context, _ *exchange, in wire.SetAttended) (wire.Session, error) {
	s, err := d.changeSession(in.Session, func(s *Session) error { s.Attended = in.Attended; return nil })
	if err != nil {
		return wire.Session{}, err
	}
	return d.wireSession(s), nil
}
