package wire

import (
	"errors"
	"fmt"
)

// Errors of a connection. Everything else that Client methods return is an *Error from the core, or the context's.
var (
	// ErrNoCore means that nobody listens on the socket.
	ErrNoCore = errors.New("no core is running")
	// ErrNoAnswer means that somebody listens but did not say hello in time: the core hangs, or it is something else.
	ErrNoAnswer = errors.New("the core does not answer")
	// ErrWrongCore means that who answered does not hold the key that was expected, or runs as another user.
	ErrWrongCore = errors.New("another program answers in the core's place")
	// ErrTooLarge means that a message is longer than MaxMessage.
	ErrTooLarge = fmt.Errorf("the message is longer than %d bytes", MaxMessage)
	// ErrMalformed means that a message is not what this package calls a message.
	ErrMalformed = errors.New("malformed message")
	// ErrClosed means that the connection is closed. A request that was sent may or may not have been applied: sending
	// it again with the same command id tells.
	ErrClosed = errors.New("the connection to the core is closed")
	// ErrBacklog means that frames arrived faster than they were taken from Client.Frames; the connection is closed.
	ErrBacklog = errors.New("frames were not taken fast enough")
	// ErrFilesUnsupported means that descriptors cannot be passed over this kind of connection.
	ErrFilesUnsupported = errors.New("files cannot be passed over this connection")
	// ErrBadFile means that a file to be passed is closed or has no descriptor. Nothing was sent.
	ErrBadFile = errors.New("a file to be passed cannot be used")
	// ErrTooManyFiles means that more than MaxFiles descriptors were to be passed with one message.
	ErrTooManyFiles = fmt.Errorf("more than %d files with one message", MaxFiles)
	// ErrDuplicateCommand means that a request with the same command id is still under way on this connection.
	ErrDuplicateCommand = errors.New("the command id is already in use")
	// ErrGap means that frames were missed: take a new snapshot.
	ErrGap = errors.New("frames were missed")
)

// The codes that the wire and the server themselves answer. Actions have codes of their own.
const (
	CodeBadMessage  = "bad_message"         // args: problem, hint. The connection is closed after it
	CodeBadHello    = "bad_hello"           // args: problem, hint
	CodeBadVersion  = "unsupported_version" // args: version, supported
	CodeWrongUser   = "wrong_user"          // the peer runs as another user, or cannot be identified
	CodeBusy        = "busy"                // args: what, limit. Too much is under way; try again
	CodeTooLarge    = "too_large"           // args: limit
	CodeInternal    = "internal_error"      // logged by the core
	CodeBadArgument = "bad_arguments"       // args: action, problem
	CodeConflict    = "conflict"            // args: what stands
)

// DialError is why no connection to a core could be made, with what to do about it.
type DialError struct {
	Socket string
	Err    error  // ErrNoCore, ErrNoAnswer, ErrWrongCore, or what the system said
	Fix    string // what to do, for a person
}

// Error implements error.
func (e *DialError) Error() string { return fmt.Sprintf("connect to %s: %v", e.Socket, e.Err) }

// Unwrap implements errors.Unwrap.
func (e *DialError) Unwrap() error { return e.Err }

// Hint returns what to do, for a person.
func (e *DialError) Hint() string { return e.Fix }

// Code returns the error's code, for a screen.
func (e *DialError) Code() string {
	switch {
	case errors.Is(e.Err, ErrNoCore):
		return "no_core"
	case errors.Is(e.Err, ErrNoAnswer):
		return "no_answer"
	case errors.Is(e.Err, ErrWrongCore):
		return "wrong_core"
	}
	return "connect_failed"
}

// malformed is ErrMalformed with what is wrong. Its problem never quotes the message: it may end in a log.
type malformed struct{ problem string }

func (e *malformed) Error() string { return ErrMalformed.Error() + ": " + e.problem }
func (e *malformed) Unwrap() error { return ErrMalformed }

func malformedf(format string, args ...any) error {
	return &malformed{problem: fmt.Sprintf(format, args...)}
}

// BadMessage turns an error of reading a message into what the sender is told. ok is false when the error is not about
// the message, e.g. when the connection broke.
func BadMessage(err error) (reply *Error, ok bool) {
	var bad *malformed
	switch {
	case errors.Is(err, ErrTooLarge):
		return &Error{Code: CodeBadMessage, Args: map[string]string{
			"problem": ErrTooLarge.Error(),
			"hint":    "pass large content as a file in the workspace",
		}}, true
	case errors.Is(err, ErrFilesUnsupported):
		return &Error{Code: CodeBadMessage, Args: map[string]string{
			"problem": ErrFilesUnsupported.Error(),
			"hint":    "use the command line for what needs files",
		}}, true
	case errors.As(err, &bad):
		return &Error{Code: CodeBadMessage, Args: map[string]string{
			"problem": bad.problem,
			"hint":    "send one JSON object a line: {\"action\": …, \"command_id\": a new UUID, \"args\": …}",
		}}, true
	}
	return nil, false
}
