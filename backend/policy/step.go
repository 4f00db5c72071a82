package policy

import (
	"strings"
)

// pass is the answer of a step that does not decide.
func pass(detail string) answer { return answer{detail: detail} }

func (d *decision) stepFixed() answer {
	if sub, detail := d.fixed(); sub != "" {
		return answer{outcome: Deny, reason: ReasonFixedConstraint, sub: sub, detail: detail}
	}
	return pass("")
}

func (d *decision) stepAuthority() answer {
	who := d.in.Authority
	if who.ID == "" || who.Kind == "" {
		return answer{outcome: Deny, reason: ReasonIdentityMissing}
	}
	needs := tools[d.f.tool].needs
	if needs != "" && !who.Has(needs) {
		return answer{outcome: Deny, reason: ReasonCapabilityDenied, detail: string(needs)}
	}
	if IsCommandTool(d.f.tool) && !who.Has(CapFilesWrite) && d.f.writesFiles() {
		return answer{outcome: Deny, reason: ReasonCapabilityDenied, detail: string(CapFilesWrite)}
	}
	return pass(who.ID)
}

// writesFiles reports whether a command is known to write.
func (f *Facts) writesFiles() bool {
	for i := range f.accesses {
		if f.accesses[i].write && !f.accesses[i].denyOnly {
			return true
		}
	}
	return false
}

func (d *decision) stepPlan() answer {
	if !d.plan {
		return pass("")
	}
	refuse := answer{outcome: Deny, reason: ReasonPlanReadonly}
	if IsCommandTool(d.f.tool) {
		if why := d.f.unsafeText(); why != "" {
			refuse.detail = why
			return refuse
		}
		if cov := d.coverOnce(); !cov.ok || cov.edits || d.f.writesFiles() {
			refuse.detail = "not a plain read"
			return refuse
		}
		return pass("only reads")
	}
	if !tools[d.f.tool].planSafe {
		return refuse
	}
	return pass("no side effect")
}

// unsafeText says why a text is more than safe reads, or "".
func (f *Facts) unsafeText() string {
	if f.strange != "" {
		return f.strange
	}
	if len(f.opaque) > 0 {
		return f.opaque[0]
	}
	for _, c := range f.commands {
		if c.denyOnly {
			continue
		}
		if c.wrap != wrapNone && c.wrap != wrapTransparent {
			return "runs another command"
		}
		if c.wrap == wrapNone && c.unsafe != "" {
			return c.unsafe
		}
		if why := c.unspelled(); why != "" {
			return why // LD_PRELOAD=./e.so ls is more than ls, whatever rule spells it
		}
	}
	return ""
}

func (d *decision) stepDeny() answer {
	d.denies = d.restrained(ListDeny)
	if d.denies.hit != nil {
		return answer{outcome: Deny, reason: ReasonRuleDeny, rule: d.denies.hit}
	}
	var reasons []string
	for _, g := range d.in.Gates {
		if g.Outcome == Deny && g.Err == "" {
			reasons = append(reasons, gateText(g))
		}
	}
	if len(reasons) > 0 {
		return answer{outcome: Deny, reason: ReasonGateDenied, detail: strings.Join(reasons, "; ")}
	}
	if d.f.tool == ToolAskUser && !d.in.Session.Attended {
		return answer{outcome: Deny, reason: ReasonUnattended}
	}
	return pass("")
}

func gateText(g GateAnswer) string {
	text := g.Name
	if g.Reason != "" {
		text += ": " + g.Reason
	}
	if g.Err != "" {
		text += ": " + g.Err
	}
	return text
}

func (d *decision) stepAsk() answer {
	f := d.f
	asks := d.restrained(ListAsk)
	if asks.hit != nil {
		return answer{outcome: Ask, reason: ReasonRuleAsk, rule: asks.hit}
	}
	if tools[f.tool].forced {
		return answer{outcome: Ask, reason: ReasonForcedApproval}
	}
	if d.in.ToolAsks != "" {
		return answer{outcome: Ask, reason: ReasonToolRequiresApproval, detail: d.in.ToolAsks}
	}
	if a := d.gatesAsk(); a.outcome != "" {
		return a
	}
	if where := d.unreadable(); where != "" {
		return answer{outcome: Ask, reason: ReasonSourceUnreadable, detail: where}
	}
	if a := d.opaqueAsks(asks); a.outcome != "" {
		return a
	}
	if what := f.dangerous(); what != "" {
		return answer{outcome: Ask, reason: ReasonDangerousPath, detail: what}
	}
	if d.in.OutsideRoots || f.outside {
		return answer{outcome: Ask, reason: ReasonOutsideRoots}
	}
	return pass("")
}

