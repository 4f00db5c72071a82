package imports

import (
	"errors"
	"net"
	"regexp"
	"strings"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/policy"
)

// readJSON parses JSON with comments.
func (s *sheet) readJSON(data []byte) (*jsonedit.Document, error) {
	doc, err := jsonedit.Parse(data, jsonedit.Options{Comments: true})
	var syntax *jsonedit.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &SyntaxError{File: s.file, Line: syntax.Line, Problem: syntax.Problem}
	}
	return doc, err
}

// readClaude reads Claude Code's settings (code.claude.com/docs/en/permissions, looked at in November 2026). Deny comes
// before ask before allow there as here, whatever is more specific.
func (s *sheet) readClaude(data []byte) error {
	doc, err := s.readJSON(data)
	if err != nil {
		return err
	}
	line := func(n *jsonedit.Node) int {
		at, _ := doc.Position(n.Start)
		return at
	}
	permissions := doc.Root.Get("permissions")
	for _, list := range []policy.List{policy.ListDeny, policy.ListAsk, policy.ListAllow} {
		values := permissions.Get(string(list))
		if values == nil {
			continue
		}
		for _, v := range values.Items {
			text, ok := v.Value.Str()
			if !ok {
				s.add(line(v.Value), list, string(data[v.Value.Start:v.Value.End])).ineffective("not_string")
				continue
			}
			if it := s.add(line(v.Value), list, text); !it.done() {
				it.claude(text)
			}
		}
	}
	if dirs := permissions.Get("additionalDirectories"); dirs != nil {
		for _, v := range dirs.Items {
			if text, ok := v.Value.Str(); ok {
				s.add(line(v.Value), "", text).refuse("directory", shorten(text))
			}
		}
	}
	for _, name := range []string{"defaultMode", "disableBypassPermissionsMode"} {
		if v := permissions.Get(name); v != nil {
			text := string(data[v.Start:v.End])
			s.add(line(v), "", name+": "+text).refuse("setting", name, shorten(text))
		}
	}
	return nil
}

// claudeRule is the form of a rule: Tool or Tool(content).
var claudeRule = regexp.MustCompile(`^([^\s()\\]+)(?:\((.*)\))?$`)

