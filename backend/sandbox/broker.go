package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"countersign/backend/capability"
)

// ReceiptSink takes receipt records. Append signs and chains the record and returns its digest; the record is durable
// when it returns. The broker says go to a process only after that.
type ReceiptSink interface {
	Append(r capability.Record) (digest string, err error)
}

// The values of Options.OnMissing.
const (
	OnMissingRefuse = "refuse"
	OnMissingWarn   = "warn"
)

// Options configure a Broker.
type Options struct {
	Sink    ReceiptSink
	Init    string // path of countersign-init
	Scratch string // an existing directory of mode 0700 for the private directories of sessions

	// Hidden are directories and single files that no capability opens, whatever it says: the core's own state,
	// configuration and runtime directories, a passphrase file. Scratch is hidden without being named.
	Hidden []string

	// Guarded are files and directories that no command writes, replaces or moves, whatever its capability says, because
	// they are executed or obeyed outside: the product's own programs, agents' settings files. Absolute. Init is guarded
	// without being named.
	Guarded []string

	// OnMissing says what happens where isolation cannot be shown: "refuse" (also the empty string) or "warn", the
	// owner's explicit override. A plain start is then marked on both records.
	OnMissing string

	// Bubblewrap names the program, for tests and unusual systems; empty means the usual places.
	Bubblewrap string
}

// Broker starts processes. It is safe for concurrent use.
type Broker struct {
	o   Options
	sys system
}

// New returns a broker. It does nothing yet: what is missing shows in Probe and Start.
func New(o Options) *Broker {
	b := &Broker{o: o}
	b.sys.init(b)
	return b
}

// Close waits until everything that was started has ended, and frees what the broker holds open. No Start may follow.
func (b *Broker) Close() error {
	b.sys.close()
	return nil
}

// Report says what boundary this machine gives, protection by protection.
type Report struct {
	Enforcement capability.Enforcement
	Backend     string // "bubblewrap+landlock+seccomp"
	Version     string // of the backend's parts
	Protections []Protection
}

// Protection is one protection of the platform's profile and the evidence for it.
type Protection struct {
	Name   string
	OK     bool
	Detail string // what was seen
	Fix    string // what the owner can do where it is missing: one sentence
}

// unavailable returns the error for the first protection that is missing.
func (r Report) unavailable() *UnavailableError {
	for _, p := range r.Protections {
		if !p.OK {
			return &UnavailableError{Protection: p.Name, Detail: p.Detail, Fix: p.Fix}
		}
	}
	return &UnavailableError{Protection: "boundary", Detail: "nothing was shown"}
}

// Probe runs the real machinery once, without a command, and reports what it showed. The answer is kept for this boot and
// these binaries; a negative one only briefly, so that a mended machine is noticed.
func (b *Broker) Probe(ctx context.Context) Report { return b.sys.probe(ctx) }

// Check refuses a capability that Start would refuse for what it says and for its roots as they stand now, before anybody is
// asked about it. It starts and probes nothing. The error is ErrSpec (no capability), ErrUnboxed, ErrNetwork,
// ErrRootMissing, ErrRootTooWide or ErrDenied.
func (b *Broker) Check(e capability.Effective) error {
	if e.IsZero() {
		return fmt.Errorf("%w: no capability", ErrSpec)
	}
	snap := e.Snapshot()
	if err := offered(snap); err != nil {
		return err
	}
	return b.sys.check(snap)
}

// Start starts the process and returns when it runs: the start record is durable before the command executes. When ctx
// ends, the whole process tree is killed; context.Cause says why on the end record. Besides *UnavailableError,
// *ExecError and *StartError it returns errors that are ErrSpec, ErrTooLong, ErrEnvironment, ErrCwdReplaced,
// ErrRootMissing, ErrRootTooWide, ErrDenied, ErrNetwork, ErrUnboxed or ErrRecord. After an error nothing runs.
func (b *Broker) Start(ctx context.Context, s Spec) (*Process, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	found := b.Probe(ctx)
	start := b.startRecord(s, found)
	var run running
	var err error
	switch {
	case found.Enforcement == capability.Enforced:
		run, err = b.sys.enter(ctx, s)
	case b.o.OnMissing == OnMissingWarn && !s.Bounded:
		start.Extra = map[string]string{"override": "on_missing=warn", "missing": found.unavailable().Protection}
		if err = b.sys.check(s.Effective.Snapshot()); err == nil { // no wider than with a boundary
			run, err = b.sys.plain(ctx, s)
		}
	default:
		err = found.unavailable()
	}
	if err != nil {
		return nil, err
	}
	start.Layers = run.layers()
	start.Environment = run.environment()
	if s.Effective.Snapshot().Limits.OutputBytes != 0 {
		if start.Extra == nil {
			start.Extra = map[string]string{}
		}
		start.Extra["not_applied"] = "limits.output_bytes"
	}
	start.Time = time.Now()
	if _, err := b.o.Sink.Append(start); err != nil {
		run.abandon()
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return b.release(ctx, s, start, run)
}

// running is one prepared process of a backend: everything is in force, the command waits.
type running interface {
	layers() []capability.Layer
	environment() []string // names
	release() error        // executes the command: nil once it runs, *ExecError when it cannot
	wait() outcome         // after release: returns when the whole tree has ended
	signal(number int) error
	kill()
	abandon() // instead of release and wait
}

// outcome is how a process tree ended.
type outcome struct {
	exit      *int
	signal    string
	lost      bool // no word from inside: it was killed
	never     bool // and the command was never executed
	directory string
	user, sys time.Duration
	maxRSS    int64 // bytes
	findings  []string
}

// startRecord fills what is known before the boundary exists.
func (b *Broker) startRecord(s Spec, found Report) capability.Record {
	snap := s.Effective.Snapshot()
	r := capability.Record{
		ID: newID(), Kind: capability.RecordStart, Time: time.Now(), Request: s.Request, Call: s.Call,
		Session: s.Session, Principal: s.Principal, Class: s.Class, Tool: s.Tool, ArgvDigest: capability.Digest(s.argv()),
		Cwd: snap.Cwd, CwdIdentity: s.CwdIdentity, Effective: &snap, Enforcement: found.Enforcement,
	}
	if found.Enforcement == capability.Enforced {
		r.Backend, r.Version = found.Backend, found.Version
	}
	return r
}

// newID returns a UUIDv7 (RFC 9562).
func newID() string {
	var u [16]byte
	_, _ = rand.Read(u[6:]) // never fails, says crypto/rand
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	t := hex.EncodeToString(u[:])
	return t[:8] + "-" + t[8:12] + "-" + t[12:16] + "-" + t[16:20] + "-" + t[20:]
}
