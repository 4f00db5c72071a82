package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Limits of a message.
const (
	// MaxDepth is how deep arrays and objects may be nested.
	MaxDepth = 64
	// maxName is the longest name of an action, in bytes.
	maxName = 64
)

// strictness says which rules a message is checked by.
type strictness int

const (
	lenient strictness = iota // replies and frames
	strict                    // requests: no escaped NUL, no key twice
)

// check refuses a message that is not one well-formed JSON object within the limits.
func check(message []byte, rules strictness) error {
	switch {
	case len(message) >= MaxMessage:
		return ErrTooLarge
	case bytes.IndexByte(message, 0) >= 0:
		return malformedf("it contains a NUL byte")
	case !utf8.Valid(message):
		return malformedf("it is not UTF-8")
	}
	trimmed := bytes.TrimLeft(message, " \t\r")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return malformedf("it is not a JSON object")
	}
	// The depth comes first: what follows may recurse.
	if err := checkDepth(message, MaxDepth); err != nil {
		return err
	}
	if !json.Valid(message) {
		return malformedf("it is not valid JSON")
	}
	if rules == strict {
		return checkKeys(message)
	}
	return nil
}

// checkDepth counts brackets outside strings. It does not need valid JSON.
func checkDepth(message []byte, limit int) error {
	depth := 0
	for i := 0; i < len(message); i++ {
		switch message[i] {
		case '"':
			i = stringEnd(message, i)
		case '{', '[':
			if depth++; depth > limit {
				return malformedf("it is nested deeper than %d", limit)
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// stringEnd returns the index of the quote that closes the string opened at i, or the last index without one.
func stringEnd(message []byte, i int) int {
	for i++; i < len(message); i++ {
		switch message[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(message) - 1
}

// checkKeys refuses, in valid JSON, an escaped NUL in any string and an object that gives a key twice: two programs
// may read two different things from it.
func checkKeys(message []byte) error {
	type level struct {
		keys    map[string]struct{} // nil in an array
		wantKey bool
	}
	var stack []level
	for i := 0; i < len(message); i++ {
		switch c := message[i]; c {
		case '{':
			stack = append(stack, level{keys: map[string]struct{}{}, wantKey: true})
		case '[':
			stack = append(stack, level{})
		case '}', ']':
			stack = stack[:len(stack)-1]
		case ',':
			top := &stack[len(stack)-1]
			top.wantKey = top.keys != nil
		case '"':
			end := stringEnd(message, i)
			text := message[i : end+1]
			if hasEscapedNUL(text) {
				return malformedf("a string contains a NUL character")
			}
			if top := &stack[len(stack)-1]; top.wantKey {
				top.wantKey = false
				var key string
				if err := json.Unmarshal(text, &key); err != nil {
					return malformedf("it is not valid JSON")
				}
				if _, twice := top.keys[key]; twice {
					return malformedf("a key is given twice in one object")
				}
				top.keys[key] = struct{}{}
			}
			i = end
		}
	}
	return nil
}

// hasEscapedNUL reports whether a JSON string, quotes included, contains \u0000.
func hasEscapedNUL(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(text[i:], []byte(`\u0000`)) {
			return true
		}
		i++ // the escaped character
	}
	return false
}

// DecodeRequest reads a Request. Its errors are ErrMalformed or ErrTooLarge; when the command id could be read it is
// returned even so, for the reply.
func DecodeRequest(message []byte) (Request, error) {
	if err := check(message, strict); err != nil {
		return Request{}, err
	}
	// Field by field: encoding/json would also take "Action" for "action".
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(message, &fields); err != nil {
		return Request{}, malformedf("it is not a JSON object")
	}
	var req Request
	if err := decodeField(fields, "command_id", &req.CommandID); err != nil {
		return Request{}, err
	}
	if id, err := uuid.Parse(req.CommandID); err != nil || id.String() != req.CommandID {
		return Request{}, malformedf("command_id is not a UUID in its lower-case form")
	}
	partial := Request{CommandID: req.CommandID}
	if err := decodeField(fields, "action", &req.Action); err != nil {
		return partial, err
	}
	if req.Action == "" || len(req.Action) > maxName {
		return partial, malformedf("action is missing or longer than %d bytes", maxName)
	}
	if err := decodeField(fields, "files", &req.Files); err != nil {
		return partial, err
	}
	if req.Files < 0 || req.Files > MaxFiles {
		return partial, malformedf("files must be between 0 and %d", MaxFiles)
	}
	req.Args = fields["args"]
	if string(req.Args) == "null" {
		req.Args = nil
	}
	for _, known := range []string{"action", "command_id", "args", "files"} {
		delete(fields, known)
	}
	if len(fields) > 0 {
		return partial, malformedf("the request has a field that this version does not know")
	}
	return req, nil
}

// decodeField reads one field of an object; a missing field leaves out alone.
func decodeField(fields map[string]json.RawMessage, name string, out any) error {
	raw, ok := fields[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil || string(raw) == "null" {
		return malformedf("%s has the wrong type", name)
	}
	return nil
}

// Incoming is one message from the core: exactly one of its fields is set.
type Incoming struct {
	Hello *CoreHello
	Reply *Reply
	Frame *Frame
}

// DecodeIncoming reads a message from the core. Fields it does not know are ignored.
func DecodeIncoming(message []byte) (Incoming, error) {
	if err := check(message, lenient); err != nil {
		return Incoming{}, err
	}
	var kind struct {
		Hello json.RawMessage `json:"hello"`
		Frame string          `json:"frame"`
	}
	if err := json.Unmarshal(message, &kind); err != nil {
		return Incoming{}, malformedf("it is no reply, frame or hello")
	}
	var in Incoming
	var err error
	switch {
	case len(kind.Hello) > 0:
		in.Hello = &CoreHello{}
		err = json.Unmarshal(kind.Hello, in.Hello)
	case kind.Frame != "":
		in.Frame = &Frame{}
		err = json.Unmarshal(message, in.Frame)
	default:
		in.Reply = &Reply{}
		err = json.Unmarshal(message, in.Reply)
	}
	if err != nil {
		return Incoming{}, malformedf("a field of it has the wrong type")
	}
	return in, nil
}

// Encode turns a Request, Reply or Frame into a message, without the newline. A value that does not fit is ErrTooLarge.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	message := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(message) >= MaxMessage {
		return nil, ErrTooLarge
	}
	return message, nil
}
