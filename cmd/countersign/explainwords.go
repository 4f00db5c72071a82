package main

import (
	"strings"

	"countersign/backend/policy"
)

// reasonSentences say what each reason means. {rule}, {source} and {detail} stand for what the verdict and the trace say.
var reasonSentences = map[policy.Reason]string{
	policy.ReasonIdentityMissing:      "it is not known who asks",
	policy.ReasonCapabilityDenied:     "whoever asks may not do that; it lacks {detail}",
	policy.ReasonPlanReadonly:         "plan mode lets nothing happen but reading",
	policy.ReasonRuleDeny:             "the deny rule {rule} ({source}) matches it",
	policy.ReasonGateDenied:           "a gate refuses it: {detail}",
	policy.ReasonUnattended:           "nobody is there to answer the agent's own question",
	policy.ReasonRuleAsk:              "the ask rule {rule} ({source}) matches it",
	policy.ReasonForcedApproval:       "this tool asks every time, whatever rules say",
	policy.ReasonToolRequiresApproval: "the tool itself wants approval for these arguments: {detail}",
	policy.ReasonGateAsk:              "a gate wants you to be asked: {detail}",
	policy.ReasonGateFailed:           "a gate failed, so you are asked: {detail}",
	policy.ReasonSourceUnreadable:     "the rules in {detail} cannot be relied on until they are mended, and until then everything asks",
	policy.ReasonDangerousPath:        "it writes where programs look for what to run or to trust ({detail}), which is asked in every mode",
	policy.ReasonOutsideRoots:         "it starts outside the session's directories",
	policy.ReasonSurfaceGrant:         "this page was granted to it: {detail}",
	policy.ReasonBypass:               "bypass mode skips approvals, and no rule or constraint stops it",
	policy.ReasonRuleAllow:            "the allow rule {rule} ({source}) covers it",
	policy.ReasonScheduledMemory:      "a scheduled task may use the memory tools",
	policy.ReasonSafeRead:             "it only reads what may be read",
	policy.ReasonBoxedRead:            "it runs where it can change nothing, so it need not be understood",
	policy.ReasonAcceptEdits:          "it edits files of the project, which this mode allows",
	policy.ReasonAutoAllow:            "the classifier of auto mode calls it safe: {detail}",
	policy.ReasonAutoBlock:            "the classifier of auto mode does not call it safe: {detail}",
	policy.ReasonClassifierFailed:     "auto mode has no answer of a classifier",
	policy.ReasonApprovalRequired:     "no rule allows it",
}

// readStep is the step that lets safe reads pass.
const readStep = 10

// fixedSentences say what a fixed constraint protects.
var fixedSentences = map[string]string{
	policy.SubOwnProtection: "it touches what belongs to Countersign itself ({detail})",
	policy.SubOwnVerb:       "agents may not use this verb of Countersign ({detail})",
	policy.SubDestruction:   "it would destroy without bounds ({detail})",
	policy.SubForkBomb:      "it is a fork bomb",
	policy.SubNoTarget:      "a child of the agent writes without naming a file",
	policy.SubContainment:   "a child of the agent writes outside the session's directories",
	policy.SubScheduled:     "a scheduled task may only read and use the memory tools",
	policy.SubApplication:   "applications are never written by an agent ({detail})",
}

// reasonSentence says in words why a verdict is what it is.
func reasonSentence(v policy.Verdict) string {
	reason, detail := v.Reason, detailOf(v)
	if reason == policy.ReasonNoninteractive {
		// What would have been asked stands first in the trace.
		first, _, _ := strings.Cut(detail, ":")
		first, _, _ = strings.Cut(first, ";")
		asked := v
		asked.Reason = policy.Reason(strings.TrimSpace(first))
		if reasonSentences[asked.Reason] == "" && asked.Reason != policy.ReasonOpaqueCommand {
			return "nobody is expected to answer, so what would be asked is refused."
		}
		return "nobody is expected to answer, so what would be asked is refused. It would be asked because " +
			strings.TrimSuffix(reasonSentence(asked), ".") + "."
	}
	text := reasonSentences[reason]
	switch {
	case reason == policy.ReasonFixedConstraint:
		text = fixedSentences[v.Sub]
		if text == "" {
			text = "a fixed constraint stops it ({detail})"
		}
		text += ". No rule, mode or answer lifts that"
	case reason == policy.ReasonOpaqueCommand && v.Rule != "":
		text = "the rule {rule} ({source}) might match it, and that cannot be told for sure: {detail}"
	case reason == policy.ReasonOpaqueCommand:
		text = "what it does cannot be told from its text ({detail}), and there are deny or ask rules that it could hide from"
	case reason == policy.ReasonApprovalRequired:
		for _, line := range v.Trace {
			if line.Step == readStep && line.Detail != "" {
				text += ", and it is no safe read: " + line.Detail
			}
		}
	case text == "":
		text = string(reason)
	}
	detail = strings.TrimPrefix(detail, string(reason)+": ")
	if v.Sub != "" {
		detail = strings.TrimPrefix(detail, v.Sub+": ")
	}
	if v.Rule != "" {
		detail = strings.TrimPrefix(detail, v.Rule+" ("+string(v.Source)+"): ")
	}
	if detail == string(reason) {
		detail = ""
	}
	text = strings.NewReplacer("{rule}", v.Rule, "{source}", sourceWords(v.Source), "{detail}", detail).Replace(text)
	return strings.TrimSuffix(strings.TrimSpace(text), ":") + "."
}

// detailOf is what the trace says at the step that decided.
func detailOf(v policy.Verdict) string {
	for _, line := range v.Trace {
		if line.Step == v.Step {
			return line.Detail
		}
	}
	return ""
}

// sourceWords say where a rule stands. explain makes the rules of its command line rules of the session.
func sourceWords(s policy.Source) string {
	switch s {
	case policy.SourceManaged:
		return "the administrator's file"
	case policy.SourceGlobal:
		return "config.toml"
	case policy.SourceRepository:
		return "the repository's file"
	case policy.SourceSession:
		return "the command line"
	}
	return string(s)
}
