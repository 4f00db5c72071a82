package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// repositoryRules is where a repository may tighten the rules it is judged by.
const repositoryRules = ".countersign/rules.toml"

// maxRepositoryRules is the largest repository rules file that is read, in bytes.
const maxRepositoryRules = 256 << 10

// maxImported is how many rules one import takes.
const maxImported = 1000

func agentRulePrefix(agent string) string { return "agent/" + agent + "/" }

func sessionRulePrefix(session string) string { return "session/" + session + "/" }

// rulesFor gathers every rule that applies to a session: sources are concatenated, never overridden, and a source that
// cannot be read makes everything ask that it could have covered.
func (d *Desk) rulesFor(s Session) (policy.RuleSet, error) {
	set := policy.RuleSet{Rules: append([]policy.SourcedRule(nil), d.global.Rules...), Unreadable: append([]policy.UnreadableSource(nil), d.global.Unreadable...)}
	d.addRepositoryRules(&set, s.Project)
	return set, d.addStoredRules(&set, agentRulePrefix(s.Agent), sessionRulePrefix(s.ID))
}

// addStoredRules adds what the store holds under the given prefixes.
func (d *Desk) addStoredRules(set *policy.RuleSet, prefixes ...string) error {
	return d.store.View(func(tx approval.Tx) error {
		for _, prefix := range prefixes {
			err := tx.Each(bucketRules, prefix, func(key string, raw json.RawMessage) error {
				var r policy.SourcedRule
				if err := json.Unmarshal(raw, &r); err != nil {
					set.Unreadable = append(set.Unreadable, policy.UnreadableSource{Source: policy.SourceSession, Where: key, Err: err.Error()})
					return nil
				}
				r.ID = key
				set.Rules = append(set.Rules, r)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// importRules takes over an agent's own deny and ask rules. It only restricts, so it needs no presence.
func (d *Desk) importRules(_ context.Context, x *exchange, in wire.ImportRules) (wire.Empty, error) {
	if in.Agent == "" || len(in.Agent) > maxClaimBytes || len(in.Deny)+len(in.Ask) > maxImported {
		return wire.Empty{}, &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": "agent must be given, with at most " + itoa(maxImported) + " rules"}}
	}
	parsed := parseLists(policy.SourceGlobal, in.Agent, map[policy.List][]string{policy.ListDeny: in.Deny, policy.ListAsk: in.Ask})
	if len(parsed.Unreadable) > 0 {
		return wire.Empty{}, &wire.Error{Code: "invalid_rule", Args: map[string]string{"where": parsed.Unreadable[0].Where, "problem": parsed.Unreadable[0].Err}}
	}
	return wire.Empty{}, d.store.Update(func(tx approval.Tx) error {
		for _, r := range parsed.Rules {
			r.Created, r.By = d.clock.Now(), x.authority.ID
			// The key is made from the rule, so that the same rule is kept once.
			key := agentRulePrefix(in.Agent) + capability.Digest([]string{string(r.List), r.Rule.String()})
			if err := tx.Put(bucketRules, key, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeRule removes one stored rule: only the owner does.
func (d *Desk) removeRule(_ context.Context, _ *exchange, in wire.RemovePermissionRule) (wire.Empty, error) {
	return wire.Empty{}, d.store.Update(func(tx approval.Tx) error {
		var r policy.SourcedRule
		ok, err := tx.Get(bucketRules, in.ID, &r)
		if err == nil && !ok {
			err = &wire.Error{Code: "unknown_rule", Args: map[string]string{"rule": in.ID}}
		}
		if err != nil {
			return err
		}
		return tx.Delete(bucketRules, in.ID)
	})
}

// parseLists turns rule texts into rules of one source. A text that does not parse is never dropped: the source it
// stands in counts as unreadable.
func parseLists(source policy.Source, where string, lists map[policy.List][]string) policy.RuleSet {
	var set policy.RuleSet
	for _, list := range []policy.List{policy.ListDeny, policy.ListAsk, policy.ListAllow} {
		for i, text := range lists[list] {
			rule, err := policy.ParseRule(text)
			if err != nil {
				set.Unreadable = append(set.Unreadable, policy.UnreadableSource{Source: source, Where: fmt.Sprintf("%s, %s[%d]", where, list, i), Err: err.Error()})
				continue
			}
			set.Rules = append(set.Rules, policy.SourcedRule{Rule: rule, List: list, Source: source, Boundary: policy.BoundaryAny})
		}
	}
	return set
}

// addRepositoryRules adds the deny and ask rules of the project's own file. It is the executed party's text: its allow
// rules, and everything else in it, count for nothing here.
func (d *Desk) addRepositoryRules(set *policy.RuleSet, project string) {
	where := filepath.Join(project, repositoryRules)
	unreadable := func(err error) {
		set.Unreadable = append(set.Unreadable, policy.UnreadableSource{Source: policy.SourceRepository, Where: where, Err: err.Error()})
	}
	data, err := d.fsys.ReadFile(where, maxRepositoryRules)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		unreadable(err)
		return
	}
	var file struct {
		Deny  []string `toml:"deny"`
		Ask   []string `toml:"ask"`
		Allow []string `toml:"allow"` // read only so that its type is checked; ignored
	}
	if err := toml.Unmarshal(data, &file); err != nil {
		unreadable(err)
		return
	}
	parsed := parseLists(policy.SourceRepository, where, map[policy.List][]string{policy.ListDeny: file.Deny, policy.ListAsk: file.Ask})
	set.Rules = append(set.Rules, parsed.Rules...)
	set.Unreadable = append(set.Unreadable, parsed.Unreadable...)
}

// saveOffer saves the rules of an accepted offer inside the transaction of the answer. Only the session scope is kept
// in this version; once saves nothing.
func (d *Desk) saveOffer(by string) func(approval.Tx, approval.Question, approval.Offer) error {
	return func(tx approval.Tx, q approval.Question, o approval.Offer) error {
		switch o.Scope {
		case approval.ScopeOnce:
			return nil
		case approval.ScopeSession:
		default:
			return fmt.Errorf("offer %d has scope %q, which this version does not save", o.Number, o.Scope)
		}
		for _, text := range o.Rules {
			rule, err := policy.ParseRule(text)
			if err != nil {
				return fmt.Errorf("rule of offer %d: %w", o.Number, err)
			}
			key := sessionRulePrefix(q.Session) + newID()
			saved := policy.SourcedRule{
				Rule: rule, List: policy.ListAllow, Source: policy.SourceSession, Boundary: o.Boundary,
				Created: d.clock.Now(), By: by, From: q.ID,
			}
			if err := tx.Put(bucketRules, key, saved); err != nil {
				return err
			}
		}
		return nil
	}
}
