package policy

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The argument names under which agents send what matters, in the form of plainKey. Every one that is present counts: a
// call that names one file under two names is judged for both.
var (
	commandKeys = strings.Fields("command cmd script commandline")
	dirKeys     = strings.Fields("workdir workingdir workingdirectory cwd dirpath directory dir")
	pathKeys    = strings.Fields("filepath filepaths path paths filename file files notebookpath targetfile " +
		"absolutepath relativepath dirpath directory dir includepaths oldpath newpath destination")
	patchKeys   = strings.Fields("patch input patchtext diff content")
	urlKeys     = strings.Fields("url urls uri")
	subjectKeys = map[string][]string{
		ToolSpawnAgent: {"subagenttype", "agent", "agenttype", "name", "type"},
		ToolMemoryGet:  {"key", "name", "id"}, ToolMemoryUpdate: {"key", "name", "id"},
		ToolWebSearch: {"query"}, ToolSearch: {"query"},
	}
)

// otherKeys are the argument names that change nothing about what a call may touch. A name that stands nowhere may change
// everything (env, shell, sandbox), so nothing is sure about a call that has one.
var otherKeys = map[family]map[string]bool{
	familyCommand: set(`description timeout timeoutms runinbackground isbackground background justification explanation
		login tty yieldtimems maxoutputtokens requiresapproval sessionid async mode initialwait shell
		sandboxpermissions withescalatedpermissions dangerouslydisablesandbox`),
	familyRead: set(`offset limit pages startline endline linestart lineend startlineoneindexed endlineoneindexedinclusive
		shouldreadentirefile encoding description explanation viewrange linerange pattern query regex glob include
		includepattern exclude excludepattern type filetype outputmode a b c n i headlimit maxresults context multiline
		casesensitive ignorecase caseinsensitive recursive depth maxdepth ignore respectgitignore
		filefilteringoptions noignore namesonly literal fixedstrings filepattern`),
	familyWrite: set(`content contents filetext newstring oldstring replaceall edits newsource cellid celltype editmode
		cellnumber expectedreplacements instruction diff patch patchtext input changes command oldstr newstr insertline
		inserttext viewrange newcontent encoding text oldtext newtext search replace blocks modifiedbyuser allowmultiple
		description explanation`),
	familyOther: set(`todos todo items item merge plan explanation questions question options header multiselect prompt followup
		answers choices query maxresults limit key keys name id scope metadata annotations description reason`),
}

// plainKey is the form in which argument names are compared: agents written in Go take any letter case, and the same name
// is spelled with and without underscores.
func plainKey(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// readArgs reads the arguments by plain key. A name that stands twice, in whatever spelling, keeps all its values.
func (x *analysis) readArgs() map[string][]json.RawMessage {
	args := map[string][]json.RawMessage{}
	if text := bytes.TrimSpace(x.f.call.Args); len(text) == 0 || string(text) == "null" {
		return args
	}
	dec := json.NewDecoder(bytes.NewReader(x.f.call.Args))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		x.strange("arguments that are no object")
		return args // nothing is known of it, so nothing is covered
	}
	for dec.More() {
		token, err := dec.Token()
		key, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			x.strange("arguments that cannot be read")
			return map[string][]json.RawMessage{}
		}
		for i := range len(key) {
			if key[i] >= utf8.RuneSelf {
				x.strange("argument " + strconv.QuoteToASCII(key)) // the Kelvin sign is a k for some
			}
		}
		plain := plainKey(key)
		args[plain] = append(args[plain], value)
	}
	if _, err := dec.Token(); err != nil {
		x.strange("arguments that cannot be read")
	} else if _, err := dec.Token(); err != io.EOF {
		x.strange("arguments with something behind them")
	}
	return args
}

// strange records that something in the arguments is not understood; the first reason is the one that is shown.
func (x *analysis) strange(why string) {
	if x.f.strange == "" {
		x.f.strange = why
	}
}

