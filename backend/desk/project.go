package desk

import (
	"context"

	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/rules"
	"countersign/backend/wire"
)

// getProject tells what is settled about a project, and what its own rules file says.
func (d *Desk) getProject(_ context.Context, _ *exchange, in wire.GetProject) (wire.Project, error) {
	root, err := d.project(in.Project)
	if err != nil {
		return wire.Project{}, err
	}
	return d.wireProject(root), nil
}

// setProject settles a project's mode and whether unmatched commands may run boxed.
func (d *Desk) setProject(_ context.Context, _ *exchange, in wire.SetProject) (wire.Project, error) {
	root, err := d.project(in.Project)
	if err != nil {
		return wire.Project{}, err
	}
	var mode policy.Mode
	if in.Mode != nil && *in.Mode != "" {
		if mode, err = d.choosable(*in.Mode); err != nil {
			return wire.Project{}, err
		}
		if mode == policy.ModeBypass {
			return wire.Project{}, &wire.Error{Code: "mode_per_session", Args: map[string]string{"mode": string(mode)}}
		}
	}
	if _, err := d.book.Change(root.Path, root.Identity, func(p *rules.Project) error {
		if in.Mode != nil {
			p.Mode = mode
		}
		switch {
		case in.BoxedReads == nil:
		case *in.BoxedReads == wire.BoxedByMode:
			p.BoxedReads = nil
		case *in.BoxedReads == wire.BoxedOn || *in.BoxedReads == wire.BoxedOff:
			on := *in.BoxedReads == wire.BoxedOn
			p.BoxedReads = &on
		default:
			return &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": "boxed_reads is on, off or by_mode"}}
		}
		return nil
	}); err != nil {
		return wire.Project{}, err
	}
	d.rulesChanged()
	return d.wireProject(root), nil
}

// trustRepository lets the allow rules of a project's own file count, for the content with this digest.
func (d *Desk) trustRepository(_ context.Context, _ *exchange, in wire.TrustRepository) (wire.Project, error) {
	root, err := d.project(in.Project)
	if err != nil {
		return wire.Project{}, err
	}
	if _, err := d.book.Trust(root.Path, root.Identity, in.Digest); err != nil {
		return wire.Project{}, err
	}
	d.rulesChanged()
	return d.wireProject(root), nil
}

func (d *Desk) wireProject(root pathid.Root) wire.Project {
	p := d.book.Project(root.Path)
	out := wire.Project{Path: root.Path, BoxedReads: wire.BoxedByMode}
	if p.Path != "" && !p.Identity.Same(root.Identity) {
		out.Moved = true
		p = rules.Project{}
	}
	out.Mode = p.Mode
	if p.BoxedReads != nil {
		out.BoxedReads = wire.BoxedOff
		if *p.BoxedReads {
			out.BoxedReads = wire.BoxedOn
		}
	}
	file := d.book.Repository(root.Path)
	out.File = wire.RepositoryRules{Path: file.Path, Digest: file.Digest, Content: file.Content, Problem: file.Problem}
	out.File.Trusted = file.Digest != "" && file.Digest == p.Trusted
	return out
}

// choosable reads a mode and refuses one that the administrator does not let be chosen.
func (d *Desk) choosable(text policy.Mode) (policy.Mode, error) {
	mode, err := policy.ParseMode(string(text))
	if err != nil {
		return "", &wire.Error{Code: "invalid_mode", Args: map[string]string{"mode": string(text)}}
	}
	if d.book.Constraints().Mode(mode) != mode {
		return "", &wire.Error{Code: "managed_mode", Args: map[string]string{"mode": string(mode)}}
	}
	return mode, nil
}
