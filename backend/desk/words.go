package desk

import (
	"strings"

	"countersign/backend/approval"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// status tells a client where a call stands, with the sentence the model is to read.
func (d *Desk) status(c approval.Call) wire.CallStatus {
	return wire.CallStatus{
		Call: c.ID, State: string(c.State), Outcome: string(c.Outcome), Reason: string(c.Verdict.Reason), Sub: c.Verdict.Sub,
		Rule: c.Verdict.Rule, Question: c.Question, Message: modelWords(c), Comment: c.Comment,
		Here: c.Here, Boundary: string(c.Boundary), Digest: c.Digest, Age: int64(max(d.clock.Now().Sub(c.CreatedAt), 0).Seconds()),
	}
}

// modelWords is what the model reads about its call: what was decided, why, and what to do instead. It names no rule
// of the owner's beyond the one that decided.
func modelWords(c approval.Call) string {
	var text string
	switch c.Outcome {
	case "":
		return noted("", c.Comment)
	case approval.OutcomeDenied:
		text = denialWords(c.Verdict)
	case approval.OutcomeRefused:
		text = "The owner refused this call at the Countersign desk. Do not retry it and do not work around it."
	case approval.OutcomeExpired:
		if c.Question == "" || c.Answerer != "" {
			text = "The approval was not used in time and has expired. Propose the call again if it is still needed."
		} else {
			text = "Nobody answered at the Countersign desk in time, so the call did not run. Propose it again later if it is still needed."
		}
	case approval.OutcomeCancelled:
		text = "The call was cancelled before it ran."
	case approval.OutcomeOriginGone:
		text = "The agent's process ended before the call was answered."
	case approval.OutcomeAnsweredInAgent:
		text = "The call was answered in the agent itself."
	case approval.OutcomeFailed:
		text = "The call was allowed but could not be started inside its boundary (" + c.Failure + "), so it did not run."
	case approval.OutcomeUnknown:
		text = "The desk stopped while this call ran. Whether it completed is not known; it is never run twice."
	case approval.OutcomeDone, approval.OutcomeReported, approval.OutcomeUnreported:
		text = "This call has already run; its id is used up."
	default:
		text = "The call did not run."
	}
	return noted(text, c.Comment)
}

// pausedWords says that a session is paused, to the model.
func pausedWords(why string) string {
	if why == wire.PausedByOwner {
		return "the owner paused this session"
	}
	return "this session is paused: " + why
}

// noted adds the owner's own words.
func noted(text, comment string) string {
	if comment == "" {
		return text
	}
	return strings.TrimSpace(text + " The owner's note: " + comment)
}

// denialWords explains a denial by policy.
func denialWords(v policy.Verdict) string {
	because, ok := reasonWords[v.Reason]
	if !ok {
		because = "it is not allowed here"
	}
	text := "Countersign denied this call: " + because
	if v.Rule != "" {
		text += " (" + v.Rule + ")"
	}
	if v.Sub != "" {
		text += " [" + v.Sub + "]"
	}
	if v.Reason == policy.ReasonGateDenied {
		// The gate's own words: what the owner's program says is meant for whoever proposed the call.
		text += " (" + strings.TrimPrefix(deciding(v), string(policy.ReasonGateDenied)+": ") + ")"
	}
	return text + ". Do not work around it; ask the owner if it is needed."
}

// deciding is what the step that decided says.
func deciding(v policy.Verdict) string {
	for _, line := range v.Trace {
		if line.Step == v.Step {
			return line.Detail
		}
	}
	return ""
}

// reasonWords has one clause per reason that can deny.
var reasonWords = map[policy.Reason]string{
	policy.ReasonFixedConstraint:  "a fixed constraint that no setting lifts",
	policy.ReasonIdentityMissing:  "the desk does not know who asks",
	policy.ReasonCapabilityDenied: "this principal does not hold the capability it needs",
	policy.ReasonPlanReadonly:     "the session is in plan mode, which is read-only",
	policy.ReasonRuleDeny:         "an owner's deny rule matches it",
	policy.ReasonGateDenied:       "a gate denied it",
	policy.ReasonUnattended:       "nobody is there to answer a question",
	policy.ReasonNoninteractive:   "it needs the owner's approval, and this session has no owner present",
}
