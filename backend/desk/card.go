package desk

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/winlock"
	"countersign/backend/wire"
)

// maxSays is how much of the agent's own description a card shows, in bytes.
const maxSays = 4 << 10

// Card is what a person is shown about a call: facts first, the agent's words last. Text in it is untrusted; whoever
// displays it escapes it. Parts count bytes of Command as it stands here; Runs are relative to Cwd where they lie in it.
type Card struct {
	Agent     string               `json:"agent"`
	Verified  bool                 `json:"verified"` // identity checked, or only claimed
	Program   string               `json:"program"`  // path of the agent's root process
	PID       int                  `json:"pid"`
	Chain     []string             `json:"chain"` // names of the processes above the root process, nearest first
	Project   string               `json:"project"`
	Tool      string               `json:"tool"`
	AgentTool string               `json:"agent_tool"`
	Command   string               `json:"command,omitempty"` // whole, never cut
	Parts     []policy.Part        `json:"parts,omitempty"`
	Opaque    string               `json:"opaque,omitempty"` // why the command could not be analysed in full
	Args      json.RawMessage      `json:"args"`
	Omitted   map[string]int       `json:"omitted,omitempty"` // arguments left out for their length, with their bytes; "" all of them
	Targets   []string             `json:"targets,omitempty"` // files that would be written
	Files     []winlock.Snapshot   `json:"files,omitempty"`   // the state that was approved
	Runs      []string             `json:"runs"`              // files of the workspace that it runs, as far as found: bound to what they hold
	Cwd       string               `json:"cwd"`
	Effective *capability.Snapshot `json:"effective,omitempty"` // nil: nothing is said about a boundary
	Here      bool                 `json:"here"`                // runs here; false: the agent executes it
	Boundary  policy.Boundary      `json:"boundary"`
	Backend   string               `json:"backend,omitempty"`
	Verdict   policy.Verdict       `json:"verdict"`
	Risk      policy.Risk          `json:"risk"`
	Says      string               `json:"says,omitempty"` // the agent's words
}

// question opens the question for an ask verdict.
func (d *Desk) question(s Session, p prepared, v policy.Verdict, in wire.AdmitCall) approval.Question {
	args, omitted := shownArgs(p.call.Args)
	card := Card{
		Agent: s.Agent, Verified: s.Verified, Program: s.Root.Exe, PID: s.Root.PID, Chain: append([]string{}, s.Above...), Project: s.Project,
		Tool: p.call.Tool, AgentTool: p.call.AgentTool, Command: p.facts.Command(), Parts: policy.TagParts(p.facts, p.input),
		Opaque: p.facts.Opaque(), Args: args, Omitted: omitted, Targets: p.facts.Writes(), Files: p.snapshots, Cwd: p.call.Cwd,
		Runs:      shownRuns(d.platform, p.call.Cwd, p.runs),
		Effective: p.call.Capability, Here: p.call.Here, Boundary: p.call.Boundary, Verdict: v, Risk: p.facts.RiskUnder(p.call.Boundary), Says: says(p.call.Args),
	}
	if p.call.Capability != nil {
		card.Backend = d.broker.Probe(context.Background()).Backend
	}
	detail, err := json.Marshal(card)
	if err != nil {
		d.log.Error("card", "error", err)
		detail = json.RawMessage("{}")
	}
	now := d.clock.Now()
	expires, hold := now.Add(d.options.Config.Expiry()), time.Time{}
	switch {
	case in.ExpiresInSeconds > 0:
		expires = now.Add(time.Duration(min(in.ExpiresInSeconds, maxExpirySeconds)) * time.Second)
		hold = expires // the client itself waits no longer
	case in.ExpiresInSeconds == wire.ExpiresNever:
		expires = time.Time{}
	}
	return approval.Question{
		ID: newID(), Version: 1, Kind: approval.KindApproval, State: approval.QuestionOpen,
		Session: s.ID, Execution: p.call.Execution, Call: p.call.ID, Agent: s.Agent, Tool: p.call.Tool,
		Prompt: sentence(s, p.call), Detail: detail, Risk: card.Risk.Level, Reason: v.Reason,
		Offers: offers(p, v), CreatedAt: now, ExpiresAt: expires, HoldUntil: hold,
	}
}

// offers lists what the owner may choose: once, and for an ordinary ask this session with the narrowest rules that
// would have allowed the call.
func offers(p prepared, v policy.Verdict) []approval.Offer {
	list := []approval.Offer{{Number: 1, Scope: approval.ScopeOnce}}
	rules := policy.SuggestRules(p.facts, v, p.input)
	if len(rules) == 0 || p.once {
		return list
	}
	o := approval.Offer{Number: 2, Scope: approval.ScopeSession, Boundary: p.call.Boundary}
	for _, r := range rules {
		o.Rules = append(o.Rules, r.String())
	}
	return append(list, o)
}

// agentNames are the agents' names as people know them.
var agentNames = map[string]string{"claude": "Claude Code", "demo": "Demo agent (scripted)", TrialAgent: "Countersign test"}

func agentName(agent string) string {
	if name, ok := agentNames[agent]; ok {
		return name
	}
	return agent
}

// sentence is the one sentence a card is labelled with.
func sentence(s Session, c approval.Call) string {
	doing := "wants to use " + c.AgentTool
	switch {
	case policy.IsCommandTool(c.Tool):
		doing = "wants to run a command"
	case policy.IsWriteTool(c.Tool):
		doing = "wants to change a file"
	}
	return agentName(s.Agent) + " " + doing + " in " + filepath.Base(s.Project)
}

// shownRuns names bound files as a person would: from the working directory when they lie in it.
func shownRuns(p pathid.Platform, cwd string, files []runFile) []string {
	shown := make([]string, 0, len(files))
	for _, f := range files {
		name := f.Path
		if rel, err := filepath.Rel(cwd, name); err == nil && pathid.Contains(p, cwd, name) {
			name = rel
		}
		shown = append(shown, name)
	}
	return shown
}

// says returns the description an agent gave with its call, shortened.
func says(args json.RawMessage) string {
	text, _ := argument(args, "description")
	return shortened(text, maxSays)
}

// shortened cuts a text for display at a number of bytes, and shows that it did.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " …"
}
