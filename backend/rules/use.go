package rules

import (
	"time"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/policy"
)

// use is how often a rule decided. It is kept under what the rule says, so that rules of files have it too.
type use struct {
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}

func useKey(source policy.Source, list policy.List, text string) string {
	return "use/" + capability.Digest([]string{string(source), string(list), text})
}

// lists of the reasons that a rule gives.
var ruleReasons = map[policy.Reason]policy.List{
	policy.ReasonRuleDeny: policy.ListDeny, policy.ReasonRuleAsk: policy.ListAsk, policy.ReasonRuleAllow: policy.ListAllow,
}

// Used counts that a rule decided, inside the caller's transaction.
func (b *Book) Used(tx approval.Tx, v policy.Verdict) error {
	list, ok := ruleReasons[v.Reason]
	if !ok || v.Rule == "" {
		return nil
	}
	key := useKey(v.Source, list, v.Rule)
	var u use
	if _, err := tx.Get(bucketState, key, &u); err != nil {
		return err
	}
	u.Count, u.Last = u.Count+1, b.o.Clock.Now()
	return tx.Put(bucketState, key, u)
}

// Uses returns copies of the rules with how often each decided, and when it did last.
func (b *Book) Uses(rules []policy.SourcedRule) ([]policy.SourcedRule, error) {
	out := append([]policy.SourcedRule(nil), rules...)
	return out, b.o.Store.View(func(tx approval.Tx) error {
		for i := range out {
			var u use
			if _, err := tx.Get(bucketState, useKey(out[i].Source, out[i].List, out[i].Rule.String()), &u); err != nil {
				return err
			}
			out[i].Uses, out[i].LastMatch = u.Count, u.Last
		}
		return nil
	})
}
