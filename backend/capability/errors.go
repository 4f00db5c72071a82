package capability

import (
	"errors"
	"fmt"
)

// The reasons a request, ceiling, snapshot or record is refused.
var (
	ErrInvalid     = errors.New("invalid capability")
	ErrZeroCeiling = errors.New("the zero ceiling allows nothing")
	ErrCwd         = errors.New("the working directory lies outside what may be read")
	ErrIntegration = errors.New("an integration on the host needs danger-full-access")
	ErrWider       = errors.New("wider than the ceiling")
	ErrRecord      = errors.New("invalid receipt record")
)

// WiderError names the first thing in a request that its ceiling does not cover. It is ErrWider.
type WiderError struct {
	What  string // the request's field, as in JSON: "write_roots", "network" …
	Value string
}

// Error implements error.
func (e *WiderError) Error() string {
	return fmt.Sprintf("%s %q: %v", e.What, e.Value, ErrWider)
}

// Unwrap makes the error an ErrWider.
func (e *WiderError) Unwrap() error { return ErrWider }

func invalid(what, value string, why string) error {
	return fmt.Errorf("%w: %s %q: %s", ErrInvalid, what, value, why)
}
