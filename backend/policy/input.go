package policy

import (
	"encoding/json"
	"time"

	"countersign/backend/pathid"
)

// Mode is a permission mode. Parse with ParseMode.
type Mode string

// The permission modes.
const (
	ModeAsk         Mode = "ask"
	ModeAcceptEdits Mode = "acceptEdits"
	ModePlan        Mode = "plan"
	ModeAuto        Mode = "auto"
	ModeBypass      Mode = "bypass"
)

// Boundary says how a call will run, weakest first: an allow rule covers a call only at its own boundary or a
// stronger one.
type Boundary string

// The boundaries.
const (
	BoundaryAny      Boundary = "any"      // released to the agent: nothing is said about a boundary
	BoundaryEnforced Boundary = "enforced" // runs here, in the broker, or as a checked write
)

// Call is one operation an agent proposes, with everything that is frozen about it.
type Call struct {
	Tool     string          // as the agent sends it; Examine makes it canonical
	Args     json.RawMessage // as the agent sends it
	Cwd      string          // absolute; the working directory the call starts in
	Roots    []string        // absolute, resolved; the session's roots
	Home     string          // the owner's home directory, for ~ and for what must not be touched
	Platform pathid.Platform // whose path and shell rules judge this call
	Shell    string          // "" or "bash": bash; "powershell", "cmd"
	Own      Own             // what belongs to Countersign itself
	Surface  string          // "origin#surface" as registered for the tool, never from the call's words; "" none
}

// Own is what fixed constraint 1 protects: absolute paths of Countersign's own state, configuration, key material,
// sockets, installed binaries, autostart entries and of the agents' settings files that hold its hook entries.
type Own struct {
	Paths    []string // files and directories
	Binaries []string // base names of our programs, without extension

	Applications []string // directories of auto-imported applications, which no model tool may write
}

// Session is the snapshot of a session that a decision is made under.
type Session struct {
	ID          string
	Mode        Mode
	Plan        bool // plan flag beside the mode: plan beats every mode
	Interactive bool // an owner is expected
	Attended    bool // question tools may wait for a person
}

// GateAnswer is what one gate said. Err is not empty when the gate failed: that asks.
type GateAnswer struct {
	Name    string
	Outcome Outcome // Deny, Ask, or "" for pass
	Reason  string
	Err     string
}

// Classification is the auto-mode classifier's answer. Only Safe == true with Err == "" allows.
type Classification struct {
	Safe   bool
	Reason string
	Err    string
}

// Input is everything Decide looks at.
type Input struct {
	Facts          *Facts // from Examine; nil denies
	Authority      Authority
	Session        Session
	Rules          RuleSet
	Surfaces       []string // exact Web Use grants, "origin#surface"
	Gates          []GateAnswer
	ToolAsks       string // why the tool itself declares that these arguments need approval; "" it does not
	Boundary       Boundary
	BoxedReads     bool // the owner lets unmatched commands run under a read-only ceiling
	OutsideRoots   bool // the payload's working directory lies outside the session's roots: the call asks
	Classification *Classification
}

// List names the list a rule stands in.
type List string

// The rule lists.
const (
	ListDeny  List = "deny"
	ListAsk   List = "ask"
	ListAllow List = "allow"
)

// Source says where a rule is kept. Sources are concatenated, never overridden.
type Source string

// The rule sources.
const (
	SourceManaged    Source = "managed"
	SourceGlobal     Source = "global"
	SourceProject    Source = "project"
	SourceSession    Source = "session"
	SourceRepository Source = "repository"
)

// SourcedRule is a rule with the list, place and weakest boundary it was saved with.
type SourcedRule struct {
	ID       string    `json:"id,omitempty"` // where it is kept, for removing it; "" for what stands in a file
	Rule     Rule      `json:"rule"`         // marshals as its canonical text
	List     List      `json:"list"`
	Source   Source    `json:"source"`
	Boundary Boundary  `json:"boundary"` // allow rules only; "" means enforced
	Created  time.Time `json:"created,omitzero"`
	By       string    `json:"by,omitempty"`   // principal id
	From     string    `json:"from,omitempty"` // question id of the card it was made from

	Expires  time.Time `json:"expires,omitzero"`    // wall clock; zero never. Whoever makes the rule set leaves expired ones out
	Match    []string  `json:"match,omitempty"`     // calls that it must match (CheckExamples)
	NotMatch []string  `json:"not_match,omitempty"` // calls that it must not

	// Uses and LastMatch say how often it decided; they are filled in for listings.
	Uses      int       `json:"uses,omitempty"`
	LastMatch time.Time `json:"last_match,omitzero"`

	// Trusted is set for the rules of a repository file that the owner trusted in that root by its exact digest. Allow
	// rules of SourceRepository without it are ignored.
	Trusted bool `json:"trusted,omitempty"`
}

// UnreadableSource is a source of rules that could not be read or parsed as a whole: everything it could have
// covered asks until it is mended.
type UnreadableSource struct {
	Source Source `json:"source"`
	Where  string `json:"where"` // file and entry, or the id of a kept rule
	Err    string `json:"err"`
}

// RuleSet is all rules that apply to one decision.
type RuleSet struct {
	Rules      []SourcedRule
	Unreadable []UnreadableSource

	index *ruleIndex // from Index; nil looks at every rule
}
