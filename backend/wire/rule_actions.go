package wire

import "countersign/backend/policy"

// ListPermissionRules lists the rules that apply to a session, or to a project's directory; with neither those that apply
// to all, and what is kept for any agent, project and session.
type ListPermissionRules struct {
	Session string `json:"session,omitempty"`
	Project string `json:"project,omitempty"` // absolute path of a directory in it
}

// PermissionRules is every rule that applies, with where it is kept and how often it decided.
type PermissionRules struct {
	Rules       []policy.SourcedRule      `json:"rules"`
	Unreadable  []policy.UnreadableSource `json:"unreadable,omitempty"` // while there is one, everything asks
	Ignored     []IgnoredRule             `json:"ignored,omitempty"`    // what stands somewhere and does not count
	Constraints Constraints               `json:"constraints"`
}

// IgnoredRule is an entry that does not count. Why is a code: not_trusted, managed_only, moved, not_managed or unknown_key.
type IgnoredRule struct {
	Source policy.Source `json:"source"`
	Where  string        `json:"where"` // file, or id of a kept rule
	Text   string        `json:"text"`
	Why    string        `json:"why"`
}

// Constraints are what the administrator of this machine locks.
type Constraints struct {
	Modes            []policy.Mode `json:"modes,omitempty"`              // that may be chosen; empty is all, ask always may
	ManagedAllowOnly bool          `json:"managed_allow_only,omitempty"` // only the administrator's allow rules count
	SandboxRequired  bool          `json:"sandbox_required,omitempty"`   // no command runs outside the boundary
	NoSavedRules     bool          `json:"no_saved_rules,omitempty"`     // an answer allows one call only
}

// RulesChanged tells that rules, or what is settled about a project, changed: who shows them asks again.
type RulesChanged struct{}

// NewPermissionRule is a rule to be kept.
type NewPermissionRule struct {
	List     policy.List     `json:"list"`
	Rule     string          `json:"rule"`
	Scope    policy.Source   `json:"scope"`              // global, project or session
	Project  string          `json:"project,omitempty"`  // absolute path of a directory in the project
	Session  string          `json:"session,omitempty"`  // id
	Boundary policy.Boundary `json:"boundary,omitempty"` // of an allow rule: enforced (also "") or any
	// ExpiresInSeconds ends the rule; 0 does not.
	ExpiresInSeconds int64 `json:"expires_in_seconds,omitempty"`
	// Match and NotMatch are calls that the rule must match, or must not; they are checked now and by every later test.
	Match    []string `json:"match,omitempty"`
	NotMatch []string `json:"not_match,omitempty"`
}

// SavedRule is a rule as it is kept.
type SavedRule struct {
	Rule policy.SourcedRule `json:"rule"`
}

// RulePreview says what a rule would be, and what it would change.
type RulePreview struct {
	Rule policy.SourcedRule `json:"rule"`
	// Checked is how many recorded calls were decided again; Effects are those that would be decided otherwise, newest first.
	Checked int          `json:"checked"`
	Effects []RuleEffect `json:"effects,omitempty"`
}

// RuleEffect is a recorded call that a rule would decide otherwise.
type RuleEffect struct {
	Call   string         `json:"call"`
	Agent  string         `json:"agent"`
	Tool   string         `json:"tool"`
	Text   string         `json:"text"` // its command, path or address, shortened
	Before policy.Outcome `json:"before"`
	After  policy.Outcome `json:"after"`
}

// GetProject asks what is settled about a project.
type GetProject struct {
	Project string `json:"project"` // absolute path of a directory in it
}

// The values of Project.BoxedReads.
const (
	BoxedOn     = "on"
	BoxedOff    = "off"
	BoxedByMode = "by_mode"
)

// Project is what the owner settled about one project.
type Project struct {
	Path string      `json:"path"`
	Mode policy.Mode `json:"mode,omitempty"` // of sessions that have none of their own; "" is the configured one
	// BoxedReads says whether commands that no rule matches may run without asking where they can change nothing.
	BoxedReads string `json:"boxed_reads"`
	// Moved says that another directory stands there than when something was settled, so that none of it counts.
	Moved bool            `json:"moved,omitempty"`
	File  RepositoryRules `json:"file"`
}

// RepositoryRules is a project's own rules file.
type RepositoryRules struct {
	Path    string `json:"path"`
	Digest  string `json:"digest,omitempty"` // "" where there is no file, or none that can be read
	Content string `json:"content,omitempty"`
	Trusted bool   `json:"trusted,omitempty"` // its allow rules count
	Problem string `json:"problem,omitempty"` // why it cannot be read: everything in the project asks
}

// SetProject settles something about a project; what is left out stays.
type SetProject struct {
	Project    string       `json:"project"`
	Mode       *policy.Mode `json:"mode,omitempty"` // "" takes it back
	BoxedReads *string      `json:"boxed_reads,omitempty"`
}

// TrustRepository lets the allow rules of a project's own file count, for exactly the content with this digest and in
// exactly this directory. An empty digest ends the trust.
type TrustRepository struct {
	Project string `json:"project"`
	Digest  string `json:"digest"`
}

// ImportRules takes over an agent's own deny and ask rules. They only restrict, and only that agent's sessions; equal
// ones are kept once.
type ImportRules struct {
	Agent string   `json:"agent"`
	Deny  []string `json:"deny,omitempty"`
	Ask   []string `json:"ask,omitempty"`
}

// RemovePermissionRule removes one saved rule by its id.
type RemovePermissionRule struct {
	ID string `json:"id"`
}
