package policy

// agentCapabilities is what a connected agent may ask for. It holds nothing that changes the desk itself.
var agentCapabilities = []Capability{
	CapApprovalRequest, CapSessionRead, CapSessionCreate,
	CapFilesWrite, CapProcessExec, CapNetworkSend, CapMemoryWrite, CapWebUse,
}

// ownerCapabilities is everything.
var ownerCapabilities = []Capability{
	CapApprovalAnswer, CapApprovalRequest, CapPermissionSet, CapRulesEdit, CapSandboxSet, CapSessionRead,
	CapSessionCreate, CapFilesWrite, CapProcessExec, CapNetworkSend, CapMemoryWrite, CapWebUse, CapScheduleManage,
	CapReceiptsRead, CapAdmin,
}

// AgentAuthority is the authority of the agent of one session: it may act and ask, never answer or change settings.
func AgentAuthority(kind, session string) Authority {
	return preset(PrincipalAgent, "agent/"+kind+"/"+session, kind != "" && session != "", agentCapabilities)
}

// OwnerAuthority is the authority of the owner with this key fingerprint.
func OwnerAuthority(fingerprint string) Authority {
	return preset(PrincipalOwner, "owner/"+fingerprint, fingerprint != "", ownerCapabilities)
}

// SubagentAuthority is what a child that parent started holds: never more than parent, and never the right to ask for
// an escalation.
func SubagentAuthority(parent Authority, name string) Authority {
	var caps []Capability
	for _, c := range agentCapabilities {
		if c != CapApprovalRequest && parent.Has(c) {
			caps = append(caps, c)
		}
	}
	return preset(PrincipalSubagent, parent.ID+"/sub/"+name, parent.ID != "" && name != "", caps)
}

// ScheduledAuthority is the authority of one scheduled task: it reads, and uses the memory tools.
func ScheduledAuthority(task string) Authority {
	return preset(PrincipalScheduled, "scheduled/"+task, task != "", []Capability{CapSessionRead, CapMemoryWrite})
}

func preset(kind PrincipalKind, id string, named bool, caps []Capability) Authority {
	if !named {
		return Authority{} // missing identity: everything is denied
	}
	return Authority{ID: id, Kind: kind, Capabilities: append([]Capability(nil), caps...)}
}

// delegated reports whether somebody other than the owner's own agent process acts: a child, or an MCP client.
func (a Authority) delegated() bool { return a.Kind == PrincipalSubagent || a.Kind == PrincipalMCP }

// agentLike reports whether own-protection applies: everything but a person does.
func (a Authority) agentLike() bool { return a.Kind != PrincipalOwner }
