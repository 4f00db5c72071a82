package wire

import (
	"encoding/json"
	"time"

	"countersign/backend/policy"
)

// QuestionReply allows a call, or answers a question. It is applied once per command id; the offer's number names one
// of the question's own offers.
type QuestionReply struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Offer   int    `json:"offer"`
	Comment string `json:"comment,omitempty"` // for the model
}

// QuestionReject denies a call. StopTurn also denies the session's other open ordinary approvals.
type QuestionReject struct {
	ID       string `json:"id"`
	Version  int    `json:"version"`
	Comment  string `json:"comment,omitempty"` // for the model
	StopTurn bool   `json:"stop_turn,omitempty"`
}

// AnswerResult says what an answer did.
type AnswerResult struct {
	Applied bool   `json:"applied"`
	Outcome string `json:"outcome"` // of the question: "allow" or "deny"
	Version int    `json:"version"`
}

// ListQuestions lists the open questions, of one session when Session is set.
type ListQuestions struct {
	Session string `json:"session,omitempty"`
	Brief   bool   `json:"brief,omitempty"` // without details
}

// Questions is a list of questions, oldest first, as of Seq.
type Questions struct {
	Questions []Question `json:"questions"`
	More      int        `json:"more,omitempty"` // open ones that did not fit
	Epoch     string     `json:"epoch"`
	Seq       uint64     `json:"seq"`
}

// Question is one question to the owner. Its fields carry the same names as approval.Question, from which it is made.
type Question struct {
	ID        string          `json:"id"`
	Version   int             `json:"version"`
	Kind      string          `json:"kind"`
	State     string          `json:"state"` // open or closed
	Session   string          `json:"session"`
	Execution string          `json:"execution"`
	Call      string          `json:"call"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool"`
	Prompt    string          `json:"prompt"`
	Detail    json.RawMessage `json:"detail,omitempty"` // what the card shows
	Risk      string          `json:"risk"`             // low, medium, high
	Reason    policy.Reason   `json:"reason"`
	Offers    []Offer         `json:"offers"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at,omitzero"` // zero: never
	HoldUntil time.Time       `json:"hold_until,omitzero"` // the client itself waits no longer; zero: as long as it takes
	ShownAt   time.Time       `json:"shown_at,omitzero"`   // when its card was first shown; zero: not yet

	Outcome  string    `json:"outcome,omitempty"` // when closed
	Offer    int       `json:"offer,omitempty"`
	Comment  string    `json:"comment,omitempty"`
	Answerer string    `json:"answerer,omitempty"`
	ClosedAt time.Time `json:"closed_at,omitzero"`
}

// Offer is one scope that a question offers.
type Offer struct {
	Number   int             `json:"number"` // from 1
	Scope    string          `json:"scope"`  // once, session, project, global
	Rules    []string        `json:"rules,omitempty"`
	Boundary policy.Boundary `json:"boundary,omitempty"`
}

// ListCalls lists calls, newest first, of one session when Session is set.
type ListCalls struct {
	Session string `json:"session,omitempty"`
	Limit   int    `json:"limit,omitempty"` // 0: as many as the core gives
}

// Calls is a list of calls as of Seq.
type Calls struct {
	Calls []Call `json:"calls"`
	Epoch string `json:"epoch"`
	Seq   uint64 `json:"seq"`
}

// Call is one admitted call, as it is shown. The environment frozen with it stays in the core.
type Call struct {
	ID        string          `json:"id"`
	Session   string          `json:"session"`
	Project   string          `json:"project"`
	Execution string          `json:"execution"`
	ToolCall  string          `json:"tool_call,omitempty"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool"`
	AgentTool string          `json:"agent_tool"`
	Args      json.RawMessage `json:"args,omitempty"`
	Omitted   map[string]int  `json:"omitted,omitempty"` // arguments left out for their length, with their bytes; "" all of them
	Cwd       string          `json:"cwd"`
	Boundary  policy.Boundary `json:"boundary"`
	Digest    string          `json:"digest"`
	State     string          `json:"state"`
	Outcome   string          `json:"outcome,omitempty"`
	Verdict   policy.Verdict  `json:"verdict"`
	Question  string          `json:"question,omitempty"`
	Comment   string          `json:"comment,omitempty"`
	Answerer  string          `json:"answerer,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	DecidedAt time.Time       `json:"decided_at,omitzero"`
	StartedAt time.Time       `json:"started_at,omitzero"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
	Exit      *int            `json:"exit,omitempty"`
	Signal    string          `json:"signal,omitempty"`
	Directory string          `json:"directory,omitempty"`
	Receipts  []string        `json:"receipts,omitempty"`
	Failure   string          `json:"failure,omitempty"`
}

// GetQuestion asks for one question, open or closed.
type GetQuestion struct {
	ID string `json:"id"`
}
