package main

import (
	"strings"
	"testing"
)

func TestLinkProblem(t *testing.T) {
	tests := []struct {
		name, link, says string
	}{
		{"none", "", ""},
		{"an approval", "countersign://approval/0190a6c2-8f3e-7c11-9d65-3c0a4b6e7f10", ""},
		{"one spelling", "Countersign://session/x", "does not begin"},
		{"what it names is the core's to find", "countersign://nonsense", ""},
		{"another scheme", "https://example.org/", "does not begin"},
		{"a scheme that only begins like ours", "countersigned://approval/x", "does not begin"},
		{"no scheme", "approval/x", "does not begin"},
		{"too long", "countersign://" + strings.Repeat("a", maxLink), "at most 512"},
		{"as long as it may be", "countersign://" + strings.Repeat("a", maxLink-len("countersign://")), ""},
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
			if strings.ContainsAny(got, "\x1b\n\u202e") {
				t.Errorf("the link's own text came through: %q", got)
			}
		})
	}
}
