package wire

import (
	"encoding/json"
	"fmt"
	"time"
)

// MaxMessage is the longest message on the wire, in bytes, its newline included.
const MaxMessage = 4 << 20

// Request asks for one action. CommandID (UUIDv7) names it: the reply carries the same id, and an action that is not
// idempotent by itself is applied once per command id.
type Request struct {
	Action    string          `json:"action"`
	CommandID string          `json:"command_id"`
	Args      json.RawMessage `json:"args,omitempty"`
	// Files is how many descriptors travel with the message, at most MaxFiles. Client sets it.
	Files int `json:"files,omitempty"`
}

// Reply answers one Request: either Result, or Error.
type Reply struct {
	CommandID string          `json:"command_id"`
	Applied   bool            `json:"applied"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *Error          `json:"error,omitempty"`
}

// Frame is something that happened. Seq counts per core epoch; PrevSeq is the seq of the last frame this client was
// shown, so that a client that is shown only some frames can still see a gap.
type Frame struct {
	Frame   string          `json:"frame"`
	Epoch   string          `json:"epoch"` // UUIDv7 of this run of the core
	Seq     uint64          `json:"seq"`
	PrevSeq uint64          `json:"prev_seq"`
	Time    time.Time       `json:"time"`
	Data    json.RawMessage `json:"data"`
}

// Error is an error as it crosses the wire: a code with one documented meaning and the arguments of its sentence.
type Error struct {
	Code string            `json:"code"`
	Args map[string]string `json:"args,omitempty"`
}

// Error implements error. Screens translate the code; this text is for logs.
func (e *Error) Error() string {
	if len(e.Args) == 0 {
		return e.Code
	}
	return fmt.Sprintf("%s %v", e.Code, e.Args)
}

// Process is one process as the kernel describes it.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // start time in the kernel's own unit, only to be compared; with PID it names a process
	Exe   string `json:"exe"`   // path of the program, "" when it cannot be read
	Name  string `json:"name"`  // command name
	// Args are the first arguments, shortened; claimed by the process itself, for display and adapter matching only.
	Args []string `json:"args,omitempty"`
}

// Peer is who is at the other end of a connection, as the kernel says.
type Peer struct {
	UID     int       `json:"uid"`
	TTY     uint64    `json:"tty,omitempty"`     // device number of the controlling terminal, 0 for none
	Session int       `json:"session,omitempty"` // POSIX session id
	Chain   []Process `json:"chain"`             // the peer itself first, then its ancestors
	// Complete says that Chain reaches the top. Without it ancestors are hidden from this process (hidepid, or a parent
	// of another user that cannot be read), and an agent may be among them.
	Complete bool `json:"complete"`
}
