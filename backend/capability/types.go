package capability

import (
	"time"

	"countersign/backend/pathid"
)

// ProcessClass says what a process is for; each class has a base request of its own.
type ProcessClass string

// The process classes.
const (
	ClassShell       ProcessClass = "shell"       // a command an agent asked for
	ClassAgent       ProcessClass = "agent"       // a whole agent, boxed
	ClassGate        ProcessClass = "gate"        // an owner-configured gate program
	ClassMCP         ProcessClass = "mcp"         // an MCP server on stdio
	ClassIntegration ProcessClass = "integration" // launched by the owner on the host: never sandboxed, always Advisory
)

// SandboxPolicy is the owner's setting for a turn.
type SandboxPolicy string

// The sandbox policies, narrowest first.
const (
	ReadOnly         SandboxPolicy = "read-only"
	WorkspaceWrite   SandboxPolicy = "workspace-write"
	DangerFullAccess SandboxPolicy = "danger-full-access"
)

// Network says which network a process may reach.
type Network string

// The network settings, narrowest first.
const (
	NetworkOff     Network = "off"
	NetworkProxied Network = "proxied" // only the named targets, through the core's proxy
	NetworkOpen    Network = "open"
)

// Enforcement is what may be said about a boundary. The zero value says nothing and must never be shown as enforced.
type Enforcement string

// The enforcement states (design: sandbox, section 3).
const (
	Enforced    Enforcement = "Enforced"    // every demanded protection was shown in force
	Advisory    Enforcement = "Advisory"    // an explicit integration the owner trusts; no boundary
	Unavailable Enforcement = "Unavailable" // isolation cannot be shown
)

// Limits bounds the resources of one process tree. Zero means "no limit asked for".
type Limits struct {
	WallClock   time.Duration `json:"wall_clock,omitempty"`
	CPUSeconds  uint64        `json:"cpu_seconds,omitempty"`
	MemoryBytes uint64        `json:"memory_bytes,omitempty"` // address space per process
	FileBytes   uint64        `json:"file_bytes,omitempty"`   // largest file a process may write
	Processes   uint64        `json:"processes,omitempty"`
	OpenFiles   uint64        `json:"open_files,omitempty"`
	OutputBytes uint64        `json:"output_bytes,omitempty"`
}

// Request is what somebody wants for a process. It is input and carries no authority: only Intersect turns it into an
// Effective capability. All paths are absolute and resolved; a relative path is refused by Intersect.
type Request struct {
	Class         ProcessClass  `json:"class"`
	Policy        SandboxPolicy `json:"policy"`
	Shell         bool          `json:"shell"` // the process may interpret shell text
	Cwd           string        `json:"cwd"`
	ReadRoots     []string      `json:"read_roots"`
	WriteRoots    []string      `json:"write_roots"`    // may be read too
	MetadataRoots []string      `json:"metadata_roots"` // may be listed and stat'ed, content not readable
	DeniedRoots   []string      `json:"denied_roots"`
	Network       Network       `json:"network"`
	Targets       []string      `json:"targets"`     // host or host:port, for NetworkProxied
	Environment   []string      `json:"environment"` // names wanted, never values
	Limits        Limits        `json:"limits"`
}

// Layer is the evidence for one layer of a boundary.
type Layer struct {
	Name   string `json:"name"`   // "namespaces", "mounts", "landlock", "seccomp", "no_new_privs", "capabilities" …
	OK     bool   `json:"ok"`     // in force, as reported by the started process itself
	Detail string `json:"detail"` // what was seen, e.g. "ABI 7, handled 0x7fff"
}

// RecordKind says which half of a receipt a record is.
type RecordKind string

// A receipt is two chained records. A start without an end is itself information.
const (
	RecordStart    RecordKind = "start"
	RecordEnd      RecordKind = "end"
	RecordWrite    RecordKind = "write"    // a checked write
	RecordDecision RecordKind = "decision" // a call released to the agent: decided, nothing said about a boundary
)

// Record is one receipt record as it is signed and chained. It is made only from what the core itself saw; argv and
// environment values enter as digests. Digests are "sha256:" + lower-case hex.
type Record struct {
	ID          string            `json:"id"` // UUIDv7
	Kind        RecordKind        `json:"kind"`
	Time        time.Time         `json:"time"`
	Request     string            `json:"request"` // request id
	Call        string            `json:"call"`
	Session     string            `json:"session"`
	Principal   string            `json:"principal"`
	Class       ProcessClass      `json:"class,omitempty"`
	Tool        string            `json:"tool,omitempty"`
	ArgvDigest  string            `json:"argv_digest,omitempty"`
	Cwd         string            `json:"cwd,omitempty"`
	CwdIdentity pathid.Identity   `json:"cwd_identity,omitzero"`
	Effective   *Snapshot         `json:"effective,omitempty"`
	Environment []string          `json:"environment,omitempty"` // names only
	Backend     string            `json:"backend,omitempty"`     // "bubblewrap+landlock+seccomp"
	Version     string            `json:"version,omitempty"`     // of the backend
	Enforcement Enforcement       `json:"enforcement,omitempty"`
	Layers      []Layer           `json:"layers,omitempty"`
	Start       string            `json:"start,omitempty"` // for an end record: id of its start record
	StartedAt   time.Time         `json:"started_at,omitzero"`
	EndedAt     time.Time         `json:"ended_at,omitzero"`
	ExitStatus  *int              `json:"exit_status,omitempty"` // absent when killed by a signal or never started
	Signal      string            `json:"signal,omitempty"`
	Cause       string            `json:"cause,omitempty"` // why it ended, when not by itself: "client_gone", "wall_clock", "core_stopped" …
	UserCPU     time.Duration     `json:"user_cpu_ns,omitempty"`
	SystemCPU   time.Duration     `json:"system_cpu_ns,omitempty"`
	MaxRSS      int64             `json:"max_rss_bytes,omitempty"`
	Denials     []Denial          `json:"denials,omitempty"`
	Write       *WriteRecord      `json:"write,omitempty"`
	Extra       map[string]string `json:"extra,omitempty"`
}

// WriteRecord says what a checked write changed.
type WriteRecord struct {
	Path           string          `json:"path"`
	OldDigest      string          `json:"old_digest,omitempty"` // absent for a new file
	NewDigest      string          `json:"new_digest"`
	IdentityBefore pathid.Identity `json:"identity_before,omitzero"`
	IdentityAfter  pathid.Identity `json:"identity_after"`
	Published      string          `json:"published"` // "exchange", "link", "rename", "in_place"
}

// Provenance says who refused an operation. Process output is never provenance.
type Provenance string

// The provenances of a denial.
const (
	ProvenanceKernel  Provenance = "Kernel"
	ProvenanceBackend Provenance = "Backend"
)

// Denial is one refused operation, from the kernel's own report or from a backend that decided.
type Denial struct {
	Call       string     `json:"call"`
	PID        int        `json:"pid"`
	Operation  string     `json:"operation"`
	Target     string     `json:"target"`
	Rule       string     `json:"rule"`
	Provenance Provenance `json:"provenance"`
	Time       time.Time  `json:"time"`
}

// Snapshot is the readable form of an Effective capability, for the wire, the card and receipts. It grants nothing.
type Snapshot struct {
	Request
}
