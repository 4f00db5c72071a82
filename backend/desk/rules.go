package desk

import (
	"context"
	"errors"
	"slices"
	"time"

	"countersign/backend/approval"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/rules"
	"countersign/backend/wire"
)

// maxImported is how many rules one import takes.
const maxImported = 1000

// listRules lists the rules that apply to a session or a project, or to all.
func (d *Desk) listRules(_ context.Context, _ *exchange, in wire.ListPermissionRules) (wire.PermissionRules, error) {
	scope := rules.Scope{}
	switch {
	case in.Session != "":
		s, ok := d.session(in.Session)
		if !ok {
			return wire.PermissionRules{}, unknownSession(in.Session)
		}
		scope = d.scope(s.Project, s.Agent, s.ID)
	case in.Project != "":
		root, err := d.project(in.Project)
		if err != nil {
			return wire.PermissionRules{}, err
		}
		scope = rules.Scope{Project: root.Path, Identity: root.Identity}
	}
	return d.rulesOf(scope, in.Session == "" && in.Project == "")
}

// rulesOf lists what applies to a scope. all adds what is kept for any agent, project and session.
func (d *Desk) rulesOf(scope rules.Scope, all bool) (wire.PermissionRules, error) {
	set, err := d.book.For(scope)
	if err != nil {
		return wire.PermissionRules{}, err
	}
	list := set.Rules
	unreadable := set.Unreadable
	if all {
		kept, err := d.book.Kept()
		if err != nil {
			return wire.PermissionRules{}, err
		}
		list = append(slices.Clone(list), kept.Rules...)
		unreadable = append(slices.Clone(unreadable), kept.Unreadable...)
	}
	if list, err = d.book.Uses(list); err != nil {
		return wire.PermissionRules{}, err
	}
	out := wire.PermissionRules{Rules: list, Unreadable: unreadable, Constraints: wireConstraints(set.Constraints)}
	for _, i := range set.Ignored {
		out.Ignored = append(out.Ignored, wire.IgnoredRule{Source: i.Source, Where: i.Where, Text: i.Text, Why: i.Why})
	}
	return out, nil
}

func wireConstraints(c rules.Constraints) wire.Constraints {
	return wire.Constraints{
		Modes: c.Modes, ManagedAllowOnly: c.ManagedAllowOnly, SandboxRequired: c.SandboxRequired, NoSavedRules: c.NoSavedRules,
	}
}

// newRule is the rule that a request asks for, with the directory it would count in.
func (d *Desk) newRule(x *exchange, in wire.NewPermissionRule) (rules.NewRule, error) {
	n := rules.NewRule{
		List: in.List, Text: in.Rule, Source: in.Scope, Session: in.Session, Boundary: in.Boundary, By: x.authority.ID,
		Match: in.Match, NotMatch: in.NotMatch,
	}
	if in.ExpiresInSeconds < 0 || in.ExpiresInSeconds > maxRuleSeconds {
		return n, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": "expires_in_seconds is between 0 and " + itoa(maxRuleSeconds)}}
	}
	if in.ExpiresInSeconds > 0 {
		n.Expires = d.clock.Now().Add(time.Duration(in.ExpiresInSeconds) * time.Second)
	}
	switch in.Scope {
	case policy.SourceSession:
		if _, ok := d.session(in.Session); !ok {
			return n, unknownSession(in.Session)
		}
	case policy.SourceProject:
		root, err := d.project(in.Project)
		if err != nil {
			return n, err
		}
		n.Project, n.Identity = root.Path, root.Identity
	}
	return n, nil
}

// maxRuleSeconds is the longest time until a rule expires: ten years.
const maxRuleSeconds = 10 * 365 * 24 * 3600

// addRule keeps a rule.
func (d *Desk) addRule(_ context.Context, x *exchange, in wire.NewPermissionRule) (wire.SavedRule, error) {
	n, err := d.newRule(x, in)
	if err != nil {
		return wire.SavedRule{}, err
	}
	var saved policy.SourcedRule
	if err := d.store.Update(func(tx approval.Tx) (err error) {
		saved, err = d.book.Add(tx, n)
		return err
	}); err != nil {
		return wire.SavedRule{}, err
	}
	d.rulesChanged()
	return wire.SavedRule{Rule: saved}, nil
}

// previewRule says what a rule would be and which recorded calls it would decide otherwise. Nothing is kept.
func (d *Desk) previewRule(ctx context.Context, x *exchange, in wire.NewPermissionRule) (wire.RulePreview, error) {
	n, err := d.newRule(x, in)
	if err != nil {
		return wire.RulePreview{}, err
	}
	rule, err := d.book.Make(n, rules.Scope{Project: n.Project})
	if err != nil {
		return wire.RulePreview{}, err
	}
	checked, effects, err := d.effects(ctx, n, rule)
	if err != nil {
		return wire.RulePreview{}, err
	}
	return wire.RulePreview{Rule: rule, Checked: checked, Effects: effects}, nil
}

// importRules takes over an agent's own deny and ask rules. It only restricts, so it needs no presence.
func (d *Desk) importRules(_ context.Context, x *exchange, in wire.ImportRules) (wire.Empty, error) {
	if in.Agent == "" || len(in.Agent) > maxClaimBytes || len(in.Deny)+len(in.Ask) > maxImported {
		return wire.Empty{}, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": "agent must be given, with at most " + itoa(maxImported) + " rules"}}
	}
	if err := d.store.Update(func(tx approval.Tx) error {
		return d.book.Take(tx, in.Agent, x.authority.ID, in.Deny, in.Ask)
	}); err != nil {
		return wire.Empty{}, err
	}
	d.rulesChanged()
	return wire.Empty{}, nil
}

// removeRule removes one kept rule: only the owner does.
func (d *Desk) removeRule(_ context.Context, _ *exchange, in wire.RemovePermissionRule) (wire.Empty, error) {
	if err := d.store.Update(func(tx approval.Tx) error { return d.book.Remove(tx, in.ID) }); err != nil {
		return wire.Empty{}, err
	}
	d.rulesChanged()
	return wire.Empty{}, nil
}

// rulesChanged tells every screen that it must look again.
func (d *Desk) rulesChanged() { d.frame(wire.FramePermissionRules, wire.RulesChanged{}) }

// saveOffer saves the rules of an accepted offer inside the transaction of the answer; once saves nothing.
func (d *Desk) saveOffer(by string) func(approval.Tx, approval.Question, approval.Offer) error {
	return func(tx approval.Tx, q approval.Question, o approval.Offer) error {
		if o.Scope == approval.ScopeOnce {
			return nil
		}
		if o.Scope != approval.ScopeSession {
			return d.bug(errors.New("an offer of scope " + string(o.Scope) + " is not saved by this version"))
		}
		for _, text := range o.Rules {
			if _, err := d.book.Add(tx, rules.NewRule{
				List: policy.ListAllow, Text: text, Source: policy.SourceSession, Session: q.Session, Boundary: o.Boundary, By: by, From: q.ID,
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

// project opens the directory that a request names, as the project it belongs to.
func (d *Desk) project(dir string) (pathid.Root, error) {
	root, err := pathid.OpenRoot(d.fsys, dir)
	if err != nil {
		return pathid.Root{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": dir, "problem": err.Error()}}
	}
	if top, ok := pathid.RepositoryRoot(d.fsys, root.Path); ok && top != root.Path {
		if root, err = pathid.OpenRoot(d.fsys, top); err != nil {
			return pathid.Root{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": top, "problem": err.Error()}}
		}
	}
	return root, nil
}