func (d *decision) gatesAsk() answer {
	var asked, failed []string
	for _, g := range d.in.Gates {
		switch {
		case g.Err != "" || g.Outcome != "" && g.Outcome != Allow && g.Outcome != Ask && g.Outcome != Deny:
			failed = append(failed, gateText(g))
		case g.Outcome == Ask:
			asked = append(asked, gateText(g))
		}
	}
	if len(asked) > 0 {
		return answer{outcome: Ask, reason: ReasonGateAsk, detail: strings.Join(append(asked, failed...), "; ")}
	}
	if len(failed) > 0 {
		return answer{outcome: Ask, reason: ReasonGateFailed, detail: strings.Join(failed, "; ")}
	}
	return answer{}
}

// unreadable says which source of rules could not be read, or "". A deny or ask rule that was never parsed counts too.
func (d *decision) unreadable() string {
	least := ""
	for _, u := range d.in.Rules.Unreadable {
		text := u.Where
		if text == "" {
			text = string(u.Source)
		}
		if text == "" {
			text = "a source of rules"
		}
		if least == "" || text < least {
			least = text
		}
	}
	if least == "" {
		for i := range d.in.Rules.Rules {
			if r := &d.in.Rules.Rules[i]; r.Rule.c == nil && r.List != ListAllow {
				return "a rule that was not read"
			}
		}
	}
	return least
}

// opaqueAsks asks where a deny or ask rule may be hidden from: opaque text with any rule of the tool, and a rule that
// might match what is not wholly known.
func (d *decision) opaqueAsks(asks restraint) answer {
	for _, r := range [...]restraint{d.denies, asks} {
		if r.maybe != nil {
			return answer{outcome: Ask, reason: ReasonOpaqueCommand, rule: r.maybe, detail: r.why}
		}
	}
	why := d.f.carries
	if d.unseen {
		why = "more arguments than were looked at"
	}
	if len(d.f.opaque) > 0 {
		why = d.f.opaque[0]
	}
	if why == "" {
		return answer{}
	}
	for _, list := range [...]List{ListDeny, ListAsk} {
		v := d.in.Rules.view(list, everyRule)
		if v.any(d.f.restraining()) {
			return answer{outcome: Ask, reason: ReasonOpaqueCommand, detail: why}
		}
	}
	return answer{}
}

// dangerous says which dangerous path the call writes, or "".
func (f *Facts) dangerous() string {
	for i := range f.accesses {
		a := &f.accesses[i]
		if f.call.Platform.IsWindows() && a.refused == "remote" || a.refused == "device" {
			return a.text + ": " + a.refused
		}
		if f.call.Platform.IsWindows() && a.odd != "" {
			return a.text + ": " + a.odd
		}
		if !a.write || a.denyOnly {
			continue
		}
		if a.dangerous != "" {
			return a.text + ": " + a.dangerous
		}
	}
	return ""
}

func (d *decision) stepSurface() answer {
	if d.f.tool != ToolWebUse && d.f.tool != ToolMCP || d.f.call.Surface == "" {
		return pass("")
	}
	for _, grant := range d.in.Surfaces {
		if grant == d.f.call.Surface {
			return answer{outcome: Allow, reason: ReasonSurfaceGrant, detail: grant}
		}
	}
	return pass("no grant for this surface")
}

func (d *decision) stepBypass() answer {
	if d.mode == ModeBypass {
		return answer{outcome: Allow, reason: ReasonBypass}
	}
	return pass("")
}

// coverOnce judges the allow rules once for the steps that need them.
func (d *decision) coverOnce() coverage {
	if d.cover == nil {
		c := d.covered()
		d.cover = &c
	}
	return *d.cover
}

