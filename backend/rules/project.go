package rules

import (
	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
)

// Project is what the owner settled about one project, which is named by its directory and known by that directory's
// identity: another directory at the same path is another project, and nothing that was allowed for the first counts there.
type Project struct {
	Path     string          `json:"path"`
	Identity pathid.Identity `json:"identity"`
	// Mode is the permission mode of the project's sessions that have none of their own; "" is the configured one.
	Mode policy.Mode `json:"mode,omitempty"`
	// BoxedReads lets unmatched commands run under a read-only ceiling; nil leaves it to the mode (policy.BoxedReads).
	BoxedReads *bool `json:"boxed_reads,omitempty"`
	// Trusted is the digest of the repository's rules file that the owner trusts here; "" trusts none.
	Trusted string `json:"trusted,omitempty"`
}

func projectKey(path string) string { return capability.Digest(path) }

// Project returns what is settled about the project at a path; the zero Project where nothing is.
func (b *Book) Project(path string) Project {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.projects[path]
}

// Change settles something about a project. When another directory stands at its path now, everything settled before ends
// with it: change then begins with an empty project.
func (b *Book) Change(path string, identity pathid.Identity, change func(*Project) error) (Project, error) {
	var next Project
	err := b.o.Store.Update(func(tx approval.Tx) error {
		next = b.Project(path)
		if next.Path != "" && !next.Identity.Same(identity) {
			if err := dropProject(tx, path); err != nil {
				return err
			}
			next = Project{}
		}
		next.Path, next.Identity = path, identity
		if err := change(&next); err != nil {
			return err
		}
		if err := tx.Put(bucketState, projectStatePrefix+projectKey(path), next); err != nil {
			return err
		}
		return changed(tx)
	})
	if err != nil {
		return Project{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.projects[path] = next
	return next, nil
}

// dropProject removes the allow rules of a directory that is no longer there. What restricts stays.
func dropProject(tx approval.Tx, path string) error {
	kept, err := storedRules(tx, projectPrefix(path))
	if err != nil {
		return err
	}
	for _, r := range kept.Rules {
		if r.List != policy.ListAllow {
			continue
		}
		if err := tx.Delete(bucketRules, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// sameProject makes sure that a project's record is of the directory a rule is made for.
func (b *Book) sameProject(tx approval.Tx, path string, identity pathid.Identity) error {
	have := b.Project(path)
	switch {
	case have.Path == "":
		p := Project{Path: path, Identity: identity}
		if err := tx.Put(bucketState, projectStatePrefix+projectKey(path), p); err != nil {
			return err
		}
		// The transaction may still fail; then the record says what is so anyway.
		b.mu.Lock()
		b.projects[path] = p
		b.mu.Unlock()
		return nil
	case !have.Identity.Same(identity):
		return fail(CodeMoved, "project", path)
	}
	return nil
}

// Trust lets the allow rules of a project's own rules file count, for exactly the content with this digest and in exactly
// this directory. An empty digest ends the trust.
func (b *Book) Trust(path string, identity pathid.Identity, digest string) (Project, error) {
	if digest != "" && digest != b.Repository(path).Digest {
		return Project{}, fail(CodeChanged, "path", path)
	}
	return b.Change(path, identity, func(p *Project) error { p.Trusted = digest; return nil })
}
