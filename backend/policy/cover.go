package policy

import (
	"strings"
)

// coverage says whether a call is covered by allow rules, safe reads and, for redirections, accepted edits.
type coverage struct {
	ok    bool
	rule  *SourcedRule // the rule to name; nil when no rule was needed
	edits bool         // acceptEdits was needed for a redirection
	why   string       // what is not covered
}

func uncovered(why string) coverage { return coverage{why: why} }

func (c coverage) and(o coverage) coverage {
	if !c.ok {
		return c
	}
	if !o.ok {
		return o
	}
	if o.rule != nil {
		c.rule = better(c.rule, o.rule)
	}
	c.edits = c.edits || o.edits
	return c
}

// allowView is the allow rules that count for this decision: at its boundary, trusted, and not set aside by the mode.
func (d *decision) allowView() ruleView {
	enforced := d.in.Boundary == BoundaryEnforced
	aside := d.mode == ModeAcceptEdits || d.mode == ModeAuto
	return d.in.Rules.view(ListAllow, func(r *SourcedRule) bool {
		if r.Boundary != BoundaryAny && !enforced {
			return false
		}
		if r.Source == SourceRepository && !r.Trusted {
			return false
		}
		return !(aside && r.Rule.HandsOver())
	})
}

// covered judges the whole call.
func (d *decision) covered() coverage {
	f := d.f
	if f.strange != "" {
		return uncovered(f.strange)
	}
	switch tools[f.tool].family {
	case familyCommand:
		return d.coveredText()
	case familyRead:
		return d.coveredPaths([]string{f.tool}, f.tool)
	case familyWrite:
		if f.noTarget || f.patch {
			return uncovered("no target")
		}
		return d.coveredPaths(writeTools, f.tool)
	case familyDomain:
		return d.coveredHosts()
	case familyMCP:
		if len(f.mcp) != 1 {
			return uncovered("ambiguous MCP name")
		}
		return d.coveredBy(func(c *compiledRule) bool { return c.matchesMCP(f.mcp[0]) })
	case familySurface:
		return d.coveredBy(func(c *compiledRule) bool { return c.kind == kindWhole })
	}
	return d.coveredBy(func(c *compiledRule) bool {
		return c.kind == kindWhole || c.kind == kindSubject && f.hasSubject && matchText(c.pattern, f.subject)
	})
}

// writeTools are matched alike by path rules: an edit of a file is a write of it.
var writeTools = []string{ToolWrite, ToolEdit, ToolApplyPatch}

// coveredBy looks for one rule of the call's tool that fn accepts.
func (d *decision) coveredBy(fn func(*compiledRule) bool) coverage {
	out := uncovered("no rule")
	d.allow.forTool([]string{d.f.tool}, func(r *SourcedRule) {
		if fn(r.Rule.c) {
			out.ok, out.rule = true, better(out.rule, r)
		}
	})
	if d.f.tool == ToolWebUse && d.f.call.Surface != "" {
		d.allow.forTool([]string{ToolWebUse}, func(r *SourcedRule) {
			if r.Rule.c.kind == kindSurface && r.Rule.content == d.f.call.Surface {
				out.ok, out.rule = true, better(out.rule, r)
			}
		})
	}
	return out
}

// coveredPaths looks for a rule for every path the tool names. A rule without a path counts only for its own tool.
func (d *decision) coveredPaths(ruleTools []string, own string) coverage {
	out := coverage{ok: true}
	for i := range d.f.accesses {
		out = out.and(d.coveredAccess(&d.f.accesses[i], ruleTools, own))
	}
	if len(d.f.accesses) == 0 {
		return uncovered("no path")
	}
	return out
}

func (d *decision) coveredAccess(a *access, ruleTools []string, own string) coverage {
	out := uncovered("no rule for " + a.text)
	d.allow.forTool(ruleTools, func(r *SourcedRule) {
		if r.Rule.c.kind == kindWhole && r.Rule.tool != own {
			return
		}
		if r.Rule.c.grantsAccess(a, d.f.paths) {
			out.ok, out.rule = true, better(out.rule, r)
		}
	})
	return out
}