// strangeKeys looks for argument names that are not known for the tool.
func (x *analysis) strangeKeys(args map[string][]json.RawMessage, kind family, known ...[]string) {
	var unknown []string
	for key, values := range args {
		found := otherKeys[kind][key]
		for _, list := range known {
			found = found || slices.Contains(list, key)
		}
		if !found {
			unknown = append(unknown, key)
		}
		if len(values) > 1 {
			x.strange("argument " + strconv.QuoteToASCII(key) + " more than once")
		}
	}
	if len(unknown) > 0 {
		x.strange("argument " + strconv.QuoteToASCII(slices.Min(unknown)))
	}
}

// maxTargets is how many paths one call may name.
const maxTargets = 1024

// arguments reads the call's arguments by the kind of its tool.
func (x *analysis) arguments() {
	f := x.f
	args := x.readArgs()
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
			server, tool := textsAt(args, []string{"server", "servername"}), textsAt(args, []string{"tool", "toolname"})
			if len(server) == 1 && len(tool) == 1 {
				f.mcp = []mcpName{{server: server[0], tool: tool[0]}}
			}
		}
	default:
		if tools[f.tool].harmless {
			x.strangeKeys(args, familyOther)
		}
		if keys := subjectKeys[f.tool]; keys != nil {
			if texts := textsAt(args, keys); len(texts) > 0 {
				f.subject, f.hasSubject = texts[0], true
			}
		}
	}
}

// textsAt returns the texts under the keys; a list gives each of its texts.
func textsAt(args map[string][]json.RawMessage, keys []string) []string {
	var out []string
	for _, key := range keys {
		for _, raw := range args[key] {
			var one string
			var many []string
			switch {
			case string(raw) == "null":
			case json.Unmarshal(raw, &one) == nil:
				out = append(out, one)
			case json.Unmarshal(raw, &many) == nil:
				out = append(out, many...)
			default:
				out = append(out, "") // there, and not a text
			}
			if len(out) > maxTargets {
				return out
			}
		}
	}
	return out
}

func (x *analysis) commandArguments(args map[string][]json.RawMessage) {
	f := x.f
	clear := true // one text, and one place to run it in
	var found []string
	for _, key := range commandKeys {
		for _, raw := range args[key] {
			var text string
			var words []string
			switch {
			case json.Unmarshal(raw, &text) == nil && string(raw) != "null":
				found = append(found, text)
			case json.Unmarshal(raw, &words) == nil && words != nil:
				found = append(found, joinWords(words))
			default:
				x.opaque("command is not a text")
				clear = false
			}
		}
	}
	x.strangeKeys(args, familyCommand, commandKeys, dirKeys)
	x.strangeRun(args)
	if len(found) == 0 {
		x.opaque("no command")
		return
	}
	f.text = found[0]
	if len(found) > 1 {
		x.opaque("several commands under different names")
		f.text = strings.Join(found, "\n")
		clear = false
	}
	if dirs := textsAt(args, dirKeys); len(dirs) > 0 {
		clear = x.startIn(dirs) && clear
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
		f.script = clear
		x.text(f.text, s, x.dirs)
	default:
		x.opaque("unknown shell")
		x.rawText(f.text)
	}
	x.judgeSafety()
}

// strangeRun notices arguments that are known and change how a command runs: another shell, or no sandbox.
func (x *analysis) strangeRun(args map[string][]json.RawMessage) {
	for _, raw := range args["shell"] {
		switch string(raw) {
		case "null", `""`, `"bash"`, `"sh"`, `"/bin/bash"`, `"/bin/sh"`, `"/usr/bin/bash"`:
		default:
			x.strange("another shell")
		}
	}
	for _, key := range [...]string{"withescalatedpermissions", "dangerouslydisablesandbox"} {
		for _, raw := range args[key] {
			if string(raw) != "false" && string(raw) != "null" {
				x.strange("asks for no sandbox")
			}
		}
	}
	for _, raw := range args["sandboxpermissions"] {
		if string(raw) != `"use_default"` && string(raw) != "null" {
			x.strange("asks for another sandbox")
		}
	}
}

