package classify

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/backend/capability"
	"countersign/backend/policy"
)

// MaxCall is the longest call that is sent, in bytes of its JSON form.
const MaxCall = 32 << 10

// Call is what is judged. Everything in it but Digest and PolicyVersion is sent, whole.
type Call struct {
	Tool      string          // canonical
	AgentTool string          // as the agent names it
	Args      json.RawMessage // as the agent sent them
	Command   string          // the text of a command tool
	Cwd       string          // absolute, resolved
	Parts     []string        // the simple commands of Command
	Reads     []string        // absolute paths that it is known to read
	Writes    []string        // absolute paths that it is known to write
	Hosts     []string        // hosts that it names
	Opaque    string          // what in Command could not be understood; ""
	Mode      string          // the session's permission mode

	// RunsWorkspaceFile is set for a command that runs a file from the workspace. The file may be another one the next
	// time, so what is said about the call is neither kept nor shared.
	RunsWorkspaceFile bool

	// Digest names everything that was frozen about the call, and PolicyVersion the rules and settings that it is judged
	// under. An answer is kept only under both; without one of them it is not kept.
	Digest, PolicyVersion string
}

// NewCall takes from an examination what a classifier is shown. RunsWorkspaceFile, Digest and PolicyVersion are left to
// the caller.
func NewCall(f *policy.Facts, args json.RawMessage, mode policy.Mode) Call {
	c := Call{
		Tool: f.Tool(), AgentTool: f.AgentTool(), Args: args, Command: f.Command(), Cwd: f.Dir(),
		Reads: f.Reads(), Writes: f.Writes(), Hosts: f.Hosts(), Opaque: f.Opaque(), Mode: string(mode),
	}
	for _, p := range f.Parts() {
		c.Parts = append(c.Parts, p.Text)
	}
	return c
}

// sentCall is the form in which a call is sent. Empty lists are written too: that nothing is known to be written is
// something to know.
type sentCall struct {
	Tool      string          `json:"tool"`
	AgentTool string          `json:"agent_tool"`
	Args      json.RawMessage `json:"arguments"`
	Command   string          `json:"command"`
	Cwd       string          `json:"working_directory"`
	Parts     []string        `json:"simple_commands"`
	Reads     []string        `json:"reads"`
	Writes    []string        `json:"writes"`
	Hosts     []string        `json:"hosts"`
	Opaque    string          `json:"not_understood"`
	Mode      string          `json:"mode"`
	RunsFile  bool            `json:"runs_workspace_file"`
}

// Sent returns the call exactly as it leaves the machine, as JSON with credentials masked, or a code and what is the
// matter: CodeTooLong and CodeUnsendable.
func Sent(c Call) (text, code, detail string) {
	if code, detail := c.check(); code != "" {
		return "", code, detail
	}
	args := c.Args
	if len(args) == 0 {
		args = json.RawMessage("null")
	}
	raw, err := encode(sentCall{
		Tool: c.Tool, AgentTool: c.AgentTool, Args: args, Command: c.Command, Cwd: c.Cwd, Parts: list(c.Parts),
		Reads: list(c.Reads), Writes: list(c.Writes), Hosts: list(c.Hosts), Opaque: c.Opaque, Mode: c.Mode,
		RunsFile: c.RunsWorkspaceFile,
	})
	if err != nil {
		return "", CodeUnsendable, "its arguments are no JSON"
	}
	if len(raw) > MaxCall {
		return "", CodeTooLong, tooLong
	}
	masked, detail := maskJSON(raw)
	switch {
	case detail != "":
		return "", CodeUnsendable, detail
	case len(masked) > MaxCall:
		return "", CodeTooLong, tooLong
	}
	return masked, "", ""
}

const tooLong = "the call is longer than 32 KiB"

// check refuses what would not be sent as it is, before any work is done on it.
func (c Call) check() (code, detail string) {
	texts := slices.Concat([]string{c.Tool, c.AgentTool, c.Command, c.Cwd, c.Opaque, c.Mode}, c.Parts, c.Reads, c.Writes, c.Hosts)
	total := len(c.Args)
	for _, text := range texts {
		total += len(text)
	}
	if total > MaxCall {
		return CodeTooLong, tooLong
	}
	// An encoder would put something else in the place of bytes that are no text.
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return CodeUnsendable, "it holds bytes that are no text"
		}
	}
	if len(c.Args) > 0 {
		if _, err := capability.Canonical(c.Args); err != nil {
			return CodeUnsendable, "two readers could understand its arguments differently"
		}
	}
	return "", ""
}

func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// encode writes v as compact JSON, with < > & as they are: a command should look like one.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	// A raw message keeps its spaces otherwise.
	var out bytes.Buffer
	if err := json.Compact(&out, b.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// quote writes text as one JSON string in which every character is one that can be seen.
func quote(text string) string {
	raw, err := encode(text)
	if err != nil {
		return `""` // cannot be: a string always has a form
	}
	return spellOut(strings.TrimSuffix(string(raw), "\n"))
}
