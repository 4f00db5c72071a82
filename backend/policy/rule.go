package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxRule is the longest rule, in bytes, that is read.
const MaxRule = 16 << 10

// Rule is one rule as it stands in a list, without the list: a tool and, optionally, a text in parentheses.
//
//	tool                    the whole tool
//	tool(text)              exact words of a command, a path, or the call's subject
//	tool(prefix:*)          a prefix of whole words of a command
//	tool(glob)              a pattern over a path or over the words of a command
//	web_fetch(domain:NAME)  a host and its subdomains; domain:*.NAME its subdomains only
//	mcp(server/tool)        a tool of an MCP server; mcp(server) all of them
//	web_use(origin#surface) one exact surface
//
// Inside the parentheses ( ) and \ are written with a backslash before them. Balanced parentheses without one are read
// too, and a backslash before anything else stands for itself. ParseRule and String are exact inverses.
type Rule struct {
	tool    string // canonical
	content string // what stands between the parentheses, without the escapes
	parens  bool
	c       *compiledRule
}

// ParseRule reads a rule as users of any supported agent write it. Tool names are accepted under every alias and become
// canonical. The error names what is wrong; a rule that cannot be read must be reported, never dropped.
func ParseRule(text string) (Rule, error) {
	r, err := parseRule(text)
	if err != nil {
		shown := text
		if len(shown) > 80 {
			shown = strings.ToValidUTF8(shown[:80], "") + "…"
		}
		return Rule{}, fmt.Errorf("rule %q: %w", shown, err)
	}
	return r, nil
}

func parseRule(text string) (Rule, error) {
	if len(text) > MaxRule {
		return Rule{}, ErrRuleTooLong
	}
	if hiddenText(text) != "" {
		return Rule{}, ErrRuleText
	}
	text = strings.Trim(text, " \t\n")
	if text == "" {
		return Rule{}, ErrRuleEmpty
	}
	name, rest, parens := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if !validToolName(name) {
		return Rule{}, ErrRuleTool
	}
	r := Rule{tool: CanonicalTool(name), parens: parens}
	if parens {
		content, err := unescapeContent(rest)
		if err != nil {
			return Rule{}, err
		}
		r.content = strings.Trim(content, " \t\n")
		if r.content == "" {
			return Rule{}, ErrRuleContent
		}
	}
	if r.tool == ToolMCP && strings.HasPrefix(strings.ToLower(name), mcpPrefix) {
		if parens {
			return Rule{}, ErrRuleMCP
		}
		split := mcpSplits(name)[0]
		r.parens, r.content = true, split.server
		if split.tool != "" {
			r.content += "/" + split.tool
		}
	}
	c, err := compile(r)
	if err != nil {
		return Rule{}, err
	}
	r.c = c
	if len(r.String()) > MaxRule {
		return Rule{}, ErrRuleTooLong
	}
	return r, nil
}

// validToolName accepts the names that agents and MCP servers use; a glob is allowed only in an MCP name.
func validToolName(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	mcp := len(name) > len(mcpPrefix) && strings.EqualFold(name[:len(mcpPrefix)], mcpPrefix)
	for i, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_':
		case i > 0 && ('0' <= r && r <= '9' || r == '-' || r == '.'):
		case mcp && r == '*':
		default:
			return false
		}
	}
	return true
}

// unescapeContent reads up to the parenthesis that closes the content, which must be the last character.
func unescapeContent(text string) (string, error) {
	var b strings.Builder
	depth := 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i+1 < len(text) && (text[i+1] == '(' || text[i+1] == ')' || text[i+1] == '\\') {
				i++
			}
			b.WriteByte(text[i])
		case '(':
			depth++
			b.WriteByte(c)
		case ')':
			if depth--; depth == 0 {
				if i != len(text)-1 {
					return "", ErrRuleParens
				}
				return b.String(), nil
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return "", ErrRuleParens
}

var contentEscaper = strings.NewReplacer(`(`, `\(`, `)`, `\)`, `\`, `\\`)

// String prints the rule canonically; the zero Rule is "".
func (r Rule) String() string {
	if !r.parens {
		return r.tool
	}
	return r.tool + "(" + contentEscaper.Replace(r.content) + ")"
}

// Tool returns the canonical tool the rule is about.
func (r Rule) Tool() string { return r.tool }

// Content returns what stands between the parentheses, unescaped, and whether there are any.
func (r Rule) Content() (string, bool) { return r.content, r.parens }

// IsZero reports whether the rule was never parsed.
func (r Rule) IsZero() bool { return r.tool == "" }

// Equal reports whether both rules have the same canonical text.
func (r Rule) Equal(other Rule) bool {
	return r.tool == other.tool && r.parens == other.parens && r.content == other.content
}

// MarshalText returns the canonical text. The zero Rule is an error: it must not be saved.
func (r Rule) MarshalText() ([]byte, error) {
	if r.IsZero() {
		return nil, ErrRuleEmpty
	}
	return []byte(r.String()), nil
}

// UnmarshalText is ParseRule.
func (r *Rule) UnmarshalText(text []byte) error {
	if !utf8.Valid(text) {
		return ErrRuleText
	}
	parsed, err := ParseRule(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}