// startIn handles a call that names its own working directory. It reports whether that is one directory that is known.
func (x *analysis) startIn(dirs []string) bool {
	here := x.dirs.list[0]
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		to, err := x.enter(here, dir)
		if err != nil || len(dirs) > 1 {
			x.dirs = x.dirs.lost()
			x.opaque("working directory is not known")
			return false
		}
		x.dirs = places{list: []place{to}}
		x.f.cwd = to.physical
		x.f.outside = x.f.outside || !x.insideRoots(to.physical)
	}
	return true
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

func (x *analysis) readArguments(args map[string][]json.RawMessage) {
	f := x.f
	many := false
	paths := textsAt(args, pathKeys)
	x.strangeKeys(args, familyRead, pathKeys)
	if f.tool == ToolRead && (len(args["paths"]) > 0 || len(args["include"]) > 0 || strings.EqualFold(strings.TrimSpace(f.call.Tool), "read_many_files")) {
		// What such a tool takes are patterns, and a directory stands for everything below it.
		paths = append(paths, textsAt(args, []string{"include"})...)
		for _, path := range paths {
			if strings.ContainsAny(path, `*?[]{}()!\`) {
				x.strange("a pattern of files to read")
			}
		}
		many = true
	}
	if f.tool == ToolGlob {
		for _, pattern := range textsAt(args, []string{"pattern", "glob", "include", "filepattern", "query"}) {
			if strangePattern(pattern) {
				x.strange("a pattern that may begin elsewhere")
			}
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
	for _, pattern := range textsAt(args, []string{"glob", "include", "includepattern", "filepattern"}) {
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
		x.target(path, access{recursive: f.tool == ToolGrep || many, command: -1})
	}
	f.noTarget = f.noTarget || len(paths) == 0
}

func (x *analysis) writeArguments(args map[string][]json.RawMessage) {
	f := x.f
	paths := textsAt(args, pathKeys)
	x.strangeKeys(args, familyWrite, pathKeys)
	for _, raw := range args["edits"] {
		paths = append(paths, x.editPaths(raw)...)
	}
	if f.tool == ToolApplyPatch {
		for _, text := range textsAt(args, patchKeys) {
			if why := strangePatch(text); why != "" {
				x.strange(why)
			}
			targets := patchTargets(text)
			for _, t := range targets {
				f.patch = f.patch || t == ""
			}
			paths = append(paths, targets...)
		}
		var changes map[string]json.RawMessage
		for _, raw := range args["changes"] {
			if json.Unmarshal(raw, &changes) != nil {
				x.strange("changes that cannot be read")
			}
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

// editPaths returns the files that single edits name. Anything but a list of objects with plain arguments is strange.
func (x *analysis) editPaths(raw json.RawMessage) []string {
	var edits []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &edits); err != nil {
		x.strange("edits that cannot be read")
		return nil
	}
	var out []string
	for _, edit := range edits {
		args := map[string][]json.RawMessage{}
		for key, value := range edit {
			args[plainKey(key)] = append(args[plainKey(key)], value)
		}
		x.strangeKeys(args, familyWrite, pathKeys)
		out = append(out, textsAt(args, pathKeys)...)
	}
	return out
}

// strangePattern reports whether a pattern of file names may begin somewhere else than it seems to: through braces that
// give an empty or a dotted beginning, a class with a slash in it, or an escaped slash.
func strangePattern(pattern string) bool {
	if strings.TrimSpace(pattern) != pattern || strings.ContainsAny(pattern, "\\()~$") {
		return true
	}
	for _, part := range [...]string{"[/", "/]", "[.", ".]", "{,", ",,", ",}", "{/", ",/", "{.", ",.", "}{"} {
		if strings.Contains(pattern, part) {
			return true
		}
	}
	return strings.HasPrefix(pattern, "[") || strings.Count(pattern, "{") > 1
}

// strangeSpelling returns the plain path behind a spelling that some agents read in another way: a URL, @file, ~user, a
// variable, quotes or white space around a name. ok is false when the path is plain already.
func strangeSpelling(path string) (plain string, ok bool) {
	plain = strings.TrimFunc(path, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	plain = strings.Trim(plain, "\"'`<>")
	plain = strings.TrimPrefix(plain, "@")
	if i := strings.Index(plain, "://"); i > 0 {
		plain = plain[i+len("://"):]
	} else if len(plain) > 5 && strings.EqualFold(plain[:5], "file:") {
		plain = plain[5:]
	}
	if plain != path {
		return plain, true
	}
	user := strings.HasPrefix(path, "~") && len(path) > 1 && path[1] != '/' && path[1] != '\\'
	return path, user || strings.HasPrefix(path, "$") || strings.HasPrefix(path, "%")
}

// target records a path that a tool names. Agents expand a leading tilde themselves.
func (x *analysis) target(path string, proto access) {
	if plain, ok := strangeSpelling(path); ok {
		x.strange("a path that can be read in two ways")
		if plain != path && plain != "" {
			other := proto
			other.denyOnly = true
			x.access(lit(plain), other, x.dirs)
		}
	}
	w := lit(path)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') && x.home() != "" {
		w.text, w.assumed = x.home()+rest, true
	}
	x.access(w, proto, x.dirs)
}

// patchMarkers start the lines of an envelope that name a file; patchWords start its other lines.
var (
	patchMarkers = [...]string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"}
	patchWords   = [...]string{"*** Begin Patch", "*** End Patch", "*** End of File", "*** Environment ID:"}
)

// patchLines splits a patch at everything that any agent's language takes for the end of a line.
func patchLines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			return true
		}
		return false
	})
}

