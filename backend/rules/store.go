package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
)

// The buckets of this package; the package comment says what they hold.
const (
	bucketRules = "rules"
	bucketState = "rules_state"
)

const (
	globalPrefix       = "global/"
	projectStatePrefix = "project/"
	keyVersion         = "version"
)

func agentPrefix(agent string) string     { return "agent/" + agent + "/" }
func projectPrefix(project string) string { return "project/" + projectKey(project) + "/" }
func sessionPrefix(session string) string { return "session/" + session + "/" }

// Limits of what is kept.
const (
	maxKept     = 10_000 // rules of one project, of one session, of all projects
	maxExamples = 20     // of each kind, of one rule
	maxExample  = 4 << 10
)

// NewRule is a rule to be kept. Source says where: policy.SourceGlobal, SourceProject or SourceSession.
type NewRule struct {
	List     policy.List
	Text     string
	Source   policy.Source
	Project  string          // of SourceProject
	Identity pathid.Identity // of that project's directory
	Session  string          // of SourceSession
	Boundary policy.Boundary // of an allow rule; "" is enforced
	By, From string          // principal, and the question of the card it was made from
	Expires  time.Time       // zero: never
	// Match and NotMatch are calls that the rule must match, or must not (policy.CheckExamples).
	Match, NotMatch []string
}

// prefix is where the rule is kept.
func (n NewRule) prefix() (string, error) {
	switch {
	case n.Source == policy.SourceGlobal:
		return globalPrefix, nil
	case n.Source == policy.SourceProject && n.Project != "":
		return projectPrefix(n.Project), nil
	case n.Source == policy.SourceSession && n.Session != "":
		return sessionPrefix(n.Session), nil
	}
	return "", fail(CodeBadRule, "problem", "a rule is kept for everything, for a project or for a session")
}

// Make checks a new rule without keeping it: its text, its examples, and that the administrator lets it be kept.
func (b *Book) Make(n NewRule, at Scope) (policy.SourcedRule, error) {
	rule, err := policy.ParseRule(n.Text)
	if err != nil {
		return policy.SourcedRule{}, fail(CodeBadRule, "problem", err.Error())
	}
	if n.List != policy.ListDeny && n.List != policy.ListAsk && n.List != policy.ListAllow {
		return policy.SourcedRule{}, fail(CodeBadRule, "problem", "the list is deny, ask or allow")
	}
	if _, err := n.prefix(); err != nil {
		return policy.SourcedRule{}, err
	}
	if n.Boundary != "" && n.Boundary != policy.BoundaryAny && n.Boundary != policy.BoundaryEnforced {
		return policy.SourcedRule{}, fail(CodeBadRule, "problem", "the boundary is enforced or any")
	}
	if !n.Expires.IsZero() && !b.o.Clock.Now().Before(n.Expires) {
		return policy.SourcedRule{}, fail(CodeBadRule, "problem", "it would have expired already")
	}
	if len(n.Match) > maxExamples || len(n.NotMatch) > maxExamples {
		return policy.SourcedRule{}, fail(CodeBadRule, "problem", fmt.Sprintf("at most %d examples of each kind are kept", maxExamples))
	}
	for _, text := range append(append([]string(nil), n.Match...), n.NotMatch...) {
		if len(text) > maxExample {
			return policy.SourcedRule{}, fail(CodeBadRule, "problem", fmt.Sprintf("an example has at most %d bytes", maxExample))
		}
	}
	if n.List == policy.ListAllow {
		constraints := readManaged(b.o.Managed).constraints
		if constraints.NoSavedRules || constraints.ManagedAllowOnly {
			return policy.SourcedRule{}, fail(CodeLocked, "where", b.o.Managed)
		}
	}
	r := policy.SourcedRule{
		Rule: rule, List: n.List, Source: n.Source, Created: b.o.Clock.Now(), By: n.By, From: n.From, Expires: n.Expires,
		Match: n.Match, NotMatch: n.NotMatch,
	}
	if n.List == policy.ListAllow {
		r.Boundary = policy.BoundaryEnforced
		if n.Boundary != "" {
			r.Boundary = n.Boundary
		}
	}
	if bad := policy.CheckExamples(r, policy.ExamplePlace{Platform: b.o.Platform, Root: at.Project}); len(bad) > 0 {
		return policy.SourcedRule{}, fail(CodeExample, "example", bad[0].Text, "expected", bad[0].Expected)
	}
	return r, nil
}

