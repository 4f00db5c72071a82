package desk

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"countersign/backend/policy"
	"countersign/backend/wire"
)

// Limits of what is registered for browser tools.
const (
	maxSurfaces    = 32
	maxSurfaceName = 128 // bytes
)

// Surface is what one browser tool of a session acts on: a page's origin and the surface in it. It is registered by the
// owner's side, so a model's words cannot make one look like another.
type Surface struct {
	Server  string `json:"server,omitempty"` // MCP server whose tools act on it; "" the agent's own browser tool
	Origin  string `json:"origin"`           // "https://example.org"
	Name    string `json:"name"`
	Granted bool   `json:"granted"` // its calls may go ahead
}

func (s Surface) text() string { return s.Origin + "#" + s.Name }

// surfaceOf is the surface that a tool acts on, as text for policy, or "".
func surfaceOf(tool string, surfaces []Surface) string {
	server, mcp := policy.MCPServer(tool)
	if !mcp && policy.CanonicalTool(tool) != policy.ToolWebUse {
		return ""
	}
	for _, s := range surfaces {
		if s.Server == server {
			return s.text()
		}
	}
	return ""
}

// granted are the surfaces whose calls may go ahead.
func granted(surfaces []Surface) []string {
	var out []string
	for _, s := range surfaces {
		if s.Granted {
			out = append(out, s.text())
		}
	}
	return out
}

// setSurface registers what a browser tool of a session acts on from now on, and whether its calls may go ahead there. With
// an empty origin it is taken away.
func (d *Desk) setSurface(_ context.Context, _ *exchange, in wire.SetSurface) (wire.Session, error) {
	bad := func(problem string) error {
		return &wire.Error{Code: wire.CodeBadArgument, Args: map[string]string{"problem": problem}}
	}
	next := Surface{Server: in.Server, Origin: in.Origin, Name: in.Surface, Granted: in.Granted}
	if in.Origin != "" {
		u, err := url.Parse(in.Origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Scheme+"://"+u.Host != in.Origin || strings.ToLower(in.Origin) != in.Origin {
			return wire.Session{}, bad("origin is a scheme, a host and a port if there is one, in lower case: https://example.org")
		}
		if in.Surface == "" || len(in.Surface) > maxSurfaceName || strings.ContainsFunc(in.Surface, func(r rune) bool { return !unicode.IsPrint(r) || r == '#' }) {
			return wire.Session{}, bad("surface is a name of at most " + itoa(maxSurfaceName) + " bytes without #")
		}
	}
	s, err := d.changeSession(in.Session, func(s *Session) error {
		list := slices.DeleteFunc(slices.Clone(s.Surfaces), func(have Surface) bool { return have.Server == in.Server })
		if in.Origin != "" {
			list = append(list, next)
		}
		if len(list) > maxSurfaces {
			return bad("a session has at most " + itoa(maxSurfaces) + " surfaces")
		}
		s.Surfaces = list
		return nil
	})
	if err != nil {
		return wire.Session{}, err
	}
	return d.wireSession(s), nil
}
