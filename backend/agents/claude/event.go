package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign/backend/agents/jsonedit"
)

// The events of Claude Code that we hook.
const (
	eventPreToolUse         = "PreToolUse"
	eventPermissionRequest  = "PermissionRequest"
	eventPreSkillShell      = "PreSkillShellCommand"
	eventPostToolUse        = "PostToolUse"
	eventPostToolUseFailure = "PostToolUseFailure"
	eventSessionStart       = "SessionStart"
	eventSessionEnd         = "SessionEnd"
	eventUserPromptSubmit   = "UserPromptSubmit"
	eventStop               = "Stop"
)

// Limits of an event.
const (
	maxEvent = 4 << 20 // bytes of the whole event
	maxName  = 256     // bytes of an id or a tool's name
	maxPath  = 4096    // bytes of a directory
)

// event is one hook event, as Claude Code 2.1.332 writes it.
type event struct {
	name      string
	session   string // session_id
	execution string // prompt_id: the turn
	cwd       string
	tool      string // tool_name, of a tool's event
	toolUse   string // tool_use_id, absent in PermissionRequest
	input     json.RawMessage
	command   *jsonedit.Node // tool_input.command, when it is a string
	inputAt   int            // offset of input in the event, which command's offsets count from
}

// badEvent is why an event was refused, as a sentence's end.
type badEvent struct{ problem string }

func (e *badEvent) Error() string { return e.problem }

func badf(format string, args ...any) error { return &badEvent{problem: fmt.Sprintf(format, args...)} }

// parseEvent reads an event strictly: one JSON object in UTF-8, no key twice, no NUL in what is decided on, every name
// of its proper type and length. Keys are compared exactly, as Claude does.
func parseEvent(data []byte) (event, error) {
	if len(data) > maxEvent {
		return event{}, badf("it is larger than %d MiB", maxEvent>>20)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return event{}, badf("it is empty")
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return event{}, badf("it contains a NUL byte")
	}
	doc, err := jsonedit.Parse(data, jsonedit.Options{})
	if err != nil {
		return event{}, badf("it is no readable JSON (%v)", err)
	}
	if doc.Root == nil || doc.Root.Kind != jsonedit.Object {
		return event{}, badf("it is no JSON object")
	}
	var e event
	for _, f := range []struct {
		key  string
		into *string
		max  int
	}{
		{"hook_event_name", &e.name, maxName},
		{"session_id", &e.session, maxName},
		{"prompt_id", &e.execution, maxName},
		{"cwd", &e.cwd, maxPath},
		{"tool_name", &e.tool, maxName},
		{"tool_use_id", &e.toolUse, maxName},
	} {
		n := doc.Root.Get(f.key)
		if n == nil || n.Kind == jsonedit.Null {
			continue
		}
		text, ok := n.Str()
		switch {
		case !ok:
			return event{}, badf("its %s is no string", f.key)
		case len(text) > f.max:
			return event{}, badf("its %s is longer than %d bytes", f.key, f.max)
		case strings.IndexByte(text, 0) >= 0:
			return event{}, badf("its %s contains NUL", f.key)
		}
		*f.into = text
	}
	if e.name == "" {
		return event{}, badf("it names no event")
	}
	if !slices.ContainsFunc(hookEvents, func(h hookEvent) bool { return h.name == e.name }) {
		return e, badf("its event %q is unknown here", e.name)
	}
	return e, e.readTool(doc)
}

// readTool reads what a tool's event holds.
func (e *event) readTool(doc *jsonedit.Document) error {
	switch e.name {
	case eventSessionStart, eventSessionEnd, eventUserPromptSubmit, eventStop:
		return nil
	}
	input := doc.Root.Get("tool_input")
	switch {
	case e.tool == "":
		return badf("it names no tool")
	case e.session == "":
		return badf("it names no session")
	case input == nil || input.Kind != jsonedit.Object:
		return badf("its tool_input is no object")
	case e.toolUse == "" && e.name != eventPermissionRequest:
		return badf("it has no tool_use_id")
	}
	if at := nulIn(input); at != nil {
		return badf("the tool's input contains NUL")
	}
	e.input, e.inputAt = json.RawMessage(doc.Data[input.Start:input.End]), input.Start
	if command := input.Get("command"); command != nil && command.Kind == jsonedit.String {
		e.command = command
	}
	return nil
}

// nulIn finds a string with a NUL in it, keys included.
func nulIn(n *jsonedit.Node) *jsonedit.Node {
	if n.Kind == jsonedit.String && strings.IndexByte(n.Text, 0) >= 0 {
		return n
	}
	for _, m := range n.Members {
		if strings.IndexByte(m.Key, 0) >= 0 {
			return m.Value
		}
		if found := nulIn(m.Value); found != nil {
			return found
		}
	}
	for _, i := range n.Items {
		if found := nulIn(i.Value); found != nil {
			return found
		}
	}
	return nil
}

// withCommand returns the tool's input with another command and everything else as it was.
func (e event) withCommand(command string) (json.RawMessage, error) {
	if e.command == nil {
		return nil, badf("the tool's input has no command")
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(command); err != nil {
		return nil, err
	}
	start := e.command.Start - e.inputAt
	splice := jsonedit.Splice{
		At: start, Removed: string(e.input[start : e.command.End-e.inputAt]), Inserted: strings.TrimSpace(text.String()),
	}
	return splice.Apply(e.input)
}

// eventName finds the event's name in input that is otherwise refused, cut off or malformed. Claude Code throws away a
// denial that does not name the very event, so this decides in which words we deny, and nothing else.
func eventName(data []byte) string {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for depth, isKey, wanted := 1, true, false; ; {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			if depth == 0 {
				return ""
			}
			if depth > 1 {
				continue
			}
		case string:
			if depth == 1 && isKey {
				wanted, isKey = v == "hook_event_name", false
				continue
			}
			if depth == 1 && wanted {
				return v
			}
		}
		if depth == 1 {
			isKey = true
		}
	}
}
