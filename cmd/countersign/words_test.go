package main

import (
	"strings"
	"testing"

	"countersign/backend/wire"
)

func TestSentencesOfCodes(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  wire.Error
		want string
	}{
		{"paused for a while", wire.Error{Code: "desk_paused", Args: map[string]string{"until": "2026-03-01T12:00:00Z"}}, "the desk is paused until "},
		{"paused for good", wire.Error{Code: "desk_paused"}, "until the owner resumes it"},
		{"paused by the owner", wire.Error{Code: "session_paused", Args: map[string]string{"session": "s", "why": wire.PausedByOwner}}, "this session is paused: the owner paused it."},
		{"paused for what it did", wire.Error{Code: "session_paused", Args: map[string]string{"session": "s", "why": "the agent ran Bash"}}, "this session is paused: the agent ran Bash."},
		{"not shown", wire.Error{Code: "not_shown"}, "not shown to anybody"},
		{"too soon", wire.Error{Code: "too_soon", Args: map[string]string{"wait_ms": "120"}}, "only just now"},
		{"an open window", wire.Error{Code: "window_open"}, "answer there"},
		{"its client waits no longer", wire.Error{Code: "cannot_extend"}, "waits no longer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := wireSentence(&tt.err)
			if !strings.Contains(got, tt.want) || strings.ContainsAny(got, "{}_") {
				t.Errorf("%q, want it to say %q", got, tt.want)
			}
		})
	}
}
