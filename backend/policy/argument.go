package policy

import (
	"encoding/json"
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The argument names under which agents send what matters. Every one that is present counts: a call that names one file
// under two names is judged for both.
var (
	commandKeys = []string{"command", "cmd", "script", "commandLine", "command_line"}
	pathKeys    = []string{"file_path", "filePath", "filepath", "path", "paths", "file_paths", "filename", "file_name",
		"file", "files", "notebook_path", "notebookPath", "target_file", "targetFile", "absolute_path", "relative_path",
		"dir_path", "directory", "dir", "include_paths", "old_path", "new_path", "destination"}
	patchKeys   = []string{"patch", "input", "patchText", "patch_text", "diff", "content"}
	urlKeys     = []string{"url", "urls", "uri"}
	subjectKeys = map[string][]string{
		ToolSpawnAgent: {"subagent_type", "agent", "agent_type", "name", "type"},
		ToolMemoryGet:  {"key", "name", "id"}, ToolMemoryUpdate: {"key", "name", "id"},
		ToolWebSearch: {"query"}, ToolSearch: {"query"},
	}
)

// maxTargets is how many paths one call may name.
const maxTargets = 1024

// arguments reads the call's arguments by the kind of its tool.
func (x *analysis) arguments() {
	f := x.f
	var args map[string]json.RawMessage
	if len(f.call.Args) > 0 && json.Unmarshal(f.call.Args, &args) != nil {
		args = nil // not an object: nothing is known of it, so nothing is covered
	}
	switch tools[f.tool].family {
	case familyCommand:
		x.commandArguments(args)
	case familyRead:
		x.readArguments(args)
	case familyWrite:
		x.writeArguments(args)
	case familyDomain:
		for _, text := range textsAt(args, urlKeys) {
			if host, ok := hostOf(text); ok {
				f.hosts = append(f.hosts, host)
			} else {
				f.badHost = true
			}
		}
		f.badHost = f.badHost || len(f.hosts) == 0
	case familyMCP:
		f.mcp = mcpSplits(f.call.Tool)
		if f.mcp == nil {
			server, tool := textsAt(args, []string{"server", "server_name"}), textsAt(args, []string{"tool", "tool_name"})
			if len(server) == 1 && len(tool) == 1 {
				f.mcp = []mcpName{{server: server[0], tool: tool[0]}}
			}
		}
	default:
		if keys := subjectKeys[f.tool]; keys != nil {
			if texts := textsAt(args, keys); len(texts) > 0 {
				f.subject, f.hasSubject = texts[0], true
			}
		}
	}
}

// textsAt returns the texts under the keys; a list gives each of its texts.
func textsAt(args map[string]json.RawMessage, keys []string) []string {
	var out []string
	for _, key := range keys {
		raw, ok := args[key]
		if !ok {
			continue
		}
		var one string
		var many []string
		switch {
		case json.Unmarshal(raw, &one) == nil:
			out = append(out, one)
		case json.Unmarshal(raw, &many) == nil:
			out = append(out, many...)
		default:
			out = append(out, "") // there, and not a text
		}
		if len(out) > maxTargets {
			break
		}
	}
	return out
}

func (x *analysis) commandArguments(args map[string]json.RawMessage) {
	f := x.f
	var found []string
	for _, key := range commandKeys {
		raw, ok := args[key]
		if !ok {
			continue
		}
		var text string
		var words []string
		switch {
		case json.Unmarshal(raw, &text) == nil:
			found = append(found, text)
		case json.Unmarshal(raw, &words) == nil:
			found = append(found, joinWords(words))
		default:
			x.opaque("command is not a text")
		}
	}
	if len(found) == 0 {
		x.opaque("no command")
		return
	}
	f.text = found[0]
	if len(found) > 1 {
		x.opaque("several commands under different names")
		f.text = strings.Join(found, "\n")
	}
	if dirs := textsAt(args, []string{"workdir", "cwd", "working_directory", "dir_path", "directory"}); len(dirs) > 0 {
		x.startIn(dirs)
	}
	if strings.TrimSpace(f.text) == "" {
		x.opaque("empty command")
		return
	}
	s := scope{parent: -1, consumer: -1}
	shell := f.call.Shell
	if shell == "" && f.tool == ToolPowerShell {
		shell = "powershell"
	}
	switch shell {
	case "powershell", "pwsh":
		x.simpleShell(f.text, powerShellSyntax)
	case "cmd":
		x.simpleShell(f.text, cmdSyntax)
	case "", "bash", "sh":
		x.text(f.text, s, x.dirs)
	default:
		x.opaque("unknown shell")
		x.rawText(f.text)
	}
	x.judgeSafety()
}

// startIn handles a call that names its own working directory.
func (x *analysis) startIn(dirs []string) {
	here := x.dirs.list[0]
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		to, err := x.enter(here, dir)
		if err != nil || len(dirs) > 1 {
			x.dirs = x.dirs.lost()
			x.opaque("working directory is not known")
			return
		}
		x.dirs = places{list: []place{to}}
		x.f.cwd = to.physical
		x.f.outside = x.f.outside || !x.insideRoots(to.physical)
	}
}

