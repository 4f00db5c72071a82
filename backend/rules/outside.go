package rules

import "countersign/backend/policy"

// Outside gathers the rules that stand in files: the administrator's, those of o.Global, and the repository's of a project.
// It needs no store, so what the desk keeps is missing, and with it whether the owner trusts the repository: its allow
// rules are ignored. A set without a project has none of a repository.
func Outside(o Options, project string) Set {
	if o.Managed == "" {
		o.Managed = ManagedFile
	}
	managed := readManaged(o.Managed)
	repository := readRepository(o.FS, o.Platform, project)
	out := Set{Constraints: managed.constraints}
	out.Ignored = append(append(out.Ignored, managed.ignored...), repository.ignored...)
	for _, set := range [...]policy.RuleSet{managed.set, o.Global, repository.set} {
		out.Unreadable = append(out.Unreadable, set.Unreadable...)
		for _, r := range set.Rules {
			why := ""
			switch {
			case r.List != policy.ListAllow:
			case managed.constraints.ManagedAllowOnly && r.Source != policy.SourceManaged:
				why = WhyManagedOnly
			case r.Source == policy.SourceRepository:
				why = WhyNotTrusted
			}
			if why == "" {
				out.Rules = append(out.Rules, r)
				continue
			}
			out.Ignored = append(out.Ignored, Ignored{Source: r.Source, Where: placeOf(r, repository), Text: r.Rule.String(), Why: why})
		}
	}
	return out
}