// Add keeps a rule inside the caller's transaction. The same rule again is kept once.
func (b *Book) Add(tx approval.Tx, n NewRule) (policy.SourcedRule, error) {
	r, err := b.Make(n, Scope{Project: n.Project})
	if err != nil {
		return r, err
	}
	prefix, err := n.prefix()
	if err != nil {
		return r, err
	}
	kept, err := storedRules(tx, prefix)
	if err != nil {
		return r, err
	}
	for _, have := range kept.Rules {
		if have.List == r.List && have.Boundary == r.Boundary && have.Rule.Equal(r.Rule) && have.Expires.Equal(r.Expires) {
			return have, nil
		}
	}
	if len(kept.Rules) >= maxKept {
		return r, fail(CodeTooMany, "limit", fmt.Sprint(maxKept))
	}
	if n.Source == policy.SourceProject {
		if err := b.sameProject(tx, n.Project, n.Identity); err != nil {
			return r, err
		}
	}
	r.ID = prefix + uuid.Must(uuid.NewV7()).String()
	return r, put(tx, r)
}

// put writes a kept rule, which carries its key as ID.
func put(tx approval.Tx, r policy.SourcedRule) error {
	key := r.ID
	r.ID = ""
	if err := tx.Put(bucketRules, key, r); err != nil {
		return err
	}
	return changed(tx)
}

// Take keeps an agent's own deny and ask rules, inside the caller's transaction. They restrict that agent's sessions only.
func (b *Book) Take(tx approval.Tx, agent, by string, deny, ask []string) error {
	parsed := FromFile(policy.SourceGlobal, agent, deny, ask, nil)
	if len(parsed.Unreadable) > 0 {
		return fail(CodeBadRule, "problem", parsed.Unreadable[0].Where+": "+parsed.Unreadable[0].Err)
	}
	kept, err := storedRules(tx, agentPrefix(agent))
	if err != nil {
		return err
	}
	if len(kept.Rules)+len(parsed.Rules) > maxKept {
		return fail(CodeTooMany, "limit", fmt.Sprint(maxKept))
	}
	for _, r := range parsed.Rules {
		r.Created, r.By, r.Boundary = b.o.Clock.Now(), by, ""
		// The key is made from the rule, so that the same rule is kept once.
		r.ID = agentPrefix(agent) + capability.Digest([]string{string(r.List), r.Rule.String()})
		if err := put(tx, r); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes a kept rule by its id.
func (b *Book) Remove(tx approval.Tx, id string) error {
	var raw json.RawMessage
	ok, err := tx.Get(bucketRules, id, &raw)
	if err == nil && !ok {
		err = fail(CodeUnknownRule, "rule", id)
	}
	if err != nil {
		return err
	}
	if err := tx.Delete(bucketRules, id); err != nil {
		return err
	}
	return changed(tx)
}

// EndSession removes what was kept for a session.
func (b *Book) EndSession(tx approval.Tx, session string) error {
	var keys []string
	if err := tx.Each(bucketRules, sessionPrefix(session), func(key string, _ json.RawMessage) error {
		keys = append(keys, key)
		return nil
	}); err != nil || len(keys) == 0 {
		return err
	}
	for _, key := range keys {
		if err := tx.Delete(bucketRules, key); err != nil {
			return err
		}
	}
	return changed(tx)
}

// storedRules reads what the store keeps under a prefix. A rule that cannot be read makes its source unreadable.
func storedRules(tx approval.Tx, prefix string) (policy.RuleSet, error) {
	var set policy.RuleSet
	err := tx.Each(bucketRules, prefix, func(key string, raw json.RawMessage) error {
		var r policy.SourcedRule
		if err := json.Unmarshal(raw, &r); err != nil {
			set.Unreadable = append(set.Unreadable, policy.UnreadableSource{Source: sourceOf(key), Where: key, Err: errBroken.Error() + ": " + err.Error()})
			return nil
		}
		r.ID = key
		set.Rules = append(set.Rules, r)
		return nil
	})
	return set, err
}

// sourceOf tells a kept rule's source from its key.
func sourceOf(key string) policy.Source {
	kind, _, _ := strings.Cut(key, "/")
	switch kind {
	case "project":
		return policy.SourceProject
	case "session":
		return policy.SourceSession
	}
	return policy.SourceGlobal
}

// storedVersion counts the changes of what is kept.
func storedVersion(tx approval.Tx) (uint64, error) {
	var n uint64
	_, err := tx.Get(bucketState, keyVersion, &n)
	return n, err
}

// changed makes every set that was gathered before this transaction stale.
func changed(tx approval.Tx) error {
	n, err := storedVersion(tx)
	if err != nil {
		return err
	}
	return tx.Put(bucketState, keyVersion, n+1)
}

// Kept returns every rule that is kept for any agent, project or session, beside those kept for everything.
func (b *Book) Kept() (policy.RuleSet, error) {
	var out policy.RuleSet
	err := b.o.Store.View(func(tx approval.Tx) error {
		for _, prefix := range []string{"agent/", "project/", "session/"} {
			set, err := storedRules(tx, prefix)
			if err != nil {
				return err
			}
			out.Rules = append(out.Rules, set.Rules...)
			out.Unreadable = append(out.Unreadable, set.Unreadable...)
		}
		return nil
	})
	return out, err
}
