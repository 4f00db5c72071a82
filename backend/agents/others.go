package agents

import (
	"path"
	"strings"

	"countersign/backend/wire"
)

// others are agents without an adapter here. Their processes are recognised all the same, so that what runs below them is
// never taken for the owner.
var others = []string{
	"codex", "gemini", "opencode", "copilot", "qwen", "cline", "aider", "cursor-agent", "goose", "crush", "amp", "droid", "kiro-cli", "auggie",
}

// interpreters run agents whose program is a script.
var interpreters = map[string]bool{"node": true, "nodejs": true, "bun": true, "deno": true, "python": true, "python3": true}

// byName recognises an agent by the name of its program, or of the script an interpreter runs for it. Both are claims: a
// match only takes rights away.
func byName(agent string) Recognise {
	is := func(file string) bool {
		base := path.Base(strings.ReplaceAll(file, `\`, "/"))
		for _, suffix := range []string{".exe", ".js", ".mjs", ".cjs", ".py"} {
			base = strings.TrimSuffix(base, suffix)
		}
		return base == agent
	}
	return func(p wire.Process) (match, verified bool) {
		program := strings.TrimSuffix(p.Exe, " (deleted)")
		if is(program) || p.Name == agent {
			return true, false
		}
		base := strings.TrimRight(path.Base(program), ".0123456789")
		if !interpreters[base] {
			return false, false
		}
		for _, arg := range p.Args {
			if is(arg) || strings.Contains(strings.ReplaceAll(arg, `\`, "/"), "/"+agent+"/") {
				return true, false
			}
		}
		return false, false
	}
}
