package imports

import (
	"fmt"
	"regexp"
	"strings"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/policy"
)

// readGeminiPolicy reads a policy file (geminicli.com/docs/reference/policy-engine, looked at in November 2026). Of the
// rules that match, the one with the highest priority decides, and among equals the first.
func (s *sheet) readGeminiPolicy(data []byte) error {
	s.ranked = true
	file, err := s.readTOML(data)
	if err != nil {
		return err
	}
	rules, ok := file["rule"].([]any)
	if !ok && file["rule"] != nil {
		return &SyntaxError{File: s.file, Line: lineOf(data, "rule"), Problem: "rule is no list of tables: write [[rule]]"}
	}
	lines := tableLines(data, len(rules))
	for i, v := range rules {
		table, ok := v.(map[string]any)
		if !ok {
			s.geminiRefused(lines[i], "rule")
			continue
		}
		s.geminiRule(lines[i], i, table)
	}
	if checkers, ok := file["safety_checker"].([]any); ok {
		for range checkers {
			it := s.add(0, policy.ListDeny, "[[safety_checker]]")
			it.rank = maxRank
			it.about("", every)
			it.refuse("checker")
		}
	}
	return nil
}

// maxRank comes before every rule.
const maxRank = 1 << 30

// geminiRefused reports a rule for which Gemini CLI refuses the whole file: what it allows is not allowed there.
func (s *sheet) geminiRefused(line int, field string) {
	it := s.add(line, policy.ListDeny, "[[rule]]")
	it.rank = maxRank
	it.about("", every)
	it.refuse("field", field)
}

var ruleTable = regexp.MustCompile(`^\s*\[\[\s*rule\s*\]\]`)

// tableLines finds the lines of the tables, for showing; zeros where that is not sure.
func tableLines(data []byte, n int) []int {
	var out []int
	at := 0
	for line := range strings.Lines(string(data)) {
		if at++; ruleTable.MatchString(line) {
			out = append(out, at)
		}
	}
	if len(out) != n {
		return make([]int, n)
	}
	return out
}

// texts reads a string or a list of strings.
func texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		out := []string{}
		for _, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil, false
			}
			out = append(out, text)
		}
		return out, true
	}
	return nil, false
}

func (s *sheet) geminiRule(line, index int, t map[string]any) {
	decision, _ := t["decision"].(string)
	list, ok := map[string]policy.List{"allow": policy.ListAllow, "deny": policy.ListDeny, "ask_user": policy.ListAsk}[decision]
	if !ok {
		s.geminiRefused(line, "decision")
		return
	}
	priority, ok := t["priority"].(int64)
	if !ok || priority < 0 || priority > 999 {
		s.geminiRefused(line, "priority")
		return
	}
	names, ok := texts(t["toolName"])
	prefixes, ok2 := texts(t["commandPrefix"])
	if !ok || !ok2 {
		s.geminiRefused(line, "toolName, commandPrefix")
		return
	}
	server, _ := t["mcpName"].(string)
	regex, hasRegex := t["commandRegex"].(string)
	if len(names) == 0 {
		names = []string{every}
	}
	for _, name := range names {
		each := prefixes
		if len(each) == 0 {
			each = []string{""}
		}
		for _, prefix := range each {
			text := name
			if server != "" {
				text = "mcpName " + server + ", " + name
			}
			for _, key := range []string{"commandPrefix", "commandRegex", "argsPattern"} {
				if key == "commandPrefix" && prefix != "" {
					text += ", " + key + " " + prefix
				} else if v, ok := t[key].(string); ok && key != "commandPrefix" {
					text += ", " + key + " " + v
				}
			}
			it := s.add(line, list, text)
			it.rank = int(priority)*MaxEntries*10 - index
			it.tools = []string{every}
			if it.done() {
				continue
			}
			switch {
			case server != "" && (name == every || strings.HasSuffix(name, "_*")):
				it.geminiServer(server, "")
			case server != "":
				it.geminiServer(server, strings.TrimPrefix(name, "mcp_"+server+"_"))
			case hasRegex:
				it.commandRegex(regex)
			case prefix != "":
				it.commandPrefix(prefix)
			default:
				it.geminiTool(name)
			}
			it.geminiConditions(t)
		}
	}
}

// geminiServer carries a rule about a server; "*" is every server.
func (it *item) geminiServer(server, tool string) {
	if server != every {
		it.mcp(server, tool)
		return
	}
	it.about("", policy.ToolMCP)
	switch {
	case it.List == policy.ListAllow:
		it.refuse("server_pattern")
	case tool != "":
		it.carry(rule(policy.ToolMCP, "*/"+tool))
	default:
		it.carry(policy.ToolMCP)
	}
}

