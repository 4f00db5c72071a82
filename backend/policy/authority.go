package policy

// PrincipalKind says what kind of principal asks.
type PrincipalKind string

// The principal kinds.
const (
	PrincipalOwner     PrincipalKind = "owner"
	PrincipalPaired    PrincipalKind = "paired"
	PrincipalAgent     PrincipalKind = "agent"
	PrincipalSubagent  PrincipalKind = "subagent"
	PrincipalMCP       PrincipalKind = "mcp"
	PrincipalScheduled PrincipalKind = "scheduled"
	PrincipalRecovery  PrincipalKind = "recovery"
)

// Capability is one thing a principal may do.
type Capability string

// The capabilities.
const (
	CapApprovalAnswer  Capability = "approval.answer"
	CapApprovalRequest Capability = "approval.request"
	CapPermissionSet   Capability = "permission.set"
	CapRulesEdit       Capability = "rules.edit"
	CapSandboxSet      Capability = "sandbox.set"
	CapSessionRead     Capability = "session.read"
	CapSessionCreate   Capability = "session.create"
	CapFilesWrite      Capability = "files.write"
	CapProcessExec     Capability = "process.exec"
	CapNetworkSend     Capability = "network.send"
	CapMemoryWrite     Capability = "memory.write"
	CapWebUse          Capability = "web.use"
	CapScheduleManage  Capability = "schedule.manage"
	CapReceiptsRead    Capability = "receipts.read"
	CapAdmin           Capability = "admin"
)

// Authority is who asks and what they hold. It is a value passed in, made by the server from the peer it saw, never
// read from a request's content. The zero Authority is missing identity: everything is denied.
type Authority struct {
	ID           string        `json:"id"` // "owner/<fingerprint>", "agent/<kind>/<session>" …
	Kind         PrincipalKind `json:"kind"`
	Capabilities []Capability  `json:"capabilities"`
}

// Has reports whether the authority holds c. An authority without id or kind holds nothing.
func (a Authority) Has(c Capability) bool {
	if a.ID == "" || a.Kind == "" {
		return false
	}
	for _, have := range a.Capabilities {
		if have == c {
			return true
		}
	}
	return false
}
