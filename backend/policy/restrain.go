package policy

import "strings"

// restraint is what the deny or ask rules say: hit is a rule that matches, maybe one that might.
type restraint struct {
	hit   *SourcedRule
	maybe *SourcedRule
	why   string // of maybe
}

func (r *restraint) add(m match, rule *SourcedRule, why string) {
	switch m {
	case matchYes:
		r.hit = better(r.hit, rule)
	case matchMaybe:
		if better(r.maybe, rule) == rule && r.maybe != rule {
			r.maybe, r.why = rule, why
		}
	}
}

// every rule counts for deny and ask, whatever its source and boundary.
func everyRule(*SourcedRule) bool { return true }

// restraining are the tools whose deny and ask rules can concern the call.
func (f *Facts) restraining() []string {
	switch tools[f.tool].family {
	case familyCommand:
		return []string{f.tool, ToolRead, ToolWrite, ToolEdit, ToolApplyPatch}
	case familyRead:
		if f.tool == ToolRead {
			return []string{ToolRead}
		}
		return []string{f.tool, ToolRead}
	case familyWrite:
		return writeTools
	}
	return []string{f.tool}
}

// restrained matches the rules of one list generously against everything the call is known to do.
func (d *decision) restrained(list List) restraint {
	f := d.f
	v := d.in.Rules.view(list, everyRule)
	var out restraint
	switch tools[f.tool].family {
	case familyCommand:
		d.restrainText(v, &out)
	case familyRead, familyWrite:
		v.forTool(f.restraining(), func(r *SourcedRule) {
			if r.Rule.c.kind == kindWhole {
				out.add(matchYes, r, "")
				return
			}
			at := r.Rule.c.anchor(f.paths, true)
			for i := range f.accesses {
				out.add(r.Rule.c.restrainsAccess(&f.accesses[i], at, f.paths), r, "a path that is not wholly known")
			}
			if f.noTarget {
				out.add(matchMaybe, r, "no target is known")
			}
		})
	case familyDomain:
		v.forTool(f.restraining(), func(r *SourcedRule) {
			if r.Rule.c.kind == kindWhole {
				out.add(matchYes, r, "")
			}
			for _, host := range f.hosts {
				if r.Rule.c.matchesHost(host) {
					out.add(matchYes, r, "")
				}
			}
			if f.badHost {
				out.add(matchMaybe, r, "the host is not known")
			}
		})
	case familyMCP:
		v.forTool(f.restraining(), func(r *SourcedRule) {
			for _, name := range f.mcp {
				if r.Rule.c.matchesMCP(name) {
					out.add(matchYes, r, "")
				}
			}
			if len(f.mcp) == 0 {
				out.add(matchMaybe, r, "server and tool are not known")
			}
		})
	case familySurface:
		v.forTool(f.restraining(), func(r *SourcedRule) {
			switch {
			case r.Rule.c.kind == kindWhole, f.call.Surface != "" && r.Rule.content == f.call.Surface:
				out.add(matchYes, r, "")
			case f.call.Surface == "":
				out.add(matchMaybe, r, "the surface is not known")
			}
		})
	default:
		v.forTool(f.restraining(), func(r *SourcedRule) {
			switch {
			case r.Rule.c.kind == kindWhole, f.hasSubject && matchText(r.Rule.c.pattern, f.subject):
				out.add(matchYes, r, "")
			case !f.hasSubject:
				out.add(matchMaybe, r, "what the call is about is not known")
			}
		})
	}
	return out
}

