package main

import (
	"encoding/json"

	"countersign/backend/wire"
)

// order is one line of the script: a call to propose, or one to withdraw.
type order struct {
	ID       string          `json:"id"` // repeated in the order's events; "" is as good as any
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	Cwd      string          `json:"cwd"`       // "": this process's own
	ToolCall string          `json:"tool_call"` // "": a new one
	Turn     string          `json:"turn"`      // "": the same for all
	Session  string          `json:"session"`   // "": the same for all
	// ExpiresInSeconds is as in wire.AdmitCall: 0 as the core is configured, -1 never.
	ExpiresInSeconds int `json:"expires_in_seconds"`
	// Absent says that no owner is expected: what would be asked is denied.
	Absent bool `json:"absent"`
	// Itself says that the agent executes: an allowed call ends as released, and nothing is run by this program.
	Itself bool `json:"itself"`
	// Keep leaves an allowed call as it is.
	Keep bool `json:"keep"`

	Cancel string `json:"cancel"` // this call is withdrawn; everything else is ignored
}

// The kinds of an event.
const (
	eventReady     = "ready"     // connected; Session and turn are made up
	eventAdmitted  = "admitted"  // the call is known: it waits, or was decided at once
	eventDecided   = "decided"   // it waits no longer
	eventEnded     = "ended"     // it ran
	eventCancelled = "cancelled" // it was withdrawn by this agent
	eventError     = "error"     // the core refused the request; Code and ErrorArgs say why
)

// event is one line about an order.
type event struct {
	ID       string `json:"id"`
	Event    string `json:"event"`
	Call     string `json:"call,omitempty"`
	Question string `json:"question,omitempty"`
	State    string `json:"state,omitempty"`
	Outcome  string `json:"outcome,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Message  string `json:"message,omitempty"`
	Comment  string `json:"comment,omitempty"`
	Boundary string `json:"boundary,omitempty"`

	Output   string   `json:"output,omitempty"`
	Exit     *int     `json:"exit,omitempty"`
	Signal   string   `json:"signal,omitempty"`
	Receipts []string `json:"receipts,omitempty"`

	Code      string            `json:"code,omitempty"`
	ErrorArgs map[string]string `json:"error_args,omitempty"`
}

// about makes the event of a call's status.
func about(id, kind string, s wire.CallStatus) event {
	return event{
		ID: id, Event: kind, Call: s.Call, Question: s.Question, State: s.State, Outcome: s.Outcome, Reason: s.Reason,
		Rule: s.Rule, Message: s.Message, Comment: s.Comment, Boundary: s.Boundary,
	}
}
