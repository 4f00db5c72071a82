package main

import (
	"strings"
	"testing"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

func TestLinkProblem(t *testing.T) {
	tests := []struct {
		name, link, says string
	}{
		{"none", "", ""},
		{"an approval", "countersign://approval/0190a6c2-8f3e-7c11-9d65-3c0a4b6e7f10", ""},
		{"one spelling", "Countersign://session/x", "does not begin"},
		{"the end of an id", "countersign://receipt/4b6e7f10", ""},
		{"a project", "countersign://project/work_1", ""},
		{"another kind", "countersign://nonsense", "is not approval, session, project or receipt"},
		{"another host", "countersign://answer/3f9a1c20", "is not approval, session, project or receipt"},
		{"a kind in capitals", "countersign://Approval/3f9a1c20", "in small letters"},
		{"only the scheme", "countersign://", "is not approval, session, project or receipt"},
		{"no id", "countersign://approval", "names no id"},
		{"no id after the slash", "countersign://approval/", "names no id"},
		{"a slash behind it", "countersign://approval/3f9a1c20/", "nothing comes after it"},
		{"a query", "countersign://approval/3f9a1c20?allow=1", "nothing comes after it"},
		{"a fragment", "countersign://approval/3f9a1c20#allow", "nothing comes after it"},
		{"an encoded id", "countersign://approval/%33f9a1c20", "percent sign"},
		{"an encoded line end", "countersign://approval/3f9a1c20%0a", "percent sign"},
		{"another scheme", "https://example.org/", "does not begin"},
		{"a scheme that only begins like ours", "countersigned://approval/x", "does not begin"},
		{"no scheme", "approval/x", "does not begin"},
		{"too long", "countersign://" + strings.Repeat("a", maxLink), "at most 512"},
		{"too long an id", "countersign://approval/" + strings.Repeat("a", 129), "is no id"},
		{"a line end", "countersign://approval/x\nallow", "spaces, control characters"},
		{"an escape sequence", "countersign://approval/\x1b[2J", "spaces, control characters"},
		{"letters that run backwards", "countersign://approval/\u202e", "spaces, control characters"},
		{"bytes that are no text", "countersign://approval/\xff", "spaces, control characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := linkProblem(tt.link)
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("linkProblem = %q", got)
			}
			if parsed := desk.ParseLink(tt.link).Kind; (got == "") != (parsed != wire.LinkUnknown) {
				t.Errorf("the core takes it for %q", parsed)
			}
			if strings.ContainsAny(got, "\x1b\n\u202e") {
				t.Errorf("the link's own text came through: %q", got)
			}
		})
	}
}