// geminiConditions looks at what narrows when a rule holds: an allow that holds only sometimes is not carried, a
// restriction holds always here.
func (it *item) geminiConditions(t map[string]any) {
	note := func(code string, args ...string) {
		if it.List == policy.ListAllow {
			it.refuse(code, args...)
		} else {
			it.differs(code, args...)
		}
	}
	if _, ok := t["argsPattern"]; ok {
		it.refuse("regex_arguments")
	}
	if modes, ok := t["modes"]; ok {
		note("modes", shorten(fmt.Sprint(modes)))
	}
	for key := range t {
		switch key {
		case "toolName", "mcpName", "commandPrefix", "commandRegex", "argsPattern", "decision", "priority", "modes":
		case "deny_message", "denyMessage", "description", "name":
		case "allow_redirection", "allowRedirection":
			if it.List == policy.ListAllow && len(it.Rules) > 0 {
				it.differs("redirection")
			}
		default: // interactive, subagent, toolAnnotations, and what a later version may have
			note("condition", shorten(key))
		}
	}
}

// geminiSiblings are tools that stand for another one here, which can do all they can.
var geminiSiblings = map[string]bool{"read_many_files": true, "search_file_content": true, "write_todos": true}

// geminiTool carries a rule about a whole tool.
func (it *item) geminiTool(name string) {
	switch {
	case name == every:
		it.everyTool()
	case name == "mcp_*":
		it.geminiServer(every, "")
	case strings.HasPrefix(name, "mcp_") && strings.HasSuffix(name, "_*"):
		it.mcp(strings.TrimSuffix(strings.TrimPrefix(name, "mcp_"), "_*"), "")
	case strings.ContainsAny(name, "*?["):
		it.refuse("tool_pattern")
	case strings.HasPrefix(name, "mcp_") && !strings.HasPrefix(name, "mcp__"):
		// Server and tool are joined with one _, which each may hold: a restriction means every way to part them.
		rest := strings.TrimPrefix(name, "mcp_")
		server, tool, ok := strings.Cut(rest, "_")
		if it.mcp(server, tool); !ok || it.List == policy.ListAllow || it.done() {
			return
		}
		for i := len(server) + 1; i < len(rest)-1; i++ {
			if rest[i] == '_' && len(it.Rules) < maxAlternatives {
				it.carry(rule(policy.ToolMCP, rest[:i]+"/"+rest[i+1:]))
			}
		}
	case strings.Contains(name, "__"):
		server, tool, _ := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
		it.mcp(server, tool)
	default:
		it.wholeTool(policy.CanonicalTool(geminiAlias(name)), geminiSiblings[name])
	}
}

// geminiAlias gives a tool's class name, as the settings also take it, the tool's name.
func geminiAlias(name string) string {
	if tool, ok := map[string]string{
		"ShellTool": "run_shell_command", "WriteFileTool": "write_file", "EditTool": "replace", "ReadFileTool": "read_file",
		"LSTool": "list_directory", "GlobTool": "glob", "GrepTool": "search_file_content", "WebFetchTool": "web_fetch",
		"WebSearchTool": "google_web_search", "ReadManyFilesTool": "read_many_files",
	}[name]; ok {
		return tool
	}
	return name
}

// commandPrefix carries the beginning of a command's text, which ends at a word there too.
func (it *item) commandPrefix(prefix string) {
	it.about(prefix+" *", policy.ToolBash)
	if it.List == policy.ListAllow && strings.TrimRight(prefix, " \t") != prefix {
		it.refuse("trailing_space")
		return
	}
	it.prefix(prefix)
}

// prefix carries the words a command begins with.
func (it *item) prefix(text string) {
	words, problem := textWords(text, false, geminiText)
	switch {
	case problem == "" && len(words) > 0:
		words = append(words, textWord{pieces: []piece{{star: true}}})
	case problem == "":
		it.refuse("malformed")
		return
	case problem == "quotes" && it.restricts() && len(words) > 0:
		it.differs("widened")
		words = append(words, textWord{pieces: []piece{{star: true}}})
	default:
		it.refuse(problem)
		return
	}
	rules, codes := commandRules(words, it.restricts(), openCodeText)
	for _, code := range codes {
		if len(rules) == 0 {
			it.refuse(code)
		} else {
			it.differs(code)
		}
	}
	for _, r := range rules {
		it.carry(rule(policy.ToolBash, r))
	}
}

