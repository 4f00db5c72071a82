package imports

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Places lists where an agent keeps its rules, in its own order of precedence (project files first), for the given
// home and project directory; they need not exist. Of a directory of rule files, those that are there are listed, and
// the one that the agent itself writes.
func Places(agent, home, project string) ([]string, error) {
	var out []string
	file := func(dir string, names ...string) {
		if dir != "" {
			for _, name := range names {
				out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
			}
		}
	}
	switch agent {
	case agentClaude:
		file(project, ".claude/settings.local.json", ".claude/settings.json")
		file(home, ".claude/settings.json")
	case agentCodex:
		for _, dir := range []string{project, home} {
			if dir != "" {
				out = append(out, filesIn(filepath.Join(dir, ".codex", "rules"), ".rules", "default.rules")...)
			}
			file(dir, ".codex/config.toml")
		}
	case agentGemini:
		for _, dir := range []string{project, home} {
			if dir != "" {
				out = append(out, filesIn(filepath.Join(dir, ".gemini", "policies"), ".toml", "auto-saved.toml")...)
			}
			file(dir, ".gemini/settings.json")
		}
	case agentOpenCode:
		file(project, ".opencode/opencode.jsonc", ".opencode/opencode.json", "opencode.jsonc", "opencode.json")
		file(home, ".config/opencode/opencode.jsonc", ".config/opencode/opencode.json", ".config/opencode/config.json")
	default:
		return nil, fmt.Errorf("places of %q: %w; there are %s", agent, ErrUnknownAgent, strings.Join(Agents(), ", "))
	}
	return out, nil
}

// filesIn lists the files of a directory that end so, sorted, with the one the agent writes even where it is not there.
// A directory that cannot be read counts as empty: opening the file that is always listed then tells what is wrong.
func filesIn(dir, ext, own string) []string {
	names := []string{own}
	entries, err := os.ReadDir(dir)
	if err == nil {
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) == ext && e.Name() != own && len(names) < 100 {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = filepath.Join(dir, name)
	}
	return out
}