func (d *decision) coveredHosts() coverage {
	if d.f.badHost || len(d.f.hosts) == 0 {
		return uncovered("host is not known")
	}
	out := coverage{ok: true}
	for _, host := range d.f.hosts {
		out = out.and(d.coveredBy(func(c *compiledRule) bool { return c.matchesHost(host) }))
	}
	return out
}

// coveredText judges a command text: every simple command, every redirection that writes, every assignment.
func (d *decision) coveredText() coverage {
	f := d.f
	if whole := d.wholeText(); whole.ok {
		return whole
	}
	if len(f.opaque) > 0 {
		return uncovered("opaque: " + f.opaque[0])
	}
	if len(f.commands) == 0 {
		return uncovered("no command")
	}
	out := coverage{ok: true}
	for i, c := range f.commands {
		if c.parent < 0 && !c.denyOnly {
			out = out.and(d.coveredCommand(i))
		}
	}
	for i := range f.accesses {
		a := &f.accesses[i]
		switch {
		case !a.redirect || a.denyOnly:
		case a.write:
			out = out.and(d.coveredRedirect(a))
		default:
			out = out.and(d.coveredInput(a))
		}
	}
	return out
}

// wholeText looks for an exact rule whose text is the whole command: the only one that covers what is opaque.
func (d *decision) wholeText() coverage {
	text := strings.TrimSpace(d.f.text)
	out := uncovered("")
	match := func(r *SourcedRule) {
		if r.Rule.c.kind == kindExact && r.Rule.content == text && text != "" && hiddenText(text) == "" {
			out.ok, out.rule = true, better(out.rule, r)
		}
	}
	if len(d.f.opaque) == 0 {
		return out // then the parts are judged, and an exact rule must match them
	}
	d.allow.forTool([]string{d.f.tool}, match)
	for _, c := range d.f.commands {
		if len(c.words) > 0 {
			d.allow.forProgram(d.f.tool, c.words[0].text, match)
		}
	}
	if fields := strings.Fields(text); len(fields) > 0 {
		d.allow.forProgram(d.f.tool, baseName(d.f.call.Platform, fields[0]), match)
	}
	return out
}

// coveredRedirect judges a redirection that writes.
func (d *decision) coveredRedirect(a *access) coverage {
	out := d.coveredAccess(a, writeTools, ToolWrite)
	if out.ok {
		return out
	}
	if d.acceptsEdits() && a.unsafeWrite() == "" {
		return coverage{ok: true, edits: true}
	}
	out.why = "writes " + a.text
	return out
}

// coveredInput judges a redirection that reads, wherever it stands: $(<file) reads without any command, and what a
// compound command is given is read by whatever runs inside it. A rule that lets the one plain command at which it stands
// have other operands covers it, because that command could open the file by itself. A rule of exactly these words names
// no file, so it covers none.
func (d *decision) coveredInput(a *access) coverage {
	why := a.whyUnreadable()
	if why == "" {
		return coverage{ok: true}
	}
	if out := d.coveredAccess(a, []string{ToolRead}, ToolRead); out.ok {
		return out
	}
	if a.command >= 0 && a.command < len(d.f.commands) {
		if c := d.f.commands[a.command]; len(c.words) > 0 && !c.denyOnly && c.wrap == wrapNone && c.opaque == "" {
			if out := d.commandRule(a.command); out.ok && out.rule != nil && out.rule.Rule.c.kind != kindExact {
				return out
			}
		}
	}
	return uncovered("reads " + a.text + ": " + why)
}

// coveredCommand judges one command and what it runs.
func (d *decision) coveredCommand(i int) coverage {
	f := d.f
	c := f.commands[i]
	if c.denyOnly {
		return coverage{ok: true}
	}
	if c.opaque != "" {
		return uncovered("opaque: " + c.opaque)
	}
	byRule := d.commandRule(i)
	if byRule.ok {
		return byRule
	}
	if why := c.unspelled(); why != "" {
		return uncovered(why)
	}
	switch {
	case len(c.words) == 0:
		return coverage{ok: true} // assignments, all harmless
	case c.declares && declares[c.base]:
		return coverage{ok: true}
	case c.unsafe == "" && c.wrap == wrapNone && d.readsInPlace(i):
		return coverage{ok: true}
	case c.wrap == wrapTransparent && len(c.inner) > 0 && len(c.options) == 0 && trustedName(c),
		c.wrap == wrapShell && len(c.inner) > 0 && trustedName(c):
		return d.coveredInner(c)
	}
	why := c.describe()
	if len(why) > 120 {
		why = strings.ToValidUTF8(why[:120], "") + "…"
	}
	return uncovered("no rule for " + why)
}