// restrainText matches command rules against every simple command and the whole text, and path rules against what the
// commands read and write.
func (d *decision) restrainText(v ruleView, out *restraint) {
	f := d.f
	p := f.call.Platform
	text := strings.TrimSpace(f.text)
	whole := func(r *SourcedRule) {
		if r.Rule.c.kind == kindWhole || r.Rule.c.kind == kindExact && r.Rule.content == text {
			out.add(matchYes, r, "")
		}
	}
	v.forTool([]string{f.tool}, func(r *SourcedRule) {
		whole(r)
		if r.Rule.c.kind == kindWhole {
			return
		}
		for _, c := range f.commands {
			out.add(r.Rule.c.restrains(c, p), r, "a command that is not wholly known")
		}
	})
	for _, c := range f.commands {
		v.forProgram(f.tool, c.base, func(r *SourcedRule) {
			whole(r)
			out.add(r.Rule.c.restrains(c, p), r, "a command that is not wholly known")
		})
	}
	v.forTool([]string{ToolRead}, func(r *SourcedRule) { d.restrainAccesses(r, false, out) })
	v.forTool(writeTools, func(r *SourcedRule) { d.restrainAccesses(r, true, out) })
	if out.hit == nil {
		v.forTool([]string{ToolRead}, func(r *SourcedRule) { d.restrainPossible(r, false, out) })
		v.forTool(writeTools, func(r *SourcedRule) { d.restrainPossible(r, true, out) })
		d.restrainForwarded(v, out)
	}
}

func (d *decision) restrainAccesses(r *SourcedRule, write bool, out *restraint) {
	var at anchored
	judge := func(i int) {
		if a := &d.f.accesses[i]; a.write == write {
			if at.patterns == nil {
				at = r.Rule.c.anchor(d.f.paths, true)
			}
			out.add(r.Rule.c.restrainsAccess(a, at, d.f.paths), r, "a path that is not wholly known")
		}
	}
	if d.f.distinct != nil {
		for _, i := range d.f.distinct {
			judge(i)
		}
		return
	}
	for i := range d.f.accesses {
		judge(i)
	}
}

// forwarders run words of their arguments as a command in ways that are not followed.
var forwarders = set(`docker podman nerdctl kubectl oc npm pnpm yarn npx bunx bun uv uvx poetry pipenv bundle conda mamba
	ssh mosh mise asdf direnv nix nix-shell devbox hatch tox nox pdm rye just task vagrant lxc multipass wsl adb
	chezmoi op doppler aws-vault dotenv cross-env concurrently nodemon entr hyperfine perf valgrind make cargo go
	tmux screen zellij bfs fd fdfind sqlite3 psql mysql`)

// forwards reports whether a program may run words of its arguments as a command: one that is in no table, or one that is
// known to.
func forwards(base string) bool {
	switch {
	case forwarders[base], interpreterName(base):
		return true
	case isWrapperName(base), safeReads[base] != nil, usages[base] != nil, builtinNames[base]:
		return false
	}
	return len(rowsByProgram[base]) == 0
}

// maxForwarded bounds how many argument words are looked at as commands. More than that count as opaque.
const maxForwarded = 1024

// maxSuffixes is how many words of a text's command may stand before the one that is run: .shell rm x.
const maxSuffixes = 4

// restrainForwarded raises a call to a question when a program that may run its arguments is given the words of a command
// that a rule restrains: mywrap git add -A.
func (d *decision) restrainForwarded(v ruleView, out *restraint) {
	f := d.f
	p := f.call.Platform
	left := maxForwarded
	try := func(words []word) {
		c := newCommand(p, words)
		v.forProgram(f.tool, c.base, func(r *SourcedRule) {
			if r.Rule.c.restrains(c, p) != matchNo {
				out.add(matchMaybe, r, "a program that may run its arguments is given the words of a restrained command")
			}
		})
	}
	for _, c := range f.commands {
		for _, a := range c.assigns {
			if left > 0 && a.value != "" && !a.harmless(c.base) {
				left--
				for _, words := range rawCommands(a.value) {
					try(lits(words...))
				}
			}
		}
		if len(c.words) < 2 || !forwards(c.base) || c.raw {
			continue
		}
		for i := 1; i < len(c.words); i++ {
			if left--; left < 0 {
				d.unseen = true
				return
			}
			w := c.words[i]
			if w.text == "" || w.text[0] == '-' {
				continue
			}
			try(c.words[i:])
			if strings.ContainsAny(w.text, " \n\t") {
				for _, words := range rawCommands(w.text) {
					for k := range min(len(words), maxSuffixes) {
						try(lits(words[k:]...))
					}
				}
			}
		}
	}
}
