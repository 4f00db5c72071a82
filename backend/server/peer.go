package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"unicode/utf8"

	"countersign/backend/wire"
)

// Limits of what is kept of a process's own words.
const (
	maxArgs      = 16
	maxArgBytes  = 256
	maxArgsBytes = 8 << 10 // read of a command line
	// chainTries is how often a chain is read that changes while it is read.
	chainTries = 4
)

// errGone means that a process ended while it was looked at.
var errGone = errors.New("the process is gone")

// witness tells whether the process at the other end of a connection still is the one that was identified.
type witness interface {
	alive() bool
	close()
}

// entry is one process with its parent, as one look at it tells.
type entry struct {
	process wire.Process
	parent  int // 0: none that this process could see
	tty     uint64
	session int
}

// PeerOf says who is at the other end of an accepted connection. The errors are ErrWrongUser, ErrPeerUnknown and
// ErrTooDeep.
func PeerOf(c net.Conn) (wire.Peer, error) {
	peer, w, err := identify(c)
	if err == nil {
		w.close()
	}
	return peer, err
}

// Self returns the identity of this very process, as the server would see it as a peer. For tests and for callers in
// the core's own process.
func Self() (wire.Peer, error) {
	return peerOfProcess(os.Getpid(), os.Geteuid())
}

// peerOfProcess reads the chain of a process whose user is known.
func peerOfProcess(pid, uid int) (wire.Peer, error) {
	first, rest, complete, err := chainOf(pid)
	if err != nil {
		return wire.Peer{}, err
	}
	return wire.Peer{
		UID: uid, TTY: first.tty, Session: first.session,
		Chain: append([]wire.Process{first.process}, rest...), Complete: complete,
	}, nil
}

// look reads one process; errGone when there is none, errHidden when it may not be seen. A variable only in tests.
type look func(pid int) (entry, error)

// errHidden means that the system hides a process from this one.
var errHidden = errors.New("the process is hidden")

func chainOf(pid int) (first entry, rest []wire.Process, complete bool, err error) {
	return readChain(pid, lookAt)
}

// readChain walks from a process to the top. Parents end and numbers are given out again while it reads: after a parent
// was read, its child is read once more, and only if it still is the same process with the same parent was the parent
// really its own.
func readChain(pid int, see look) (first entry, rest []wire.Process, complete bool, err error) {
	for range chainTries {
		first, rest, complete, err = readChainOnce(pid, see)
		if !errors.Is(err, errChanged) {
			break
		}
	}
	switch {
	case err == nil:
		return first, rest, complete, nil
	case errors.Is(err, ErrTooDeep):
		return entry{}, nil, false, err
	}
	return entry{}, nil, false, fmt.Errorf("%w: %w", ErrPeerUnknown, err)
}

// errChanged means that a process got another parent while its chain was read.
var errChanged = errors.New("the process's ancestry changed while it was read")

func readChainOnce(pid int, see look) (entry, []wire.Process, bool, error) {
	first, err := see(pid)
	if err != nil {
		return entry{}, nil, false, err
	}
	var rest []wire.Process
	for child := first; ; {
		if child.parent <= 0 || child.parent == child.process.PID {
			return first, rest, true, nil
		}
		if len(rest)+1 >= MaxAncestors {
			return entry{}, nil, false, ErrTooDeep
		}
		parent, parentErr := see(child.parent)
		again, err := see(child.process.PID)
		if err != nil || again.process.Start != child.process.Start {
			if child.process.PID == pid {
				return entry{}, nil, false, errGone
			}
			return entry{}, nil, false, errChanged
		}
		if again.parent != child.parent {
			return entry{}, nil, false, errChanged
		}
		if parentErr != nil {
			// The child still names it, and yet it cannot be read: it is hidden, or (Windows, where nobody inherits an
			// orphan) it is long gone.
			return first, rest, errors.Is(parentErr, errTop), nil
		}
		if !parentFits(parent, child) {
			return first, rest, true, nil
		}
		rest = append(rest, parent.process)
		child = parent
	}
}

// errTop means that a process has no parent any more, on a system where orphans keep their parent's number.
var errTop = errors.New("the process has no parent any more")

// shorten makes a process's own words fit to be kept and shown: few, short, and UTF-8.
func shorten(args []string) []string {
	if len(args) > maxArgs {
		args = args[:maxArgs]
	}
	var short []string
	for _, a := range args {
		short = append(short, clip(a))
	}
	return short
}

func clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxArgBytes {
		return text
	}
	end := maxArgBytes - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
