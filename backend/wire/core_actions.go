package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign/backend/capability"
)

// Subscribe asks for the frames after seq After of the core run Epoch. An empty epoch asks for what comes from now on.
type Subscribe struct {
	Epoch string `json:"epoch,omitempty"`
	After uint64 `json:"after,omitempty"`
}

// Subscribed answers Subscribe. Frames follow after Seq; with Reload the frames between were lost, and the client takes
// a new snapshot, whose own seq tells which of the frames that follow it already holds.
type Subscribed struct {
	Epoch  string `json:"epoch"`
	Seq    uint64 `json:"seq"`
	Reload bool   `json:"reload,omitempty"`
}

// UnlockTerminal proves presence on the caller's terminal session by the desk passphrase.
type UnlockTerminal struct {
	Passphrase string `json:"passphrase"`
}

// Format keeps the passphrase out of every printed form.
func (UnlockTerminal) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// Unlocked says until when answers from this terminal session count.
type Unlocked struct {
	Until time.Time `json:"until"`
}

// Pong answers ping.
type Pong struct {
	Epoch string    `json:"epoch"`
	Time  time.Time `json:"time"`
}

// Status describes the running core.
type Status struct {
	Version     string    `json:"version"`
	Wire        int       `json:"wire"` // version of the wire it speaks
	PID         int       `json:"pid"`
	Epoch       string    `json:"epoch"`
	Seq         uint64    `json:"seq"`
	Fingerprint string    `json:"fingerprint"` // of the core's key, as pinned by connect
	StartedAt   time.Time `json:"started_at"`
	Sessions    int       `json:"sessions"`  // live
	Questions   int       `json:"questions"` // open
	Calls       int       `json:"calls"`     // not finished
	Unlocked    bool      `json:"unlocked"`  // answers from the asking terminal count now
	Boundary    Boundary  `json:"boundary"`  // what commands run in
	Problems    []Problem `json:"problems"`  // what is degraded, worst first
	ReadOnly    bool      `json:"read_only"` // the store cannot be written: everything is denied
	SocketPath  string    `json:"socket"`
	StatePath   string    `json:"state_path"`
	Pause       DeskPause `json:"pause"`
	Window      bool      `json:"window"` // it has a window, which shows links and answers; a core without one has not
}

// Boundary tells what the broker could show about isolation.
type Boundary struct {
	Enforcement capability.Enforcement `json:"enforcement"`
	Backend     string                 `json:"backend"`
	Version     string                 `json:"version,omitempty"`
	Protections []Protection           `json:"protections,omitempty"`
}

// Protection is one protection that the platform's profile demands.
type Protection struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
	Fix    string `json:"fix,omitempty"` // how to mend it
}

// Problem is one degraded condition: a code with the arguments of its sentence.
type Problem struct {
	Code string            `json:"code"`
	Args map[string]string `json:"args,omitempty"`
}

// ListReceipts lists receipt records, newest first.
type ListReceipts struct {
	Session string `json:"session,omitempty"`
	Call    string `json:"call,omitempty"`
	Limit   int    `json:"limit,omitempty"` // 0: as many as the core gives
}

// Receipts is a list of receipt records.
type Receipts struct {
	Receipts []Receipt `json:"receipts"`
}

// GetReceipt asks for one record.
type GetReceipt struct {
	ID string `json:"id"`
}

// Receipt is one signed record. Envelope is it as it is kept, for whoever verifies it without the core.
type Receipt struct {
	Record   capability.Record `json:"record"`
	Digest   string            `json:"digest,omitempty"`
	Subject  string            `json:"subject,omitempty"` // what the call was about, from the store: not signed
	Envelope json.RawMessage   `json:"envelope,omitempty"`
}

// ReceiptIssued is the frame about a command that ended, by the ids of its records.
type ReceiptIssued struct {
	Call  string `json:"call"`
	Start string `json:"start"`
	End   string `json:"end"`
}

// Verification says whether the chain of receipts holds.
type Verification struct {
	OK      bool   `json:"ok"`
	Records int    `json:"records"`           // read and found good
	Open    int    `json:"open"`              // start records without an end
	Problem string `json:"problem,omitempty"` // what is wrong, with the first bad record
	Record  string `json:"record,omitempty"`  // id or position of the first bad record
}
