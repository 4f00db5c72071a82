package policy

// Outcome is what a verdict says. Its zero value denies.
type Outcome string

// The outcomes. An unknown or empty outcome must be treated as Deny.
const (
	Deny     Outcome = "deny"
	Ask      Outcome = "ask"
	Allow    Outcome = "allow"
	Classify Outcome = "classify" // step 12 was reached without a classification: classify, then decide again
)

// Reason is a code with one documented meaning; none is reused for two causes.
type Reason string

// The reason codes, in the order of the steps that give them.
const (
	ReasonFixedConstraint      Reason = "fixed_constraint"
	ReasonIdentityMissing      Reason = "identity_missing"
	ReasonCapabilityDenied     Reason = "capability_denied"
	ReasonPlanReadonly         Reason = "plan_readonly"
	ReasonRuleDeny             Reason = "rule_deny"
	ReasonGateDenied           Reason = "gate_denied"
	ReasonUnattended           Reason = "unattended"
	ReasonRuleAsk              Reason = "rule_ask"
	ReasonForcedApproval       Reason = "forced_approval"
	ReasonToolRequiresApproval Reason = "tool_requires_approval"
	ReasonGateAsk              Reason = "gate_ask"
	ReasonGateFailed           Reason = "gate_failed"
	ReasonSourceUnreadable     Reason = "source_unreadable"
	ReasonOpaqueCommand        Reason = "opaque_command"
	ReasonDangerousPath        Reason = "dangerous_path"
	ReasonOutsideRoots         Reason = "outside_roots" // the payload's cwd lies outside the session's roots
	ReasonSurfaceGrant         Reason = "surface_grant"
	ReasonBypass               Reason = "bypass"
	ReasonRuleAllow            Reason = "rule_allow"
	ReasonScheduledMemory      Reason = "scheduled_memory"
	ReasonSafeRead             Reason = "safe_read"
	ReasonBoxedRead            Reason = "boxed_read"
	ReasonAcceptEdits          Reason = "accept_edits"
	ReasonAutoAllow            Reason = "auto_allow"
	ReasonAutoBlock            Reason = "auto_block"
	ReasonClassifierFailed     Reason = "classifier_failed"
	ReasonApprovalRequired     Reason = "approval_required"
	ReasonNoninteractive       Reason = "noninteractive"
)

// Verdict answers "may this operation happen?". Its zero value denies.
type Verdict struct {
	Outcome Outcome     `json:"outcome"`
	Reason  Reason      `json:"reason"`
	Sub     string      `json:"sub,omitempty"`     // fixed sub-reason of a fixed constraint, e.g. "own_protection"
	Step    int         `json:"step"`              // 1-13; 0 when nothing was decided
	Rule    string      `json:"rule,omitempty"`    // the rule that decided, printed canonically
	Source  Source      `json:"source,omitempty"`  // where that rule is kept
	Ceiling string      `json:"ceiling,omitempty"` // "read-only": allowed only under this ceiling
	Trace   []TraceLine `json:"trace"`
}

// TraceLine says what one step answered.
type TraceLine struct {
	Step   int    `json:"step"`
	Name   string `json:"name"`
	Answer string `json:"answer"` // "allow", "ask", "deny", "pass" or "not reached"
	Detail string `json:"detail,omitempty"`
}
