package desk

import (
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/rules"
)

// standing is what holds for a session's calls at this moment: every rule that applies, the permission mode, and whether
// commands that no rule matches may run boxed.
type standing struct {
	rules.Set
	mode       policy.Mode
	boxedReads bool
}

// standing looks up what holds for a session.
func (d *Desk) standing(s Session) (standing, error) {
	set, err := d.book.For(d.scope(s.Project, s.Agent, s.ID))
	if err != nil {
		return standing{}, err
	}
	st := standing{Set: set, mode: set.Constraints.Mode(d.chosenMode(s))}
	st.boxedReads = d.options.Config.BoxedReads() || st.mode == policy.ModeAuto
	if set.Project.BoxedReads != nil && set.Project.Identity.Same(d.identityOf(s.Project)) {
		st.boxedReads = *set.Project.BoxedReads
	}
	return st, nil
}

// chosenMode is the mode that the owner chose: for the session, else for its project, else for every session.
func (d *Desk) chosenMode(s Session) policy.Mode {
	mode := d.options.Config.Mode()
	if s.Mode != "" {
		mode = s.Mode
	} else if p := d.book.Project(s.Project); p.Mode != "" && p.Identity.Same(s.Identity) {
		mode = p.Mode
	}
	if mode == policy.ModeAuto && s.AutoBlocks >= maxAutoBlocks {
		return policy.ModeAsk
	}
	return mode
}

// maxAutoBlocks is how many blocks in a row pause auto mode: an agent that keeps trying what it may not needs a person.
const maxAutoBlocks = 3

// countBlocks keeps count of the classifier's answers in a row.
func (d *Desk) countBlocks(s Session, v policy.Verdict) error {
	blocked := v.Reason == policy.ReasonAutoBlock
	if !blocked && (v.Reason != policy.ReasonAutoAllow || s.AutoBlocks == 0) {
		return nil
	}
	_, err := d.changeSession(s.ID, func(s *Session) error {
		if s.AutoBlocks++; !blocked {
			s.AutoBlocks = 0
		}
		return nil
	})
	return err
}

// mode is the mode that counts for a session. Admission and every screen use it.
func (d *Desk) mode(s Session) policy.Mode { return d.book.Constraints().Mode(d.chosenMode(s)) }

// scope names what a decision is about. The project is known by the directory that stands at its path now.
func (d *Desk) scope(project, agent, session string) rules.Scope {
	return rules.Scope{Project: project, Identity: d.identityOf(project), Agent: agent, Session: session}
}

// identityOf is the identity of a directory as it is now; unknown, which equals nothing, where there is none.
func (d *Desk) identityOf(project string) pathid.Identity {
	root, err := pathid.OpenRoot(d.fsys, project)
	if err != nil {
		return pathid.Identity{}
	}
	return root.Identity
}