// joinWords writes a vector of words as a shell text.
func joinWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			q = "\x00" // cannot be written: opaque through the control character
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " ")
}

func (x *analysis) readArguments(args map[string]json.RawMessage) {
	f := x.f
	paths := textsAt(args, pathKeys)
	if f.tool == ToolGlob {
		for _, pattern := range textsAt(args, []string{"pattern"}) {
			base := pattern
			if i := strings.IndexAny(base, "*?[{"); i >= 0 {
				base = base[:strings.LastIndexByte(base[:i], '/')+1]
			}
			if strings.HasPrefix(base, "/") || strings.HasPrefix(base, "~") || strings.Contains(pattern, "..") || len(base) > 1 && base[1] == ':' {
				paths = append(paths, base)
			}
			if strings.Contains(pattern, "..") {
				paths = append(paths, "..")
			}
		}
	}
	if f.tool != ToolRead && len(paths) == 0 {
		paths = []string{"."}
	}
	for _, pattern := range textsAt(args, []string{"glob", "include", "include_pattern"}) {
		name := pattern[strings.LastIndexByte(pattern, '/')+1:]
		if secretPath(x.platform, nil, "/"+strings.ReplaceAll(name, "*", "")) != "" || strings.HasPrefix(name, ".env") {
			f.reads.filter = pattern
		}
	}
	f.targets = len(paths)
	for _, path := range paths {
		if path == "" {
			f.noTarget = true
			continue
		}
		x.target(path, access{recursive: f.tool == ToolGrep, command: -1})
	}
	f.noTarget = f.noTarget || len(paths) == 0
}

func (x *analysis) writeArguments(args map[string]json.RawMessage) {
	f := x.f
	paths := textsAt(args, pathKeys)
	if f.tool == ToolApplyPatch {
		for _, text := range textsAt(args, patchKeys) {
			targets := patchTargets(text)
			for _, t := range targets {
				f.patch = f.patch || t == ""
			}
			paths = append(paths, targets...)
		}
		var changes map[string]json.RawMessage
		if json.Unmarshal(args["changes"], &changes) == nil {
			for name := range changes {
				paths = append(paths, name)
			}
			sort.Strings(paths)
		}
	}
	f.targets = len(paths)
	f.noTarget = len(paths) == 0 || len(paths) > maxTargets
	for i, path := range paths {
		if path == "" {
			f.noTarget = true
			continue
		}
		if i > maxTargets {
			break
		}
		x.target(path, access{write: true, command: -1})
	}
}

// target records a path that a tool names. Agents expand a leading tilde themselves.
func (x *analysis) target(path string, proto access) {
	w := lit(path)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') && x.home() != "" {
		w.text, w.assumed = x.home()+rest, true
	}
	x.access(w, proto, x.dirs)
}

// patchTargets returns the files a patch names: the envelope of Codex and OpenCode, and unified diffs. An empty name is
// kept, so that it can be refused.
func patchTargets(text string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		name = strings.TrimRight(name, "\r")
		if !seen[name] && len(out) <= maxTargets {
			seen[name] = true
			out = append(out, name)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		for _, marker := range [...]string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
			if name, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), marker); ok {
				add(strings.TrimSpace(name))
			}
		}
		for _, marker := range [...]string{"+++ ", "--- ", "rename to ", "rename from ", "copy to "} {
			name, ok := strings.CutPrefix(line, marker)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			name = strings.TrimSpace(name)
			if name == "/dev/null" {
				continue
			}
			if rest, ok := strings.CutPrefix(name, "a/"); ok && marker == "--- " {
				name = rest
			} else if rest, ok := strings.CutPrefix(name, "b/"); ok && marker == "+++ " {
				name = rest
			}
			if strings.HasPrefix(text, "*** Begin Patch") {
				continue // a removed line of an envelope, not a header
			}
			add(name)
		}
	}
	return out
}
