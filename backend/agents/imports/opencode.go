package imports

import (
	"net/url"
	"strings"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/policy"
)

// readOpenCode reads opencode.json and opencode.jsonc (opencode.ai/docs/permissions, looked at in November 2026). Of
// the patterns that match, the last one decides, whatever is more specific.
func (s *sheet) readOpenCode(data []byte) error {
	s.ranked = true
	doc, err := s.readJSON(withoutTrailingCommas(data))
	if err != nil {
		return err
	}
	o := &openCode{sheet: s, doc: doc, data: data}
	o.switches(doc.Root.Get("tools"))
	o.permission(doc.Root.Get("permission"))
	for _, key := range []string{"agent", "mode"} {
		agents := doc.Root.Get(key)
		if agents == nil {
			continue
		}
		for _, m := range agents.Members {
			o.agent = m.Key
			o.switches(m.Value.Get("tools"))
			o.permission(m.Value.Get("permission"))
		}
	}
	return nil
}

// openCode is one file while it is read.
type openCode struct {
	*sheet
	doc   *jsonedit.Document
	data  []byte
	agent string // whose permissions are read; "" everyone's
}

func (o *openCode) entry(n *jsonedit.Node, text string) *item {
	line, _ := o.doc.Position(n.Start)
	action, _ := n.Str()
	list := policy.List(action)
	if o.agent != "" {
		text = o.agent + ": " + text
	}
	known := list == policy.ListAllow || list == policy.ListAsk || list == policy.ListDeny
	if !known {
		list = policy.ListDeny // what is not understood may forbid
	}
	it := o.add(line, list, text)
	it.rank, it.tools = len(o.items), []string{every}
	if !known && !it.done() {
		it.refuse("field", shorten(text))
	}
	return it
}

// switches reads the older tools section, in which false is a deny.
func (o *openCode) switches(n *jsonedit.Node) {
	if n == nil {
		return
	}
	for _, m := range n.Members {
		line, _ := o.doc.Position(m.Value.Start)
		list := policy.ListDeny
		if m.Value.True() {
			list = policy.ListAllow
		}
		it := o.add(line, list, "tools."+m.Key)
		it.rank, it.tools = len(o.items), []string{every}
		switch {
		case it.done():
		case list == policy.ListAllow:
			it.refuse("tool_switch")
		default:
			o.carry(it, m.Key, "")
		}
	}
}

func (o *openCode) permission(n *jsonedit.Node) {
	if n == nil {
		return
	}
	if n.Kind != jsonedit.Object {
		if it := o.entry(n, "permission"); !it.done() {
			o.carry(it, every, "")
		}
		return
	}
	for _, m := range n.Members {
		if m.Value.Kind != jsonedit.Object {
			if it := o.entry(m.Value, m.Key); !it.done() {
				o.carry(it, m.Key, "")
			}
			continue
		}
		for _, p := range m.Value.Members {
			if it := o.entry(p.Value, m.Key+" "+p.Key); !it.done() {
				o.carry(it, m.Key, p.Key)
			}
		}
	}
}

// openCodeTools are the tools behind a permission's name.
var openCodeTools = map[string][]string{
	"edit": {policy.ToolEdit, policy.ToolWrite, policy.ToolApplyPatch},
	"task": {policy.ToolSpawnAgent}, "todoread": {policy.ToolTodo},
}

// carry carries one pattern of one permission; "" and "*" are everything.
func (o *openCode) carry(it *item, permission, pattern string) {
	if pattern == every || pattern == "**" {
		pattern = ""
	}
	tools := openCodeTools[permission]
	if tools == nil {
		tools = []string{policy.CanonicalTool(permission)}
	}
	if permission == "write" || permission == "patch" || permission == "multiedit" {
		tools = openCodeTools["edit"]
	}
	it.about(pattern, tools...)
	switch {
	case permission == every && pattern == "":
		it.everyTool()
	case permission == every:
		it.about("", every)
		it.refuse("tool_pattern")
	case permission == "doom_loop":
		it.about("", "doom_loop")
		it.refuse("loops")
	case permission == "external_directory":
		o.outside(it, pattern)
	case strings.ContainsAny(permission, "*?"):
		it.about("", every)
		it.refuse("tool_pattern")
	case permission == "todoread" && it.List == policy.ListAllow:
		it.refuse("one_of_several", policy.ToolTodo)
	case pattern == "":
		for _, tool := range tools {
			it.carry(tool)
		}
	case permission == "bash":
		o.command(it, pattern)
	case permission == "edit" || permission == "read":
		o.path(it, tools, pattern)
	case permission == "webfetch":
		o.url(it, pattern)
	case permission == "task" && plainName.MatchString(pattern):
		it.carry(rule(policy.ToolSpawnAgent, pattern))
	case it.restricts() && plainName.MatchString(pattern):
		it.carry(rule(tools[0], pattern))
		it.differs("subject_unknown", tools[0])
		it.holds = true
	default:
		it.refuse("content", tools[0])
	}
	switch {
	case o.agent == "":
	case it.List == policy.ListAllow:
		it.refuse("one_agent", shorten(o.agent))
	default:
		it.differs("one_agent", shorten(o.agent))
	}
}

