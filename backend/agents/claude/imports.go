package claude

import (
	"strings"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/policy"
)

// Imported is Claude's own deny and ask rules in our words.
type Imported struct {
	Deny []string `json:"deny,omitempty"`
	Ask  []string `json:"ask,omitempty"`
	// NotCarried says which rules have no counterpart here, and why; they still hold for what Claude itself sees.
	NotCarried []string `json:"not_carried,omitempty"`
}

// ImportRules reads permissions.deny and permissions.ask of settings text. Once connected, Claude sees only the fixed
// line, so a rule about a command's text must be kept here to go on holding. A path rule becomes at least as wide as it
// was: these lists only restrict. Allow rules are not imported: what is allowed here is for the owner to say here.
func ImportRules(data []byte) (Imported, error) {
	doc, err := jsonedit.Parse(data, jsonedit.Options{Comments: true})
	if err != nil {
		return Imported{}, err
	}
	var out Imported
	permissions := doc.Root.Get(keyPermissions)
	for _, list := range []struct {
		key  string
		into *[]string
	}{{"deny", &out.Deny}, {keyAsk, &out.Ask}} {
		for _, item := range items(permissions.Get(list.key)) {
			text, ok := item.Value.Str()
			if !ok {
				line, _ := doc.Position(item.Value.Start)
				out.NotCarried = append(out.NotCarried, list.key+": the entry in line "+itoa(line)+" is no string")
				continue
			}
			rules, why := importRule(text)
			if why != "" {
				out.NotCarried = append(out.NotCarried, list.key+" "+text+": "+why)
				continue
			}
			*list.into = append(*list.into, rules...)
		}
	}
	return out, nil
}

// importRule turns one rule of Claude's into ours: Tool, Tool(text), mcp__server, mcp__server__tool.
func importRule(text string) (rules []string, why string) {
	text = strings.TrimSpace(text)
	name, content, has := strings.Cut(text, "(")
	if has {
		if !strings.HasSuffix(content, ")") {
			return nil, "the closing parenthesis is missing"
		}
		content = unescape(strings.TrimSuffix(content, ")"))
	}
	if name == "" || strings.ContainsAny(name, " \t)\\") {
		return nil, "it is no rule"
	}
	if strings.HasPrefix(name, "mcp__") {
		return importMCP(name, has)
	}
	if strings.ContainsAny(name, "*?[") {
		return nil, "a pattern for the tool's name has no counterpart"
	}
	tool := policy.CanonicalTool(name)
	if !policy.KnownTool(tool) {
		return nil, "no tool of that name is known here"
	}
	if !has || content == "" || content == "*" {
		return whole(tool), ""
	}
	switch {
	case policy.IsCommandTool(tool):
		return []string{rule(tool, content)}, ""
	case policy.IsWriteTool(tool):
		path := importPath(content)
		return []string{rule(policy.ToolEdit, path), rule(policy.ToolWrite, path)}, ""
	case tool == policy.ToolRead, tool == policy.ToolGlob, tool == policy.ToolGrep, tool == policy.ToolList:
		return []string{rule(policy.ToolRead, importPath(content))}, ""
	case tool == policy.ToolWebFetch:
		if !strings.HasPrefix(content, "domain:") {
			return nil, "only domain: has a counterpart"
		}
		return []string{rule(tool, content)}, ""
	}
	return nil, "its content has no counterpart"
}

// whole is a rule for a whole tool. Claude's Edit covers every tool that changes a file.
func whole(tool string) []string {
	if policy.IsWriteTool(tool) {
		return []string{policy.ToolEdit, policy.ToolWrite}
	}
	return []string{tool}
}

func importMCP(name string, has bool) ([]string, string) {
	rest := strings.TrimPrefix(name, "mcp__")
	server, tool, two := strings.Cut(rest, "__")
	switch {
	case has:
		return nil, "an MCP rule takes no content here"
	case rest == "*":
		return []string{policy.ToolMCP}, ""
	case server == "" || strings.ContainsAny(server, "*?["):
		return nil, "a pattern for the server's name has no counterpart"
	case !two || tool == "":
		return []string{rule(policy.ToolMCP, server)}, ""
	}
	return []string{rule(policy.ToolMCP, server+"/"+tool)}, ""
}

// importPath turns a path pattern of Claude's into ours: //x is absolute, /x is relative to the settings file there and
// becomes relative here (at any depth, which is wider), ./x is relative.
func importPath(p string) string {
	switch {
	case strings.HasPrefix(p, "//"):
		return p[1:]
	case strings.HasPrefix(p, "/"):
		return p[1:]
	}
	return strings.TrimPrefix(p, "./")
}

// rule writes a rule with its content escaped.
func rule(tool, content string) string {
	return tool + "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(content) + ")"
}

// unescape takes Claude's escapes of parentheses and backslashes out.
func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\(`, "(", `\)`, ")").Replace(s)
}
