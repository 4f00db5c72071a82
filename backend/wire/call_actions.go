package wire

import "encoding/json"

// MaxWaitMS is the longest wait of one await_call, in milliseconds. A longer wait is a loop of these: the wait itself
// lives in the core, so nothing is lost between two of them.
const MaxWaitMS = 55_000

// Values of AdmitCall.Runs.
const (
	RunsAgent = ""     // the agent executes; a command is redeemed here where the adapter rewrites the call
	RunsDesk  = "desk" // the desk's own tool executes, by perform_call
)

// Values of AdmitCall.ExpiresInSeconds that are not a number of seconds.
const (
	ExpiresDefault = 0  // as the core is configured, 300 s
	ExpiresNever   = -1 // the question stays until it is answered or its origin is gone
)

// AdmitCall proposes one operation of an agent. What is claimed here is claimed: who asks comes from the connection.
type AdmitCall struct {
	Agent            string          `json:"agent"`         // adapter name: "claude", "demo" …
	SessionClaim     string          `json:"session_claim"` // the session id the agent gives itself
	Execution        string          `json:"execution"`     // the turn
	ToolCall         string          `json:"tool_call,omitempty"`
	Tool             string          `json:"tool"` // as the agent names it
	Args             json.RawMessage `json:"args"` // as the agent sends it
	Cwd              string          `json:"cwd"`
	Interactive      bool            `json:"interactive"`                  // an owner is expected; false denies what would ask
	ExpiresInSeconds int             `json:"expires_in_seconds,omitempty"` // of the question; ExpiresDefault or ExpiresNever
	// Ordinal tells equal calls of one execution apart where the agent gives no tool call id.
	Ordinal int    `json:"ordinal,omitempty"`
	Runs    string `json:"runs,omitempty"` // RunsAgent or RunsDesk
	// ToolAsks says why the tool itself declares that these arguments need approval: an adapter passes on what the tool's
	// server or the agent says. It can only make the call ask.
	ToolAsks string `json:"tool_asks,omitempty"`
}

// CallStatus tells where a call stands. State and Outcome are words of the call's life (package approval). Anything
// but Allowed() must be treated as "no".
type CallStatus struct {
	Call     string `json:"call"`
	State    string `json:"state"`              // proposed, waiting, allowed, running, released, finished
	Outcome  string `json:"outcome,omitempty"`  // of a finished call
	Reason   string `json:"reason,omitempty"`   // policy.Reason of the verdict
	Rule     string `json:"rule,omitempty"`     // the rule that decided, as text
	Sub      string `json:"sub,omitempty"`      // sub-reason of a fixed constraint
	Question string `json:"question,omitempty"` // while it waits, and after
	Message  string `json:"message,omitempty"`  // one sentence for the model
	Comment  string `json:"comment,omitempty"`  // the owner's note, word for word
	Here     bool   `json:"here,omitempty"`     // redeemed or performed here; false: the agent executes it
	Boundary string `json:"boundary,omitempty"` // policy.Boundary: what holds it when it runs
	Digest   string `json:"digest,omitempty"`   // binding digest of what was admitted
	Age      int64  `json:"age,omitempty"`      // seconds since it was admitted: more than a few means re-attached
}

// Waiting reports whether the call still waits for a decision.
func (s CallStatus) Waiting() bool { return s.State == "waiting" || s.State == "proposed" }

// Allowed reports whether the call may go ahead: redeemed or performed here, or executed by the agent when it was
// released. An empty or unknown state is not allowed, and neither is a call that already ran.
func (s CallStatus) Allowed() bool { return s.State == "allowed" || s.State == "released" }

// AwaitCall waits until a call no longer waits, at most WaitMS milliseconds (MaxWaitMS).
type AwaitCall struct {
	Call   string `json:"call"`
	WaitMS int    `json:"wait_ms"`
}

// PerformCall has the desk execute an allowed call of one of its own tools.
type PerformCall struct {
	Call string `json:"call"`
}

