package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"countersign/backend/capability"
	"countersign/backend/pathid"
)

// maxArgument is the longest single argument or environment string the kernel passes, its final NUL included
// (MAX_ARG_STRLEN in execve(2)).
const maxArgument = 128 << 10

// The pinned shell of Spec.Script. Never $SHELL: what runs must be what was judged.
const shellPath = "/bin/bash"

// Spec describes one process to start. It was approved; the broker checks that it is consistent, not that it is wise.
type Spec struct {
	Call, Session, Principal, Tool, Request string // for the receipts

	Class capability.ProcessClass

	// Script is run by the pinned bash, without start-up files. Argv is run directly. Exactly one is set.
	Script string
	Argv   []string

	// Bounded refuses a start without the boundary whatever Options.OnMissing says: what was decided depends on it.
	Bounded bool

	Effective   capability.Effective
	CwdIdentity pathid.Identity // of Effective's working directory, when it was approved

	// Environment is what the process gets and nothing else. HOME and TMPDIR are set to the session's private
	// directories when absent. Names outside the composed base and the capability are refused.
	Environment map[string]string

	// The process's own descriptors; nil is the null device. They stay the caller's to close.
	Stdin, Stdout, Stderr *os.File

	// RecordDirectory asks for End.Directory.
	RecordDirectory bool
}

// End tells how a process ended.
type End struct {
	Exit      *int     // exit status, nil when killed by a signal or never executed
	Signal    string   // "SIGTERM" …, when a signal ended it
	Cause     string   // why it was ended from outside, empty when it ended by itself
	Directory string   // its last working directory, when asked for
	Start     string   // id of the start record
	End       string   // id of the end record
	Findings  []string // what the command left that must not be obeyed unseen, one sentence each, paths quoted as in Go
	Err       error    // the end record could not be written
}

// argv returns what is executed.
func (s Spec) argv() []string {
	if s.Script != "" {
		return []string{shellPath, "--noprofile", "--norc", "-c", s.Script}
	}
	return s.Argv
}

// offered refuses what no boundary is made for.
func offered(snap capability.Snapshot) error {
	switch {
	case snap.Policy == capability.DangerFullAccess || snap.Class == capability.ClassIntegration:
		return ErrUnboxed
	case snap.Network != capability.NetworkOff:
		return ErrNetwork
	}
	return nil
}

// check refuses a specification that contradicts itself or that the kernel could not execute as it stands.
func (s Spec) check() error {
	snap := s.Effective.Snapshot()
	switch {
	case (s.Script == "") == (len(s.Argv) == 0):
		return fmt.Errorf("%w: exactly one of script and argv must be set", ErrSpec)
	case s.Call == "":
		return fmt.Errorf("%w: no call", ErrSpec)
	case s.Effective.IsZero():
		return fmt.Errorf("%w: no capability", ErrSpec)
	case s.Class != snap.Class:
		return fmt.Errorf("%w: class %q under a capability of class %q", ErrSpec, s.Class, snap.Class)
	case s.Script != "" && !snap.Shell:
		return fmt.Errorf("%w: a script under a capability without shell", ErrSpec)
	case s.CwdIdentity == pathid.Identity{}:
		return fmt.Errorf("%w: the working directory has no identity", ErrSpec)
	}
	if err := offered(snap); err != nil {
		return err
	}
	for _, arg := range s.argv() {
		if strings.IndexByte(arg, 0) >= 0 {
			return fmt.Errorf("%w: an argument contains a NUL byte", ErrSpec)
		}
		if len(arg) >= maxArgument {
			return ErrTooLong
		}
	}
	if len(s.Argv) > 0 && s.Argv[0] == "" {
		return fmt.Errorf("%w: empty program name", ErrSpec)
	}
	for name, value := range s.Environment {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.IndexByte(value, 0) >= 0 ||
			len(name)+len(value)+2 > maxArgument {
			return fmt.Errorf("%w: environment entry %q", ErrSpec, name)
		}
		if !slices.Contains(baseEnvironment, name) && !s.Effective.HasEnvironment(name) {
			return fmt.Errorf("%w: %s", ErrEnvironment, name)
		}
	}
	return nil
}
