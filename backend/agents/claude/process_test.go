package claude

import (
	"testing"

	"countersign/backend/wire"
)

func TestRecognise(t *testing.T) {
	for _, tc := range []struct {
		name            string
		process         wire.Process
		match, verified bool
	}{
		{"npm package", wire.Process{Exe: "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", Name: "claude"}, true, true},
		{"npm package, replaced", wire.Process{Exe: "/x/@anthropic-ai/claude-code/bin/claude.exe (deleted)"}, true, true},
		{"platform package", wire.Process{Exe: "/x/@anthropic-ai/claude-code-linux-x64/claude"}, true, true},
		{"native installer", wire.Process{Exe: "/home/u/.local/share/claude/versions/2.1.332"}, true, true},
		{"Windows", wire.Process{Exe: `C:\Users\u\.local\bin\claude.exe`}, true, true},
		{"on node", wire.Process{Exe: "/usr/bin/node", Args: []string{"node", "/x/node_modules/@anthropic-ai/claude-code/cli.js", "-p"}}, true, false},
		{"unreadable, by its name", wire.Process{Name: "claude"}, true, false},
		{"another program by that name only", wire.Process{Exe: "/usr/bin/python3", Name: "claude"}, false, false},
		{"shell with the path as an argument", wire.Process{Exe: "/usr/bin/bash", Args: []string{"bash", "/x/@anthropic-ai/claude-code/cli.js"}}, false, false},
		{"node with another script", wire.Process{Exe: "/usr/bin/node", Args: []string{"node", "/x/claude-code/cli.js"}}, false, false},
		{"other version directory", wire.Process{Exe: "/opt/claude/versions/latest"}, false, false},
		{"desktop app", wire.Process{Exe: "/Applications/Claude.app/Contents/MacOS/Claude"}, false, false},
		{"nothing", wire.Process{}, false, false},
	} {
		match, verified := Recognise(tc.process)
		if match != tc.match || verified != tc.verified || MatchProcess(tc.process) != tc.match {
			t.Errorf("%s: match %v, verified %v", tc.name, match, verified)
		}
	}
}
