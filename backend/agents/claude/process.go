package claude

import (
	"strings"

	"countersign/backend/wire"
)

// MatchProcess reports whether a process is Claude Code itself, as far as its program's path tells, or, for an
// installation that runs on an interpreter, its arguments.
func MatchProcess(p wire.Process) bool {
	match, _ := Recognise(p)
	return match
}

// Recognise is MatchProcess, and says whether the program's own path tells it (verified). Arguments and a command name
// are claimed by the process itself: they match, unverified. A path proves where a program lies, not what it is.
func Recognise(p wire.Process) (match, verified bool) {
	exe := strings.TrimSuffix(slashes(p.Exe), " (deleted)") // replaced by an update while it runs (proc(5))
	if programPath(exe) {
		return true, true
	}
	switch base(exe) {
	case "node", "nodejs", "bun", "deno":
		for _, arg := range p.Args {
			if scriptPath(slashes(arg)) {
				return true, false
			}
		}
	case "":
		return p.Name == Name, false
	}
	return false, false
}

// programPath tells the paths of Claude's own program: of the npm package, of the native installer
// (…/claude/versions/2.1.332), or simply a program named claude.
func programPath(exe string) bool {
	name := strings.TrimSuffix(base(exe), ".exe")
	if name == Name {
		return true
	}
	return strings.HasSuffix(strings.TrimSuffix(exe, base(exe)), "/claude/versions/") && version(name)
}

// scriptPath tells the script of the npm package where an interpreter runs it.
func scriptPath(arg string) bool {
	return strings.Contains(arg, "/@anthropic-ai/claude-code/") && (strings.HasSuffix(arg, ".js") || strings.HasSuffix(arg, ".mjs") || strings.HasSuffix(arg, ".cjs"))
}

func version(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789.") == ""
}

func slashes(path string) string { return strings.ReplaceAll(path, `\`, "/") }

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
