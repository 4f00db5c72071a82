package tools

import (
	"errors"
	"fmt"
)

// The reasons for which arguments or a plan are refused. Errors of the file itself are backend/winlock's.
var (
	ErrArguments = errors.New("invalid arguments")
	ErrNoMatch   = errors.New("old_string does not occur in the file")
	ErrAmbiguous = errors.New("old_string occurs more than once")
	ErrNoChange  = errors.New("old_string and new_string are the same")
	ErrTooLarge  = errors.New("the result would be too large")
	ErrOtherFile = errors.New("the arguments name another file than was approved")
)

// ArgumentError names what is wrong with one argument. It is ErrArguments.
type ArgumentError struct {
	Argument string // "" when the arguments as a whole are wrong
	Problem  string
}

// Error implements error.
func (e *ArgumentError) Error() string {
	if e.Argument == "" {
		return fmt.Sprintf("%v: %s", ErrArguments, e.Problem)
	}
	return fmt.Sprintf("%v: %q %s", ErrArguments, e.Argument, e.Problem)
}

// Unwrap makes the error an ErrArguments.
func (e *ArgumentError) Unwrap() error { return ErrArguments }

// MatchError says how often old_string occurs where it had to occur once. It is ErrNoMatch or ErrAmbiguous.
type MatchError struct{ Matches int }

// Error implements error.
func (e *MatchError) Error() string {
	if e.Matches == 0 {
		return ErrNoMatch.Error()
	}
	return fmt.Sprintf("%v: %d matches; give more context, or set replace_all", ErrAmbiguous, e.Matches)
}

// Unwrap makes the error an ErrNoMatch or ErrAmbiguous.
func (e *MatchError) Unwrap() error {
	if e.Matches == 0 {
		return ErrNoMatch
	}
	return ErrAmbiguous
}
