package desk

import (
	"countersign/backend/config"
	"countersign/backend/pathid"
	"countersign/backend/rules"
	"countersign/backend/wire"
)

// ManagedFile is where an administrator puts rules for everybody on this machine.
const ManagedFile = rules.ManagedFile

// OutsideRules are the rules that can be seen without a desk: those of the administrator's file ("" is the system's own place
// for it), of config.toml and of a project's repository ("" is none). What the desk keeps is missing, and with it whether
// the repository is trusted.
func OutsideRules(managed, file string, r config.Rules, fsys pathid.FS, p pathid.Platform, project string) wire.PermissionRules {
	set := rules.Outside(rules.Options{FS: fsys, Platform: p, Global: FileRules(file, r), Managed: managed}, project)
	out := wire.PermissionRules{Rules: set.Rules, Unreadable: set.Unreadable, Constraints: wireConstraints(set.Constraints)}
	for _, i := range set.Ignored {
		out.Ignored = append(out.Ignored, wire.IgnoredRule{Source: i.Source, Where: i.Where, Text: i.Text, Why: i.Why})
	}
	return out
}