// pathPrograms are the programs whose paths OpenCode looks at: outside the project external_directory decides, whatever
// bash allows. A rule here cannot say "inside the project".
var pathPrograms = map[string]bool{
	"rm": true, "cp": true, "mv": true, "mkdir": true, "touch": true, "chmod": true, "chown": true, "cat": true, "cd": true,
	"pushd": true, "popd": true,
}

func (o *openCode) command(it *item, pattern string) {
	if it.List == policy.ListAllow {
		program, rest, _ := strings.Cut(pattern, " ")
		if pathPrograms[program] && strings.ContainsAny(rest, "*?~$/") || strings.ContainsAny(program, "*?") && matchesPathProgram(program) {
			it.refuse("paths_outside", shorten(program))
			return
		}
	}
	it.command(policy.ToolBash, pattern, true, openCodeText)
}

func matchesPathProgram(pattern string) bool {
	for name := range pathPrograms {
		if wild(strings.ReplaceAll(pattern, "?", "*"), name) {
			return true
		}
	}
	return false
}

// path carries a pattern over a path, which is relative to the project there.
func (o *openCode) path(it *item, tools []string, pattern string) {
	deny := it.restricts()
	if rest, ok := strings.CutPrefix(pattern, "$HOME"); ok && (rest == "" || rest[0] == '/') {
		pattern = "~" + rest
	}
	if !deny && (strings.HasPrefix(pattern, "~") || strings.HasPrefix(pattern, "/") || strings.Contains(pattern, "..")) {
		it.refuse("outside")
		return
	}
	if strings.Contains(pattern, `\`) && !deny {
		it.refuse("special")
		return
	}
	patterns, exact := wildcardPaths(strings.ReplaceAll(pattern, `\`, "/"), deny)
	if len(patterns) == 0 {
		it.refuse("too_many")
		return
	}
	if !exact {
		it.differs("narrowed")
	}
	if deny && !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~") {
		it.differs("any_depth")
	}
	if tools[0] == policy.ToolEdit {
		tools = tools[:2] // one path rule covers every tool that writes
	}
	it.paths(tools, patterns, deny)
}

// outside reads external_directory: paths outside the project. What lies there asks here, unless a rule allows it.
func (o *openCode) outside(it *item, pattern string) {
	it.about(pattern, policy.ToolRead, policy.ToolEdit, policy.ToolWrite, "external_directory")
	rest, home := strings.CutPrefix(pattern, "$HOME")
	if home {
		pattern = "~" + rest
	}
	if it.List != policy.ListDeny || pattern == "" || !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~/") {
		it.ineffective("outside") // the allows that could reach outside are not carried in the first place
		return
	}
	patterns, _ := wildcardPaths(pattern, true)
	if len(patterns) == 0 {
		it.refuse("too_many")
		return
	}
	it.paths([]string{policy.ToolRead, policy.ToolEdit}, patterns, true)
	it.differs("widened")
}

// url carries a pattern over a URL: for a restriction the whole host.
func (o *openCode) url(it *item, pattern string) {
	if it.List == policy.ListAllow {
		it.refuse("url_pattern")
		return
	}
	text := pattern
	for _, scheme := range []string{"https://", "http://", "*://"} {
		text = strings.TrimPrefix(text, scheme)
	}
	host, _, _ := strings.Cut(text, "/")
	if u, err := url.Parse("https://" + host); err != nil || host == "" || strings.ContainsAny(host, "*?@") || u.Hostname() == "" {
		it.refuse("url_pattern")
		return
	}
	if at := strings.LastIndexByte(host, ':'); at > 0 && !strings.Contains(host[at:], "]") {
		host = host[:at]
	}
	it.carry(rule(policy.ToolWebFetch, "domain:"+host))
	it.differs("host_of_url", shorten(host))
}

// withoutTrailingCommas blanks the comma before a closing bracket, which OpenCode's reader accepts. Offsets stay.
func withoutTrailingCommas(data []byte) []byte {
	out := append([]byte(nil), data...)
	comma := -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			for i < len(out) && out[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			for i += 2; i+1 < len(out) && !(out[i] == '*' && out[i+1] == '/'); i++ {
			}
			i++
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		default:
			comma = -1
		}
	}
	return out
}