// declares are the builtins whose assignments are judged like any other. Without an assignment of its own, each of them
// prints the environment.
var declares = set("export declare local readonly typeset")

// trustedName reports whether a wrapper is the system's own: a wrapper from somewhere else may do anything.
func trustedName(c *command) bool {
	return c.name == c.base || c.name == "/bin/"+c.base || c.name == "/usr/bin/"+c.base
}

// unspelled says which assignment before the command needs a rule that spells it, or "".
func (c *command) unspelled() string {
	for _, a := range c.assigns {
		if !a.harmless(c.base) {
			return "sets " + a.name
		}
	}
	return ""
}

// readsInPlace reports whether being a safe read is enough where the command stands: inside a substitution only when its
// output goes to another safe read, inside a text that a shell runs never.
func (d *decision) readsInPlace(i int) bool {
	for range maxTextDepth * MaxNesting {
		c := d.f.commands[i]
		if !c.explicit {
			return true
		}
		if c.consumer < 0 || c.consumer >= len(d.f.commands) || c.consumer == i {
			return false
		}
		i = c.consumer
		if next := d.f.commands[i]; next.unsafe != "" || next.wrap != wrapNone || len(next.words) == 0 || next.denyOnly {
			return false
		}
	}
	return false
}

func (d *decision) coveredInner(c *command) coverage {
	out := coverage{ok: true}
	for _, i := range c.inner {
		out = out.and(d.coveredCommand(i))
	}
	return out
}

// commandRule looks for an allow rule for one command.
func (d *decision) commandRule(i int) coverage {
	c := d.f.commands[i]
	out := uncovered("")
	try := func(r *SourcedRule) {
		ok, reach := r.Rule.c.grants(c)
		if !ok || !d.ruleCovers(r.Rule.c, c, reach) {
			return
		}
		inner := coverage{ok: true}
		if len(c.inner) > 0 && !d.spellsInner(r.Rule.c, c, reach) {
			inner = d.coveredInner(c)
		} else if c.wrap == wrapElevate && len(c.inner) == 0 && r.Rule.c.kind != kindExact {
			return // nobody knows what it runs
		}
		if inner.ok {
			out.ok, out.rule = true, better(out.rule, r)
			if inner.rule != nil {
				out.rule = better(out.rule, inner.rule)
			}
		}
	}
	d.allow.forTool([]string{d.f.tool}, try)
	d.allow.forProgram(d.f.tool, c.base, try)
	return out
}

// ruleCovers checks what a matching rule must spell: executing options and assignments that are not harmless.
func (d *decision) ruleCovers(r *compiledRule, c *command, reach int) bool {
	for _, o := range c.options {
		if !r.spells(o, c, reach) {
			return false
		}
	}
	if r.shape.assigns == 0 && c.unspelled() != "" {
		return false
	}
	if strings.Contains(c.name, "/") && c.name[0] != '/' && c.moved {
		return false // ./x is another file after a cd
	}
	if (c.base == "cd" || c.base == "pushd") && c.chdir != cdInside {
		return false
	}
	return !(c.function && r.kind != kindExact)
}

// spellsInner reports whether the rule spells the program inside a wrapper, so that nothing more is needed for it.
func (d *decision) spellsInner(r *compiledRule, c *command, reach int) bool {
	if r.kind == kindExact {
		return true
	}
	if reach <= c.innerAt || c.wrap == wrapShell {
		return reach > c.innerAt && c.innerAt > 0
	}
	for _, i := range c.inner {
		inner := d.f.commands[i]
		if inner.denyOnly {
			continue
		}
		if inner.wrap != wrapNone || inner.opaque != "" {
			return false
		}
		for _, o := range inner.options {
			if o.dynamic || o.at+c.innerAt >= reach {
				return false
			}
		}
	}
	return true
}