// commandRegex carries a regular expression over the beginning of a command's text, when it says no more than text with
// any text between: letters, escaped characters, spaces and .*. The text may go on after it.
func (it *item) commandRegex(regex string) {
	it.about("", policy.ToolBash)
	var b strings.Builder
	for i := 0; i < len(regex); i++ {
		switch c := regex[i]; {
		case c == '.' && i+1 < len(regex) && regex[i+1] == '*' && (i+2 == len(regex) || regex[i+2] != '?'):
			b.WriteByte('*')
			i++
		case c == '\\' && i+1 < len(regex) && regex[i+1] == 's':
			if i++; i+1 < len(regex) && regex[i+1] == '+' {
				i++
			}
			b.WriteByte(' ')
		case c == '\\' && i+1 < len(regex) && strings.IndexByte(".-/_+", regex[i+1]) >= 0:
			i++
			b.WriteByte(regex[i])
		case strings.IndexByte(" -_/:=,@", c) >= 0, 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9':
			if i+1 < len(regex) && strings.IndexByte("*+?{|", regex[i+1]) >= 0 {
				it.refuse("regex")
				return
			}
			b.WriteByte(c)
		default:
			it.refuse("regex")
			return
		}
	}
	text := strings.TrimSuffix(b.String(), "*")
	if strings.TrimSpace(text) != text || text == "" {
		it.refuse("regex")
		return
	}
	it.command(policy.ToolBash, text+"*", true, openCodeText)
}

// readGeminiSettings reads the tool lists of settings.json: excluded tools come before allowed ones, and these before
// what the servers' own entries say (geminicli.com/docs/reference/configuration).
func (s *sheet) readGeminiSettings(data []byte) error {
	s.ranked = true
	doc, err := s.readJSON(data)
	if err != nil {
		return err
	}
	tools, mcp := doc.Root.Get("tools"), doc.Root.Get("mcp")
	each := func(n *jsonedit.Node, list policy.List, rank int, fn func(it *item, text string)) {
		if n == nil {
			return
		}
		for _, v := range n.Items {
			line, _ := doc.Position(v.Value.Start)
			text, ok := v.Value.Str()
			if !ok {
				s.add(line, list, string(data[v.Value.Start:v.Value.End])).ineffective("not_string")
				continue
			}
			it := s.add(line, list, text)
			it.rank, it.tools = rank, []string{every}
			if !it.done() {
				fn(it, text)
			}
		}
	}
	named := func(it *item, text string) { it.geminiNamed(text) }
	server := func(it *item, text string) { it.geminiServer(text, "") }
	each(mcp.Get("excluded"), policy.ListDeny, 900, server)
	for _, n := range []*jsonedit.Node{tools.Get("exclude"), doc.Root.Get("excludeTools")} {
		each(n, policy.ListDeny, 400, named)
	}
	for _, n := range []*jsonedit.Node{tools.Get("allowed"), doc.Root.Get("allowedTools")} {
		each(n, policy.ListAllow, 300, named)
	}
	each(mcp.Get("allowed"), policy.ListAllow, 100, server)
	for _, n := range []*jsonedit.Node{tools.Get("core"), doc.Root.Get("coreTools")} {
		if n == nil {
			continue
		}
		line, _ := doc.Position(n.Start)
		it := s.add(line, policy.ListDeny, "core: "+shorten(string(data[n.Start:n.End])))
		it.rank = maxRank
		it.about("", every)
		it.refuse("only_these")
	}
	if servers := doc.Root.Get("mcpServers"); servers != nil {
		for _, m := range servers.Members {
			if trust := m.Value.Get("trust"); trust.True() {
				line, _ := doc.Position(trust.Start)
				it := s.add(line, policy.ListAllow, "mcpServers."+m.Key+".trust")
				if it.rank = 200; !it.done() {
					it.mcp(m.Key, "")
				}
			}
		}
	}
	return nil
}

var geminiCall = regexp.MustCompile(`^([A-Za-z0-9_-]+)\((.*)\)$`)

// geminiNamed reads a tool of the settings' lists: a name, or run_shell_command(beginning of a command).
func (it *item) geminiNamed(text string) {
	m := geminiCall.FindStringSubmatch(text)
	if m == nil {
		it.geminiTool(text)
		return
	}
	switch tool := policy.CanonicalTool(geminiAlias(m[1])); {
	case m[2] == "" || m[2] == every:
		it.geminiTool(m[1])
	case tool == policy.ToolBash:
		it.commandPrefix(m[2])
	default:
		it.refuse("content", tool)
	}
}
