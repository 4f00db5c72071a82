package policy

// The security events.
const (
	EventRiskyToolDelegated = "security.risky_tool_delegated" // a delegated principal's risky call is allowed
	EventPathViolation      = "security.path_violation"       // a write target is refused
)

// Event says that something was decided which whoever watches over security wants to know. It holds no argument of the call,
// says nothing about whether anything ran, and may repeat.
type Event struct {
	Name    string `json:"name"`
	Session string `json:"session"`
	Tool    string `json:"tool"`
	Source  string `json:"source"` // kind of the principal
	Level   Mode   `json:"level"`  // permission mode
	Reason  string `json:"reason,omitempty"`
	Origin  string `json:"origin"` // always "system"
}

// Events returns what a verdict is to be reported as.
func Events(in Input, v Verdict) []Event {
	if in.Facts == nil {
		return nil
	}
	event := Event{
		Session: in.Session.ID, Tool: in.Facts.Tool(), Source: string(in.Authority.Kind), Level: in.Session.Mode.effective(), Origin: "system",
	}
	switch {
	case in.Authority.delegated() && v.Outcome == Allow && (v.Reason == ReasonBypass || v.Reason == ReasonRuleAllow) && in.Facts.Risk().Level == RiskHigh:
		event.Name, event.Reason = EventRiskyToolDelegated, string(v.Reason)
	case v.Outcome == Deny && v.Reason == ReasonFixedConstraint && pathSubs[v.Sub] && len(in.Facts.Writes()) > 0,
		v.Outcome == Deny && v.Reason == ReasonFixedConstraint && (v.Sub == SubNoTarget || v.Sub == SubContainment):
		event.Name, event.Reason = EventPathViolation, v.Sub
	default:
		return nil
	}
	return []Event{event}
}

// pathSubs are the fixed constraints that protect a path.
var pathSubs = map[string]bool{SubOwnProtection: true, SubDestruction: true, SubApplication: true}
