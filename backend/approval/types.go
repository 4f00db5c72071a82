package approval

import (
	"encoding/json"
	"time"

	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
)

// Tx is one transaction of the store. Values are JSON. Buckets are named by the package that owns them; keys are
// compared as bytes. A Tx must not be used after its function returned.
type Tx interface {
	// Get reads key into v and reports whether it exists.
	Get(bucket, key string, v any) (bool, error)
	// Put writes v under key.
	Put(bucket, key string, v any) error
	// Delete removes key; a missing key is not an error.
	Delete(bucket, key string) error
	// Each calls fn for every key with the given prefix, in byte order, until fn returns an error. ErrStop ends the
	// walk without an error. raw is valid only during the call.
	Each(bucket, prefix string, fn func(key string, raw json.RawMessage) error) error
}

// Store runs transactions. Update commits durably before it returns nil; when fn or the commit fails nothing changed.
type Store interface {
	Update(fn func(Tx) error) error
	View(fn func(Tx) error) error
}

// Clock tells the wall-clock time. Expiry is by wall clock, so that a suspended machine does not extend a wait.
type Clock interface{ Now() time.Time }

// CallState is where a call stands in its life (the table above Next).
type CallState string

// The states of a call.
const (
	CallProposed CallState = "proposed"
	CallWaiting  CallState = "waiting"
	CallAllowed  CallState = "allowed" // by decision or by answer; not redeemed yet
	CallRunning  CallState = "running"
	CallReleased CallState = "released" // the agent executes it itself
	CallFinished CallState = "finished"
)

// CallOutcome says how a finished call ended. A time-out is never recorded as a denial by a person.
type CallOutcome string

// The outcomes of a finished call.
const (
	OutcomeDone            CallOutcome = "done"              // ran here, with a receipt
	OutcomeDenied          CallOutcome = "denied"            // by policy
	OutcomeRefused         CallOutcome = "refused"           // by the owner's answer
	OutcomeExpired         CallOutcome = "expired"           // nobody answered in time, or an allow was not redeemed in time
	OutcomeCancelled       CallOutcome = "cancelled"         // by the client
	OutcomeOriginGone      CallOutcome = "origin_gone"       // the agent's process ended while it waited
	OutcomeAnsweredInAgent CallOutcome = "answered_in_agent" // in the agent's own prompt
	OutcomeReported        CallOutcome = "reported"          // released, and the agent reported that it ran
	OutcomeUnreported      CallOutcome = "unreported"        // released, and nothing was heard
	OutcomeFailed          CallOutcome = "failed"            // was to run here and could not be started
	OutcomeUnknown         CallOutcome = "unknown"           // was running when the core stopped: never run twice
)

// Call is one admitted operation. What was admitted is immutable; only the fields under "life" change.
type Call struct {
	ID            string               `json:"id"` // UUIDv7
	Key           string               `json:"key"`
	Session       string               `json:"session"`
	Project       string               `json:"project"`
	Execution     string               `json:"execution"` // the turn
	ToolCall      string               `json:"tool_call,omitempty"`
	Principal     policy.Authority     `json:"principal"`
	Agent         string               `json:"agent"`              // "claude", "demo" …
	Tool          string               `json:"tool"`               // canonical
	AgentTool     string               `json:"agent_tool"`         // as sent
	Args          json.RawMessage      `json:"args"`               // as sent
	Cwd           string               `json:"cwd"`                // resolved
	CwdIdentity   pathid.Identity      `json:"cwd_identity"`       //
	Roots         []string             `json:"roots"`              // resolved
	Environment   map[string]string    `json:"environment"`        // composed and frozen at admission; may hold no credentials
	Here          bool                 `json:"here"`               // runs here, redeemed or performed; false: the agent executes it
	Boundary      policy.Boundary      `json:"boundary"`           // what holds it when it runs
	Script        string               `json:"script,omitempty"`   // of a command that runs here: the text that was judged, for bash
	Capability    *capability.Snapshot `json:"capability"`         // effective, frozen at admission; nil when released
	Preconditions json.RawMessage      `json:"preconditions"`      // file snapshots, for write tools; opaque here
	Proposed      string               `json:"proposed,omitempty"` // digest of what the client sent; see Recognition
	Digest        string               `json:"digest"`             // binding digest of all the above that is to run
	Interactive   bool                 `json:"interactive"`
	CreatedAt     time.Time            `json:"created_at"`

	// Life.
	State     CallState      `json:"state"`
	Outcome   CallOutcome    `json:"outcome,omitempty"`
	Verdict   policy.Verdict `json:"verdict"`
	Question  string         `json:"question,omitempty"`
	Comment   string         `json:"comment,omitempty"` // the owner's note, for the model
	Answerer  string         `json:"answerer,omitempty"`
	StopTurn  bool           `json:"stop_turn,omitempty"` // refused, and the owner wants the turn to end
	Deadline  time.Time      `json:"deadline,omitzero"`   // when the wait or the unredeemed allow expires; zero: never
	DecidedAt time.Time      `json:"decided_at,omitzero"` // allow, deny or answer
	StartedAt time.Time      `json:"started_at,omitzero"`
	EndedAt   time.Time      `json:"ended_at,omitzero"`
	Exit      *int           `json:"exit,omitempty"`
	Signal    string         `json:"signal,omitempty"`
	Directory string         `json:"directory,omitempty"` // final directory of a shell command
	Receipts  []string       `json:"receipts,omitempty"`  // record ids
	Failure   string         `json:"failure,omitempty"`   // error code when Outcome is failed
}

