package rules

import "fmt"

// The codes of this package's errors.
const (
	CodeBadRule     = "invalid_rule"    // the text, or what was said about it, is not understood
	CodeUnknownRule = "unknown_rule"    // no rule is kept under that id
	CodeTooMany     = "too_many_rules"  // as many are kept as may be
	CodeLocked      = "managed_locked"  // the administrator does not let allow rules be kept
	CodeExample     = "example_fails"   // an example does not do what it is an example of
	CodeMoved       = "project_moved"   // another directory stands at the project's path
	CodeChanged     = "content_changed" // the file is no longer what was to be trusted
)

// Error is an error with a code and the arguments of its sentence.
type Error struct {
	code string
	args map[string]string
}

func fail(code string, args ...string) *Error {
	e := &Error{code: code, args: map[string]string{}}
	for i := 0; i+1 < len(args); i += 2 {
		e.args[args[i]] = args[i+1]
	}
	return e
}

// Code names the error.
func (e *Error) Code() string { return e.code }

// Args are what the error's sentence is made with.
func (e *Error) Args() map[string]string { return e.args }

// Error implements error; screens translate the code.
func (e *Error) Error() string { return fmt.Sprintf("%s %v", e.code, e.args) }
