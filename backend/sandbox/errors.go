package sandbox

import (
	"errors"
	"fmt"
)

// The reasons a start is refused. Path-like reasons come inside an error that names the path.
var (
	ErrSpec        = errors.New("malformed process specification")
	ErrTooLong     = errors.New("the command is longer than the kernel passes in one argument")
	ErrEnvironment = errors.New("environment name is not in the capability")
	ErrCwdReplaced = errors.New("the working directory is not the one that was approved")
	ErrRootMissing = errors.New("a root of the capability does not exist")
	ErrRootTooWide = errors.New("a root of the capability is too wide")
	ErrDenied      = errors.New("the working directory lies in a denied root")
	ErrNetwork     = errors.New("only network off is offered")
	ErrUnboxed     = errors.New("danger-full-access is not offered")
	ErrRecord      = errors.New("the start record could not be made durable")
	ErrEnded       = errors.New("the process has ended")
	ErrUnsupported = errors.New("not supported on this platform")
)

// UnavailableError says that isolation cannot be shown, so nothing was started.
type UnavailableError struct {
	Protection string // which protection is missing: "namespaces", "landlock", "seccomp" …
	Detail     string // what was seen
	Fix        string // what the owner can do, one sentence
}

// Error implements error.
func (e *UnavailableError) Error() string {
	text := "sandbox unavailable: " + e.Protection
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Fix != "" {
		text += " (" + e.Fix + ")"
	}
	return text
}

// ExecError says that the boundary stood and the program could not be executed in it. Err is the kernel's error.
type ExecError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *ExecError) Error() string { return fmt.Sprintf("execute %s: %v", e.Path, e.Err) }

// Unwrap returns the kernel's error.
func (e *ExecError) Unwrap() error { return e.Err }

// StartError says that the boundary could not be made for this process although the probe succeeded.
type StartError struct {
	Step   string // what was being done: "mounts", "landlock rule" …
	Detail string
	Err    error // the kernel's error, when there is one
}

// Error implements error.
func (e *StartError) Error() string {
	text := "start: " + e.Step
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the kernel's error.
func (e *StartError) Unwrap() error { return e.Err }

// Cause is why a process was ended from outside. As the cause of a context it reaches the end record.
type Cause string

// The causes a broker knows. A desk may use others; they are short lower-case words.
const (
	CauseCancelled   Cause = "cancelled"    // the context ended without saying more
	CauseClientGone  Cause = "client_gone"  // whoever asked for the process went away
	CauseCoreStopped Cause = "core_stopped" // the desk is closing
	CauseWallClock   Cause = "wall_clock"   // the capability's time limit
	CauseExecFailed  Cause = "exec_failed"  // the program could not be executed
	CauseLost        Cause = "lost"         // the boundary ended without reporting: killed from outside
)

// Error implements error, so that a Cause can be given to context.CancelCauseFunc.
func (c Cause) Error() string { return string(c) }