// trimmedLine takes away what some agents trim before they look for a marker.
func trimmedLine(line string) string {
	return strings.TrimLeftFunc(line, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
}

// strangePatch says what in a patch may name a file in a way that is not read here, or "".
func strangePatch(text string) string {
	envelope, removed := false, false
	for _, line := range patchLines(text) {
		trimmed := trimmedLine(line)
		starred := strings.HasPrefix(trimmed, "***")
		if starred && strings.Trim(trimmed, "* ") != "" {
			known := false
			for _, word := range patchWords {
				known = known || strings.HasPrefix(trimmed, word)
			}
			for _, word := range patchMarkers {
				known = known || strings.HasPrefix(trimmed, word)
			}
			if !known {
				return "a patch with a line that is not known"
			}
			envelope = true
			if strings.TrimLeft(line, " \t") != trimmed {
				return "a patch with a marker that not everybody sees"
			}
		}
		header := strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---")
		switch {
		case strings.HasPrefix(line, "Index:"), strings.HasPrefix(line, "diff ") && strings.Contains(line, `"`):
			return "a patch with a header that is not read"
		case header && !envelope && len(line) > 4 && (line[3] != ' ' || line[4] == '"' || line[4] == ' '):
			return "a patch with a name that can be read in two ways"
		case removed && envelope && strings.HasPrefix(line, "+++"):
			return "a patch of two kinds"
		}
		removed = strings.HasPrefix(line, "---")
	}
	if strings.ContainsAny(strings.ReplaceAll(text, "\r\n", "\n"), "\x00\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029") {
		return "a patch with a line that not everybody ends there"
	}
	return ""
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
	for _, line := range patchLines(text) {
		for _, marker := range patchMarkers {
			if name, ok := strings.CutPrefix(trimmedLine(line), marker); ok {
				add(strings.TrimSpace(name))
			}
		}
		for _, marker := range [...]string{"+++ ", "+++\t", "--- ", "rename to ", "rename from ", "copy to "} {
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