// QuestionKind is the kind of a question.
type QuestionKind string

// The question kinds. This version opens approvals only; the others are reserved words of the wire.
const (
	KindApproval QuestionKind = "approval"
	KindAsk      QuestionKind = "ask"
	KindConfirm  QuestionKind = "confirm"
	KindForm     QuestionKind = "form"
	KindAskMany  QuestionKind = "ask_many"
)

// Scope is how far an offer reaches.
type Scope string

// The scopes of an offer.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session"
	ScopeProject Scope = "project"
	ScopeGlobal  Scope = "global"
)

// Offer is one scope the owner may allow. It is defined by the core; a reply names its number.
type Offer struct {
	Number   int             `json:"number"` // from 1
	Scope    Scope           `json:"scope"`
	Rules    []string        `json:"rules,omitempty"`    // the exact rule texts that would be saved
	Boundary policy.Boundary `json:"boundary,omitempty"` // the weakest boundary those rules cover
}

// QuestionState is where a question stands.
type QuestionState string

// The states of a question.
const (
	QuestionOpen   QuestionState = "open"
	QuestionClosed QuestionState = "closed"
)

// Question is one durable question to the owner.
type Question struct {
	ID        string          `json:"id"` // UUIDv7
	Version   int             `json:"version"`
	Kind      QuestionKind    `json:"kind"`
	State     QuestionState   `json:"state"`
	Session   string          `json:"session"`
	Execution string          `json:"execution"`
	Call      string          `json:"call"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool"`
	Prompt    string          `json:"prompt"` // one sentence
	Detail    json.RawMessage `json:"detail"` // what the card shows: desk.Card
	Risk      string          `json:"risk"`   // low, medium, high
	Reason    policy.Reason   `json:"reason"`
	Offers    []Offer         `json:"offers"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at,omitzero"` // zero: never
	HoldUntil time.Time       `json:"hold_until,omitzero"` // the client itself waits no longer; zero: as long as it takes
	ShownAt   time.Time       `json:"shown_at,omitzero"`   // when its card was first shown (Shown); zero: not yet

	// Set when closed.
	Outcome  string    `json:"outcome,omitempty"` // "allow", "deny", or the CallOutcome that closed it
	Offer    int       `json:"offer,omitempty"`
	Comment  string    `json:"comment,omitempty"`
	Answerer string    `json:"answerer,omitempty"`
	Through  string    `json:"through,omitempty"` // the question whose "deny and stop the turn" denied this one
	ClosedAt time.Time `json:"closed_at,omitzero"`
}

// The frames of an Event.
const (
	FrameAsked   = "question.asked"
	FrameUpdated = "question.updated" // shown or extended; what is asked stays as it is
	FrameClosed  = "question.closed"
	FrameCall    = "call.updated"
)

// Event is something that was committed and is now to be published. Events are returned in commit order.
type Event struct {
	Frame    string    // one of the frames above
	Call     *Call     // the call as committed, when the frame is about a call
	Question *Question // the question as committed, when the frame is about a question
}