// PerformResult is what a tool of the desk answers to the model.
type PerformResult struct {
	Content  string   `json:"content"`
	IsError  bool     `json:"is_error"`
	Receipts []string `json:"receipts,omitempty"` // record ids
}

// RedeemCall runs an allowed command in the broker on the three descriptors sent with the request (stdin, stdout,
// stderr, in this order). The reply comes when it ended; disconnecting ends it. Rows and Cols are the client's
// terminal size, 0 without one.
type RedeemCall struct {
	Call string `json:"call"`
	Rows uint16 `json:"rows,omitempty"`
	Cols uint16 `json:"cols,omitempty"`
}

// RunResult tells how a redeemed command ended.
type RunResult struct {
	Exit        *int   `json:"exit,omitempty"`      // exit status; absent when killed by a signal
	Signal      string `json:"signal,omitempty"`    // name of the signal that killed it
	Cause       string `json:"cause,omitempty"`     // why it ended, when not by itself
	Directory   string `json:"directory,omitempty"` // final directory of the shell
	StartRecord string `json:"start_record,omitempty"`
	EndRecord   string `json:"end_record,omitempty"`
	Error       *Error `json:"error,omitempty"` // what went wrong around a command that did run
}

// SignalCall passes a signal to the processes of a running call: SIGINT, SIGTERM, SIGHUP or SIGQUIT.
type SignalCall struct {
	Call   string `json:"call"`
	Signal string `json:"signal"`
}

// ResizeCall passes a new terminal size to a running call.
type ResizeCall struct {
	Call string `json:"call"`
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// CallRef names a call.
type CallRef struct {
	Call string `json:"call"`
}

// CancelCall ends a call that was not redeemed yet. AnsweredInAgent says that the agent's own prompt answered it.
type CancelCall struct {
	Call            string `json:"call"`
	AnsweredInAgent bool   `json:"answered_in_agent,omitempty"`
}

// CallDirectory is the directory a command ended in, or the one it started in.
type CallDirectory struct {
	Directory string `json:"directory"`
}

// PermissionCall asks what an agent's own permission prompt is to be answered. Either Call names the call (a rewritten
// line carries its id), or Tool and Args say what the prompt is about.
type PermissionCall struct {
	Agent        string          `json:"agent"`
	SessionClaim string          `json:"session_claim"`
	Execution    string          `json:"execution,omitempty"`
	Call         string          `json:"call,omitempty"`
	Tool         string          `json:"tool,omitempty"`
	Args         json.RawMessage `json:"args,omitempty"`
	Cwd          string          `json:"cwd,omitempty"`
}

// The outcomes of a PermissionResult.
const (
	PermissionAllow   = "allow"
	PermissionDeny    = "deny"
	PermissionUnknown = "unknown" // nothing was decided about this: the call must be admitted
)

// PermissionResult answers an agent's own prompt from the recorded decision. Anything but PermissionAllow is "no".
type PermissionResult struct {
	Outcome string `json:"outcome"`
	Call    string `json:"call,omitempty"`
	Message string `json:"message,omitempty"`
}

// ReportCall tells that the agent executed something, as its own event after the call says.
type ReportCall struct {
	Agent        string          `json:"agent"`
	SessionClaim string          `json:"session_claim"`
	Execution    string          `json:"execution,omitempty"`
	ToolCall     string          `json:"tool_call,omitempty"`
	Tool         string          `json:"tool"`
	Args         json.RawMessage `json:"args"` // of what was executed: compared with what was allowed
	// Call is the id in the line that ran, when it was exactly the line an allowed command is rewritten to.
	Call   string `json:"call,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	Cwd    string `json:"cwd,omitempty"`
}

// ReportResult says whether the session is paused because something else was executed than was allowed.
type ReportResult struct {
	Paused  bool   `json:"paused"`
	Message string `json:"message,omitempty"` // for the model and the person in front of it
}
