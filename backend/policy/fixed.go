package policy

import (
	"strings"

	"countersign/backend/pathid"
)

// The sub-reasons of fixed_constraint.
const (
	SubOwnProtection = "own_protection"        // writes, deletes or links what belongs to Countersign
	SubOwnVerb       = "own_verb"              // a verb of Countersign that is not for agents
	SubDestruction   = "unbounded_destruction" // recursive removal of a system, home or parent directory; a block device
	SubForkBomb      = "fork_bomb"
	SubNoTarget      = "missing_target"   // a delegated write without a target
	SubContainment   = "containment"      // a delegated write outside the roots
	SubScheduled     = "scheduled_tools"  // a scheduled task used more than the read and memory tools
	SubApplication   = "application_path" // an auto-imported application
)

// fixed checks the constraints that no setting, rule, mode or approval lifts.
func (d *decision) fixed() (sub, detail string) {
	f, who := d.f, d.in.Authority
	if f.forkBomb {
		return SubForkBomb, "a function that starts itself twice"
	}
	if target := f.destroys(); target != "" {
		return SubDestruction, target
	}
	if who.agentLike() {
		if path := f.touchesOwn(f.call.Own.Applications); path != "" {
			return SubApplication, path
		}
		if path := f.touchesOwn(f.call.Own.Paths); path != "" {
			return SubOwnProtection, path
		}
		if verb := f.ownVerb(); verb != "" {
			return SubOwnVerb, verb
		}
	}
	if who.delegated() && IsWriteTool(f.tool) {
		if f.noTarget || f.patch {
			return SubNoTarget, "no target, or an empty one"
		}
		for i := range f.accesses {
			if a := &f.accesses[i]; a.write && (!a.inside || a.dynamic || a.refused != "") {
				return SubContainment, "outside the roots"
			}
		}
	}
	if who.Kind == PrincipalScheduled {
		traits := tools[f.tool]
		memory := f.tool == ToolMemoryStatus || f.tool == ToolMemoryGet || f.tool == ToolMemoryUpdate
		if traits.family != familyRead && f.tool != ToolSearch && !memory {
			return SubScheduled, f.tool
		}
	}
	return "", ""
}

// touchesOwn reports the first protected path that the call writes, removes, moves, links or hands to a program that
// might write it.
func (f *Facts) touchesOwn(protected []string) string {
	if len(protected) == 0 {
		return ""
	}
	p := f.call.Platform
	hit := func(path string, above bool) string {
		if path == "" {
			return ""
		}
		for _, own := range protected {
			if pathid.Contains(p, own, path) || above && pathid.Contains(p, path, own) {
				return own
			}
		}
		return ""
	}
	for i := range f.accesses {
		a := &f.accesses[i]
		links := a.command >= 0 && a.command < len(f.commands) && (f.commands[a.command].base == "ln" || f.commands[a.command].base == "link")
		if !a.write && !links {
			continue
		}
		for _, path := range [...]string{a.lexical, a.resolved} {
			if own := hit(path, a.remove || a.recursive); own != "" {
				return own
			}
		}
		if a.globbed && a.remove && a.lexical != "" {
			if own := hit(pathid.Dir(p, a.lexical), false); own != "" {
				return own
			}
		}
	}
	for _, c := range f.commands {
		if len(c.words) == 0 || onlyReads(c.base) {
			continue
		}
		for _, w := range c.words[1:] {
			for _, part := range [...]string{w.text, afterEquals(w.text)} {
				if part == "" || !strings.ContainsAny(part, `/\`) {
					continue
				}
				if abs, err := pathid.Abs(p, f.cwd, part); err == nil {
					if own := hit(abs, false); own != "" {
						return own
					}
				}
			}
		}
	}
	return ""
}

func afterEquals(text string) string {
	_, after, _ := strings.Cut(text, "=")
	return after
}

// onlyReads reports whether a program is known to do nothing but read its operands.
func onlyReads(base string) bool {
	if spec := safeReads[base]; spec != nil && base != "git" && base != "find" && !interpreterName(base) {
		return true
	}
	u := usages[base]
	return u != nil && u.read && !u.write && !u.last && u.inPlace == "" && !interpreterName(base)
}

// ownBinaries are our programs whatever the call says.
var ownBinaries = set("countersign countersign-desk countersign-tray countersign-init")

// ownVerbs may be used by agents. Everything else of ours (answer, mode, rules, disconnect …) is for people; the server
// refuses it too, whatever the binary is called.
var ownVerbs = set("hook mcp acp explain status version --version --help -h help")

// ownRunFlags do not widen what run does.
var ownRunFlags = set("--call --dir --explain --json --help -h --read-only")

func (f *Facts) ownVerb() string {
	for _, c := range f.commands {
		base := strings.ToLower(c.base)
		own := ownBinaries[base]
		for _, name := range f.call.Own.Binaries {
			own = own || strings.EqualFold(name, base)
		}
		if !own || len(c.words) < 2 {
			continue
		}
		verb := c.words[1]
		if !verb.known {
			return "a verb that is not known"
		}
		if ownVerbs[verb.text] {
			continue
		}
		if verb.text != "run" {
			return verb.text
		}
		for _, w := range c.words[2:] {
			if w.text == "--" {
				break
			}
			name, _, _ := strings.Cut(w.text, "=")
			if !w.known || strings.HasPrefix(name, "-") && !ownRunFlags[name] {
				return "run " + name
			}
		}
	}
	return ""
}
