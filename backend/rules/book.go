package rules

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
)

// maxCached is how many gathered sets are kept for the next decision.
const maxCached = 64

// Options say where a book's rules come from.
type Options struct {
	Store    approval.Store
	Clock    approval.Clock
	FS       pathid.FS
	Platform pathid.Platform
	// Global are the rules of the owner's configuration file.
	Global policy.RuleSet
	// Managed is the administrator's file; "" is ManagedFile's.
	Managed string
}

// Book gathers and keeps rules. It is safe for concurrent use.
type Book struct {
	o Options

	mu       sync.Mutex
	sets     map[Scope]gathered
	projects map[string]Project // by path
}

// gathered is a set that was made, and what it was made from.
type gathered struct {
	set     Set
	stamp   string
	expires time.Time // when the first of its rules expires; zero: none does
}

// Scope names what a decision is about. Empty fields leave that source out.
type Scope struct {
	Project  string          // resolved path of the project's directory
	Identity pathid.Identity // of that directory, as it is now
	Agent    string
	Session  string
}

// Set is everything that applies to one scope.
type Set struct {
	policy.RuleSet
	Constraints Constraints
	Project     Project
	// Ignored is what stands somewhere and does not count.
	Ignored []Ignored
	// Version names this very set of rules: the same version gives the same answers.
	Version string
}

// Why something is ignored.
const (
	WhyNotTrusted  = "not_trusted"  // an allow rule of a repository that the owner does not trust
	WhyManagedOnly = "managed_only" // the administrator lets only managed allow rules count
	WhyMoved       = "moved"        // another directory stands at the project's path than when the rule was made
	WhyNotManaged  = "not_managed"  // the managed file does not belong to the administrator
	WhyNoSuchKey   = "unknown_key"  // a key of a repository's file that means nothing, or nothing there
)

// Ignored is one entry that does not count, and why.
type Ignored struct {
	Source policy.Source `json:"source"`
	Where  string        `json:"where"` // file, or id of a kept rule
	Text   string        `json:"text"`
	Why    string        `json:"why"`
}

// Open reads what the store keeps about projects.
func Open(o Options) (*Book, error) {
	if o.Managed == "" {
		o.Managed = ManagedFile
	}
	b := &Book{o: o, sets: map[Scope]gathered{}, projects: map[string]Project{}}
	err := o.Store.View(func(tx approval.Tx) error {
		return tx.Each(bucketState, projectStatePrefix, func(_ string, raw json.RawMessage) error {
			var p Project
			if err := json.Unmarshal(raw, &p); err != nil {
				return err
			}
			b.projects[p.Path] = p
			return nil
		})
	})
	return b, err
}

// For gathers every rule that applies to a scope. The set's rules are indexed and must not be changed.
func (b *Book) For(s Scope) (Set, error) {
	managed := readManaged(b.o.Managed)
	repository := readRepository(b.o.FS, b.o.Platform, s.Project)
	var out Set
	err := b.o.Store.View(func(tx approval.Tx) error {
		version, err := storedVersion(tx)
		if err != nil {
			return err
		}
		stamp := capability.Digest([]any{version, managed.stamp, repository.stamp})
		if set, ok := b.cached(s, stamp); ok {
			out = set
			return nil
		}
		set, expires, err := b.gather(tx, s, managed, repository)
		if err != nil {
			return err
		}
		set.Version = capability.Digest([]any{stamp, s, expires})
		b.keep(s, gathered{set: set, stamp: stamp, expires: expires})
		out = set
		return nil
	})
	return out, err
}

func (b *Book) cached(key Scope, stamp string) (Set, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, ok := b.sets[key]
	if !ok || g.stamp != stamp || !g.expires.IsZero() && !b.o.Clock.Now().Before(g.expires) {
		return Set{}, false
	}
	return g.set, true
}

func (b *Book) keep(key Scope, g gathered) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sets) >= maxCached {
		clear(b.sets)
	}
	b.sets[key] = g
}

// gather concatenates the sources and takes out what does not count.
func (b *Book) gather(tx approval.Tx, s Scope, managed managedFile, repository repositoryFile) (Set, time.Time, error) {
	out := Set{Constraints: managed.constraints, Project: b.Project(s.Project)}
	all := policy.RuleSet{}
	add := func(set policy.RuleSet) {
		all.Rules = append(all.Rules, set.Rules...)
		all.Unreadable = append(all.Unreadable, set.Unreadable...)
	}
	add(managed.set)
	out.Ignored = append(out.Ignored, managed.ignored...)
	add(b.o.Global)
	for _, prefix := range s.prefixes() {
		set, err := storedRules(tx, prefix)
		if err != nil {
			return Set{}, time.Time{}, err
		}
		add(set)
	}
	add(repository.set)
	out.Ignored = append(out.Ignored, repository.ignored...)

	trusted := repository.digest != "" && out.Project.Trusted == repository.digest && out.Project.Identity.Same(s.Identity)
	moved := out.Project.Path != "" && !out.Project.Identity.Same(s.Identity)
	now, expires := b.o.Clock.Now(), time.Time{}
	for _, r := range all.Rules {
		if !r.Expires.IsZero() {
			if !now.Before(r.Expires) {
				continue
			}
			if expires.IsZero() || r.Expires.Before(expires) {
				expires = r.Expires
			}
		}
		why := ""
		if r.List == policy.ListAllow {
			switch {
			case managed.constraints.ManagedAllowOnly && r.Source != policy.SourceManaged:
				why = WhyManagedOnly
			case r.Source == policy.SourceProject && moved:
				why = WhyMoved
			case r.Source == policy.SourceRepository && !trusted:
				why = WhyNotTrusted
			}
		}
		if why != "" {
			out.Ignored = append(out.Ignored, Ignored{Source: r.Source, Where: placeOf(r, repository), Text: r.Rule.String(), Why: why})
			continue
		}
		r.Trusted = r.Source == policy.SourceRepository && trusted
		out.Rules = append(out.Rules, r)
	}
	out.Unreadable = all.Unreadable
	out.RuleSet = out.Index()
	return out, expires, nil
}

// placeOf says where a rule stands.
func placeOf(r policy.SourcedRule, repository repositoryFile) string {
	if r.Source == policy.SourceRepository {
		return repository.path
	}
	return r.ID
}

// prefixes are the parts of the store that apply to a scope. What was taken over from an agent counts for its sessions
// only.
func (s Scope) prefixes() []string {
	list := []string{globalPrefix}
	if s.Agent != "" {
		list = append(list, agentPrefix(s.Agent))
	}
	if s.Project != "" {
		list = append(list, projectPrefix(s.Project))
	}
	if s.Session != "" {
		list = append(list, sessionPrefix(s.Session))
	}
	return list
}

var errBroken = errors.New("the kept rule cannot be read")