// claudeUnescaper takes the backslashes out that Claude Code puts before parentheses and backslashes.
var claudeUnescaper = strings.NewReplacer(`\\`, `\`, `\(`, "(", `\)`, ")")

// claudeSiblings are tools that stand for another one here, which can do more than they.
var claudeSiblings = map[string]bool{"multiedit": true, "notebookedit": true, "notebookread": true}

func (it *item) claude(text string) {
	it.tools = []string{every}
	m := claudeRule.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		it.ineffective("malformed") // Claude Code passes over it too
		return
	}
	name, content := m[1], claudeUnescaper.Replace(m[2])
	has := strings.Contains(text, "(") && content != "" && content != "*"
	switch {
	case name == every:
		it.everyTool()
		return
	case strings.HasPrefix(name, "mcp__"):
		it.claudeMCP(name, has)
		return
	case strings.ContainsAny(name, "*?["):
		it.refuse("tool_pattern")
		return
	}
	tool := policy.CanonicalTool(name)
	it.about(content, tool)
	if !has {
		it.pattern = ""
		it.wholeTool(tool, claudeSiblings[strings.ToLower(name)])
		return
	}
	switch {
	case policy.IsCommandTool(tool):
		if cut, ok := strings.CutSuffix(content, ":*"); ok {
			content = cut + " *"
		}
		it.command(tool, content, true, claudeText)
	case policy.IsWriteTool(tool), tool == policy.ToolRead, tool == policy.ToolGlob, tool == policy.ToolGrep, tool == policy.ToolList:
		// Only Read and Edit rules are looked at for paths.
		if it.List == policy.ListAllow && name != "Read" && name != "Edit" {
			it.ineffective("ignored_there", name)
			return
		}
		it.claudePath(policy.IsWriteTool(tool), content)
	case tool == policy.ToolWebFetch:
		it.domain(content)
	case tool == policy.ToolSpawnAgent && plainName.MatchString(content):
		it.carry(rule(tool, content))
	case it.restricts() && plainName.MatchString(content):
		it.carry(rule(tool, content))
		it.differs("subject_unknown", tool)
		it.holds = true
	default:
		it.refuse("content", tool)
	}
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)

// wholeTool carries a rule about a tool, whatever it is called with. sibling says that the agent has this tool beside
// the one whose name it has here.
func (it *item) wholeTool(tool string, sibling bool) {
	it.about("", tool)
	if policy.IsWriteTool(tool) && it.restricts() {
		it.tools = []string{policy.ToolEdit, policy.ToolWrite, policy.ToolApplyPatch}
		it.carry(policy.ToolEdit, policy.ToolWrite)
		if tool == policy.ToolWrite {
			it.differs("other_tools_too", policy.ToolEdit)
		}
		return
	}
	if sibling && it.List == policy.ListAllow {
		it.refuse("one_of_several", tool)
		return
	}
	if sibling {
		it.differs("other_tools_too", tool)
	}
	it.carry(tool)
}

// knownTools are what a rule for every tool becomes.
var knownTools = []string{
	policy.ToolBash, policy.ToolPowerShell, policy.ToolRead, policy.ToolWrite, policy.ToolEdit, policy.ToolApplyPatch,
	policy.ToolGlob, policy.ToolGrep, policy.ToolList, policy.ToolWebFetch, policy.ToolWebSearch, policy.ToolMCP,
	policy.ToolSpawnAgent,
}

// everyTool carries a rule about every tool: a restriction for those that are known, an allow never.
func (it *item) everyTool() {
	it.about("", every)
	if it.List == policy.ListAllow {
		it.refuse("every_tool")
		return
	}
	it.carry(knownTools...)
	it.differs("every_known_tool")
	it.holds = true
}

// claudeMCP reads mcp__server, mcp__server__tool and their patterns.
func (it *item) claudeMCP(name string, has bool) {
	it.about("", policy.ToolMCP)
	server, tool, two := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	if has {
		it.refuse("content", name)
		return
	}
	if server == every && (!two || tool == every) && it.restricts() {
		it.carry(policy.ToolMCP)
		return
	}
	it.mcp(server, tool)
}

// mcp carries a rule about a server's tools; tool "" is all of them.
func (it *item) mcp(server, tool string) {
	it.about(server+"/"+tool, policy.ToolMCP)
	if tool == "" || tool == every {
		it.pattern = server + "/*"
	}
	if server == "" || strings.ContainsAny(server+tool, "?[]{}\\ \t/") {
		it.refuse("malformed")
		return
	}
	if strings.Contains(server, every) {
		if it.List == policy.ListAllow {
			it.refuse("server_pattern")
			return
		}
		it.carry(rule(policy.ToolMCP, server))
		if tool != "" {
			it.differs("widened")
		}
		return
	}
	if tool == "" {
		it.carry(rule(policy.ToolMCP, server))
		return
	}
	it.carry(rule(policy.ToolMCP, server+"/"+tool))
}

// claudePath carries a rule about paths.
func (it *item) claudePath(write bool, content string) {
	tools, about := []string{policy.ToolRead}, []string{policy.ToolRead, policy.ToolGlob, policy.ToolGrep, policy.ToolList}
	if write {
		tools = []string{policy.ToolEdit, policy.ToolWrite}
		about = []string{policy.ToolEdit, policy.ToolWrite, policy.ToolApplyPatch}
	}
	it.about(content, about...)
	pattern, anchor := gitignorePath(content)
	deny := it.restricts()
	switch {
	case anchor == "!":
		it.ineffective("negation")
		return
	case anchor == "?" && !deny:
		it.refuse("anchor_unclear")
		return
	case deny && (anchor == "?" || anchor == "."):
		it.differs("any_depth")
	}
	it.paths(tools, []string{pattern}, deny)
}

// paths carries path patterns. For a restriction a directory's content is meant with it, as gitignore means it.
func (it *item) paths(tools, patterns []string, deny bool) {
	for _, tool := range tools {
		for _, p := range patterns {
			it.carry(rule(tool, p))
			if deny && len(it.Rules) > 0 && !strings.HasSuffix(p, "/**") && p != "**" {
				it.carry(rule(tool, p+"/**"))
			}
			if it.done() {
				return
			}
		}
	}
}

// domain carries domain:NAME. There the name is one host, and *.NAME the hosts below it; here a name has both.
func (it *item) domain(content string) {
	it.about(content, policy.ToolWebFetch)
	name, ok := strings.CutPrefix(content, "domain:")
	if !ok {
		it.refuse("domain_only")
		return
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	below, sub := strings.CutPrefix(name, "*.")
	switch {
	case name == every, sub && !strings.Contains(below, every):
	case strings.Contains(name, every):
		it.refuse("domain_pattern")
		return
	case net.ParseIP(strings.Trim(name, "[]")) != nil:
	case it.List == policy.ListAllow:
		it.refuse("subdomains", shorten(name))
		return
	default:
		it.differs("subdomains", shorten(name))
	}
	it.carry(rule(policy.ToolWebFetch, "domain:"+name))
}
