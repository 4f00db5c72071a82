package main

import (
	"os"
	"path/filepath"
	"strings"

	"countersign/backend/config"
)

// demoConfig holds the rules of the throw-away desk. They name the demo's own scripts, so that each step shows another
// way a decision is made.
const demoConfig = `[identity]
store = "file"

[rules]
deny = ["bash(git push:*)"]
allow = ["edit(greeting.txt)", "bash(./build.sh)", "bash(./phone-home.sh)"]
`

// lay makes the scratch project and the directories of a desk of its own beside it.
func (d *demo) lay(home string) error {
	var err error
	if d.visitor, err = newVisitor(); err != nil {
		return err
	}
	files := map[string]string{
		"project/README.md":     "# Scratch project\n\nMade by countersign demo; it is deleted at the end.\n",
		"project/greeting.txt":  "Hello, world\n",
		"project/build.sh":      "#!/bin/bash\nset -e\nmkdir -p out\ntr a-z A-Z <greeting.txt >out/greeting.txt\ncat out/greeting.txt\n",
		"project/phone-home.sh": "#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/" + d.visitor.port() + " && echo 'got out' >&3\n",
		// Beside the project: no command may read what lies in a desk's own directory.
		"desk/config/config.toml": demoConfig,
	}
	for _, dir := range []string{"project", "desk", "desk/config"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		mode := os.FileMode(0o600)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o700
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), mode); err != nil {
			return err
		}
	}
	d.dirs, err = config.Resolve(filepath.Join(home, "desk"), func(string) string { return "" })
	return err
}

// demoStep is one scripted call with how it must end.
type demoStep struct {
	says    string
	tool    string
	args    map[string]any
	answer  string // headless: what the owner does when asked, "allow" or "deny"
	note    string // headless: the owner's note
	expects func(d *demo, r demoResult) string
}

var demoSteps = []demoStep{
	{
		says: "reads README.md. Reading inside the project is safe: nobody is asked.", tool: "read",
		args:    map[string]any{"path": "README.md"},
		expects: func(_ *demo, r demoResult) string { return r.ran("safe_read", 0, "Scratch project") },
	},
	{
		says: "edits greeting.txt. A rule allows it; the file is written only if it still is what was approved.", tool: "edit",
		args: map[string]any{"path": "greeting.txt", "old_string": "world", "new_string": "Countersign"},
		expects: func(d *demo, r demoResult) string {
			data, err := os.ReadFile(filepath.Join(d.project, "greeting.txt"))
			if err != nil || string(data) != "Hello, Countersign\n" {
				return "greeting.txt was not written as approved"
			}
			return r.ran("rule_allow", 0, "")
		},
	},
	{
		says: "runs ./build.sh. A rule allows it; it runs inside the boundary.", tool: "bash",
		args:    map[string]any{"command": "./build.sh", "description": "build"},
		expects: func(_ *demo, r demoResult) string { return r.ran("rule_allow", 0, "HELLO, COUNTERSIGN") },
	},
	{
		says: "runs ./phone-home.sh, which tries to reach a listener of this demo over the network. It fails inside.", tool: "bash",
		args: map[string]any{"command": "./phone-home.sh"},
		expects: func(d *demo, r demoResult) string {
			if d.visitor.visited() {
				return "the command reached the network"
			}
			if r.exit == 0 {
				return "the command did not notice that there is no network"
			}
			return r.ran("rule_allow", r.exit, "")
		},
	},
	{
		says: "wants to run git push. A deny rule stops it; nothing starts.", tool: "bash",
		args:    map[string]any{"command": "git push origin main"},
		expects: func(_ *demo, r demoResult) string { return r.stopped("denied", "rule_deny") },
	},
	{
		says: "wants to leave a file behind. No rule covers it: the owner is asked.", tool: "bash",
		args: map[string]any{"command": "touch approved.txt && ls", "description": "leave a mark"}, answer: "allow", note: "this once",
		expects: func(d *demo, r demoResult) string {
			if r.status.Outcome == "refused" && !d.headless {
				return ""
			}
			if _, err := os.Stat(filepath.Join(d.project, "approved.txt")); err != nil {
				return "approved.txt is missing"
			}
			return r.ran("approval_required", 0, "approved.txt")
		},
	},
	{
		says: "wants to remove build.sh. No rule covers it: the owner is asked again.", tool: "bash",
		args: map[string]any{"command": "rm build.sh"}, answer: "deny", note: "keep the script",
		expects: func(d *demo, r demoResult) string {
			if r.status.Outcome != "refused" && !d.headless {
				return ""
			}
			if !strings.Contains(r.status.Message, "keep the script") && d.headless {
				return "the owner's note did not reach the agent"
			}
			return r.stopped("refused", "approval_required")
		},
	},
}
