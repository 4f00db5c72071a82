package claude

import (
	"bytes"
	"encoding/json"
)

// answer is what a hook prints. The zero answer is {}: nothing to say.
type answer struct {
	Continue      *bool     `json:"continue,omitempty"`
	StopReason    string    `json:"stopReason,omitempty"`
	SystemMessage string    `json:"systemMessage,omitempty"` // for the person at the terminal
	Decision      string    `json:"decision,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	Specific      *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event             string          `json:"hookEventName"`
	Permission        string          `json:"permissionDecision,omitempty"`
	PermissionReason  string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput      json.RawMessage `json:"updatedInput,omitempty"`
	AdditionalContext string          `json:"additionalContext,omitempty"` // for the model
	Decision          *decision       `json:"decision,omitempty"`
}

type decision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// deny refuses the gate event named, with a reason for the model. An event without a known name is refused in the form
// that stops PreToolUse, PreSkillShellCommand and UserPromptSubmit; a permission request then stays unanswered, which
// Claude takes as no.
func deny(event, reason string) answer {
	switch event {
	case eventPreToolUse, eventPreSkillShell:
		return answer{Specific: &specific{Event: event, Permission: "deny", PermissionReason: reason}}
	case eventPermissionRequest:
		return answer{Specific: &specific{Event: event, Decision: &decision{Behavior: "deny", Message: reason}}}
	case eventPostToolUse, eventPostToolUseFailure, eventSessionStart, eventSessionEnd, eventUserPromptSubmit, eventStop:
		// Not a gate: there is nothing to refuse.
		return answer{SystemMessage: reason}
	}
	return answer{Decision: "block", Reason: reason}
}

// allow lets the tool run: with the input given instead of its own, when there is one, and a line for the model.
func allow(input json.RawMessage, context string) answer {
	return answer{Specific: &specific{Event: eventPreToolUse, Permission: "allow", UpdatedInput: input, AdditionalContext: context}}
}

// grant answers a permission request with yes.
func grant() answer {
	return answer{Specific: &specific{Event: eventPermissionRequest, Decision: &decision{Behavior: "allow"}}}
}

// halt tells everybody that the session was paused after a tool ran, and stops the turn.
func halt(event, reason string) answer {
	no := false
	a := answer{Continue: &no, StopReason: reason, SystemMessage: reason}
	if event == eventPostToolUse {
		a.Decision, a.Reason = "block", reason
	} else {
		a.Specific = &specific{Event: event, AdditionalContext: reason}
	}
	return a
}

// encode writes the answer as one line.
func (a answer) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(a)
	return b.Bytes(), err
}
