package policy

import (
	"sort"
	"strings"
)

// Risk is a level for the person who reads a card. It never decides anything.
type Risk struct {
	Level string `json:"level"` // "low", "medium" or "high"
	// Words are what made it so, sorted: names of programs, options and paths, each as the program would get it, so without
	// quotes and with what the shell would put together; and why the text is opaque, word for word Facts.Opaque. A screen
	// marks each where it stands in the command as a word of its own, and lists all of them: one that the text spells in
	// another way stands nowhere in it.
	Words []string `json:"words"`
}

// The risk levels.
const (
	RiskLow    = "low"
	RiskMedium = "medium"
	RiskHigh   = "high"
)

// maxRiskWords is how many words a card marks.
const maxRiskWords = 12

// Risk rates the call (policy.md, section 8).
func (f *Facts) Risk() Risk {
	high := map[string]bool{}
	add := func(words ...string) {
		for _, w := range words {
			if w != "" && len(high) < maxRiskWords {
				high[w] = true
			}
		}
	}
	if len(f.opaque) > 0 {
		add(f.opaque[0])
	}
	for _, c := range f.commands {
		if c.denyOnly && !c.raw {
			continue
		}
		f.riskOf(c, add)
	}
	for i := range f.accesses {
		a := &f.accesses[i]
		switch {
		case a.denyOnly:
		case a.secret != "" && !(a.write && f.tool != ToolRead && a.dangerous == ""):
			add(a.text)
		case a.write && a.dangerous != "":
			add(a.text)
		case a.refused == "remote" || a.refused == "device":
			add(a.text)
		}
	}
	if len(high) > 0 {
		r := Risk{Level: RiskHigh}
		for w := range high {
			r.Words = append(r.Words, w)
		}
		sort.Strings(r.Words)
		return r
	}
	if f.onlyReads() {
		return Risk{Level: RiskLow, Words: []string{}}
	}
	return Risk{Level: RiskMedium, Words: []string{}}
}

// RiskUnder rates the call as it would run: a command that no boundary holds is high, whatever it is. Which words made
// it so is Risk's.
func (f *Facts) RiskUnder(b Boundary) Risk {
	r := f.Risk()
	if IsCommandTool(f.tool) && b != BoundaryEnforced {
		r.Level = RiskHigh
	}
	return r
}

// onlyReads reports whether the call is known to have no side effect.
func (f *Facts) onlyReads() bool {
	if IsCommandTool(f.tool) {
		return f.unsafeText() == "" && !f.writesFiles()
	}
	return tools[f.tool].harmless && f.tool != ToolTodo
}

// downloaders fetch something from elsewhere.
var downloaders = set("curl wget aria2c axel invoke-webrequest invoke-restmethod iwr irm scp sftp ftp rsync")

func (f *Facts) riskOf(c *command, add func(...string)) {
	base := strings.ToLower(c.base)
	flag := func(words ...string) {
		for _, w := range words {
			for _, have := range c.words {
				if have.text == w {
					add(w)
				}
			}
		}
	}
	switch {
	case removers[base] && base != "find" && base != "fd":
		for _, i := range c.accesses {
			if a := &f.accesses[i]; a.recursive && a.remove {
				add(c.name)
				for _, w := range c.words[1:] {
					if strings.HasPrefix(w.text, "-") {
						add(w.text)
					}
				}
			}
		}
		for _, w := range c.words[1:] { // recursion of something that does not exist counts too
			if strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text, "rR") || w.text == "--recursive" {
				add(c.name, w.text)
			}
		}
	case c.wrap == wrapElevate, base == "sudo", base == "su", base == "doas", base == "pkexec", base == "runas":
		add(c.name)
	case downloaders[base]:
		add(c.name)
	case formatters[base] || strings.HasPrefix(base, "mkfs") || base == "dd" || base == "shred" || base == "wipefs":
		add(c.name)
	case base == "git":
		if sub := subcommand(base, c.words); sub < len(c.words) {
			switch c.words[sub].text {
			case "push":
				flag("--force", "-f", "--force-with-lease", "--mirror", "--delete", "-d")
				for _, w := range c.words[sub+1:] {
					if strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":") || strings.HasPrefix(w.text, "--force") {
						add(w.text)
					}
				}
			case "reset":
				flag("--hard")
			case "clean":
				add("clean")
			case "filter-branch", "filter-repo":
				add(c.words[sub].text)
			}
		}
	case base == "find" || base == "fd":
		flag("-delete", "-exec", "-execdir", "-x", "-X")
	case base == "chmod" || base == "chown":
		flag("-R", "777", "--recursive", "a+rwx")
	case base == "kill" || base == "pkill" || base == "killall":
		flag("-9", "-KILL", "-1")
	case shells[base] && c.fed, interpreterName(base) && c.fed && c.opaque != "":
		add(c.name)
	}
	for _, o := range c.options {
		if !o.dynamic && o.at < len(c.words) && base != "find" {
			add(c.words[o.at].text)
		}
	}
}