func (d *decision) stepAllow() answer {
	cov := d.coverOnce()
	if cov.ok && cov.rule != nil {
		return answer{outcome: Allow, reason: ReasonRuleAllow, rule: cov.rule}
	}
	return pass(cov.why)
}

func (d *decision) stepScheduled() answer {
	who := d.in.Authority
	memory := d.f.tool == ToolMemoryGet || d.f.tool == ToolMemoryStatus || d.f.tool == ToolMemoryUpdate
	if who.Kind == PrincipalScheduled && memory && who.Has(CapMemoryWrite) {
		return answer{outcome: Allow, reason: ReasonScheduledMemory}
	}
	return pass("")
}

func (d *decision) stepRead() answer {
	f := d.f
	if IsCommandTool(f.tool) {
		if cov := d.coverOnce(); cov.ok && cov.rule == nil && !cov.edits {
			return answer{outcome: Allow, reason: ReasonSafeRead}
		}
		if d.in.BoxedReads && d.in.Boundary == BoundaryEnforced {
			return answer{outcome: Allow, reason: ReasonBoxedRead, ceiling: CeilingReadOnly}
		}
		return pass(f.unsafeText())
	}
	if !tools[f.tool].harmless {
		return pass("")
	}
	if why := f.unsafeTarget(); why != "" {
		return pass(why)
	}
	return answer{outcome: Allow, reason: ReasonSafeRead}
}

// unsafeTarget says why a reading tool's target is not a safe read, or "".
func (f *Facts) unsafeTarget() string {
	if f.strange != "" {
		return f.strange
	}
	if tools[f.tool].family != familyRead {
		return ""
	}
	if f.noTarget {
		return "no target"
	}
	if f.reads.filter != "" {
		return "asks for secret material (" + f.reads.filter + ")"
	}
	for i := range f.accesses {
		a := f.accesses[i]
		a.assumed = false // the agent expands the tilde, and what counts is where it leads
		if why := a.whyUnreadable(); why != "" {
			return why
		}
		if why := a.reachesSecret(); why != "" {
			return why
		}
	}
	return ""
}

func (d *decision) acceptsEdits() bool { return d.mode == ModeAcceptEdits || d.mode == ModeAuto }

func (d *decision) stepEdits() answer {
	if !d.acceptsEdits() {
		return pass("")
	}
	f := d.f
	if IsCommandTool(f.tool) {
		if cov := d.coverOnce(); cov.ok && cov.edits {
			return answer{outcome: Allow, reason: ReasonAcceptEdits}
		}
		return pass("")
	}
	if !IsWriteTool(f.tool) {
		return pass("")
	}
	if f.noTarget || f.patch || len(f.accesses) == 0 {
		return pass("no target")
	}
	if f.strange != "" {
		return pass(f.strange)
	}
	for i := range f.accesses {
		if why := f.accesses[i].unsafeWrite(); why != "" {
			return pass(why)
		}
	}
	return answer{outcome: Allow, reason: ReasonAcceptEdits}
}

// unsafeWrite says why a path is not safe to write without asking, or "" (policy.md, section 7).
func (a *access) unsafeWrite() string {
	switch {
	case a.dynamic || a.globbed:
		return "a path that is not known"
	case a.refused != "":
		return "a path that must not be touched (" + a.refused + ")"
	case a.odd != "":
		return "a path that can be read in two ways (" + a.odd + ")"
	case !a.inside:
		return "outside the roots"
	case a.dangerous != "":
		return "a dangerous path (" + a.dangerous + ")"
	}
	return ""
}

func (d *decision) stepAuto() answer {
	if d.mode != ModeAuto {
		return pass("")
	}
	c := d.in.Classification
	switch {
	case c == nil:
		return answer{outcome: Classify}
	case c.Err != "":
		return answer{outcome: Ask, reason: ReasonClassifierFailed, detail: c.Err}
	case c.Safe:
		return answer{outcome: Allow, reason: ReasonAutoAllow, detail: c.Reason}
	}
	return answer{outcome: Ask, reason: ReasonAutoBlock, detail: c.Reason}
}

func (d *decision) stepApproval() answer {
	return answer{outcome: Ask, reason: ReasonApprovalRequired}
}
