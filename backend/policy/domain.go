package policy

import (
	"net/url"
	"strings"
)

// hostOf returns the host of a URL as label-wise comparison needs it. ok is false when programs could disagree about the
// host: then no allow rule matches, and any deny or ask rule makes the call ask.
func hostOf(text string) (host string, ok bool) {
	if strings.ContainsAny(text, "\\ \t\n\r") || hiddenText(text) != "" {
		return "", false
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" || strings.Contains(u.Host, "%") {
		return "", false
	}
	for i := range len(host) {
		c := host[i]
		if c != '-' && c != '.' && c != '_' && c != ':' && !('a' <= c && c <= 'z') && !('0' <= c && c <= '9') {
			return "", false
		}
	}
	return host, true
}

// matchesHost compares label by label.
func (c *compiledRule) matchesHost(host string) bool {
	if c.kind == kindWhole || c.domain == "*" {
		return true
	}
	if host == c.domain {
		return !c.subOnly
	}
	return strings.HasSuffix(host, "."+c.domain)
}

// matchesMCP compares one reading of an MCP tool's name.
func (c *compiledRule) matchesMCP(name mcpName) bool {
	return c.kind == kindWhole || c.kind == kindMCP && matchText(c.server, name.server) && matchText(c.tool, name.tool)
}
