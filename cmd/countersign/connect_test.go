package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/agents/claude"
)

// One cause was once told in nine lines, one for each hook. What differs stays apart.
func TestFindingsAreGrouped(t *testing.T) {
	got := grouped([]claude.Finding{
		{Code: claude.FindOtherCore, File: "s", Detail: "PostToolUse: old"},
		{Code: claude.FindOtherCore, File: "s", Detail: "PreToolUse: old", Opens: true},
		{Code: claude.FindOtherCore, File: "s", Detail: "Stop: older"},
		{Code: claude.FindEventMissing, File: "s", Detail: "SessionEnd"},
		{Code: claude.FindEventMissing, File: "s", Detail: "SessionStart"},
		{Code: claude.FindAllowRule, File: "s", Detail: "Read"},
		{Code: claude.FindAllowRule, File: "s", Detail: "Glob"},
	})
	want := []claude.Finding{
		{Code: claude.FindOtherCore, File: "s", Detail: "PostToolUse and 1 more: old", Opens: true},
		{Code: claude.FindOtherCore, File: "s", Detail: "Stop: older"},
		{Code: claude.FindEventMissing, File: "s", Detail: "SessionEnd and 1 more"},
		{Code: claude.FindAllowRule, File: "s", Detail: "Read"},
		{Code: claude.FindAllowRule, File: "s", Detail: "Glob"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
