package wire

import (
	"time"

	"countersign/backend/policy"
)

// PausedByOwner is Session.Paused when the owner did it; otherwise it is a sentence about what the agent did.
const PausedByOwner = "paused_by_owner"

// The events of a session.
const (
	SessionStart  = "start"
	SessionEnd    = "end"
	SessionPrompt = "prompt" // a new turn begins
	SessionStop   = "stop"   // the turn ended
)

// SessionEvent tells what an agent's session did.
type SessionEvent struct {
	Agent        string `json:"agent"`
	SessionClaim string `json:"session_claim"`
	Event        string `json:"event"` // SessionStart, SessionEnd, SessionPrompt or SessionStop
	Cwd          string `json:"cwd,omitempty"`
	Execution    string `json:"execution,omitempty"`
	Interactive  bool   `json:"interactive,omitempty"`
}

// SessionEventResult answers a session event. Context is one line for the model, where the agent has a place for it.
type SessionEventResult struct {
	Session string `json:"session"`
	Paused  bool   `json:"paused,omitempty"`
	Context string `json:"context,omitempty"`
}

// ListSessions lists the sessions, live ones only unless Ended is set.
type ListSessions struct {
	Ended bool `json:"ended,omitempty"`
}

// Sessions is a list of sessions, newest first, as of Seq.
type Sessions struct {
	Sessions []Session `json:"sessions"`
	Epoch    string    `json:"epoch"`
	Seq      uint64    `json:"seq"`
}

// Session is one run of an agent, as it is shown.
type Session struct {
	ID          string      `json:"id"`
	Agent       string      `json:"agent"`
	Claim       string      `json:"claim"` // the session id the agent gives itself
	Root        Process     `json:"root"`  // the agent's root process
	Verified    bool        `json:"verified"`
	Roots       []string    `json:"roots"`
	Project     string      `json:"project"`
	Mode        policy.Mode `json:"mode"`
	ModeVersion int         `json:"mode_version"`
	// AutoPaused says that auto mode is paused, because the classifier blocked call after call, until a mode is set.
	AutoPaused  bool      `json:"auto_paused,omitempty"`
	Sandbox     string    `json:"sandbox_policy"`
	Interactive bool      `json:"interactive"`
	Attended    bool      `json:"attended"`
	Paused      string    `json:"paused,omitempty"` // why everything from it is refused
	StartedAt   time.Time `json:"started_at"`
	EndedAt     time.Time `json:"ended_at,omitzero"`
}

// SetPermissionMode changes a session's mode if its version still is ExpectedVersion. Otherwise the error is
// CodeConflict with the arguments mode and version that stand.
type SetPermissionMode struct {
	Session         string      `json:"session"`
	Mode            policy.Mode `json:"mode"`
	ExpectedVersion int         `json:"expected_version"`
}

// GetPermissionState asks for a session's mode.
type GetPermissionState struct {
	Session string `json:"session"`
}

// PermissionState is a session's confirmed mode. A lower version never replaces a higher one.
type PermissionState struct {
	Session string      `json:"session"`
	Mode    policy.Mode `json:"mode"`
	Version int         `json:"version"`
	Owner   string      `json:"owner,omitempty"` // principal that set it, "" for the configured mode
}

// ResumeSession lifts the pause of a session.
type ResumeSession struct {
	Session string `json:"session"`
}

// SetAttended says whether a session's own questions may wait for the owner.
type SetAttended struct {
	Session  string `json:"session"`
	Attended bool   `json:"attended"`
}

// ChangeRoot adds a directory to the roots of a session, or takes one that was added away.
type ChangeRoot struct {
	Session   string `json:"session"`
	Directory string `json:"directory"` // absolute
}

// SetSurface says what a browser tool of a session acts on: from now on its calls are about this origin and surface, whatever
// they say themselves. With an empty origin it is taken away.
type SetSurface struct {
	Session string `json:"session"`
	Server  string `json:"server,omitempty"` // MCP server whose tools act on it; "" the agent's own browser tool
	Origin  string `json:"origin"`           // "https://example.org"
	Surface string `json:"surface"`
	Granted bool   `json:"granted"` // its calls may go ahead without asking
}
