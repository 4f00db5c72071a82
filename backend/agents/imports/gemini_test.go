package imports

import "testing"

func TestGemini(t *testing.T) {
	testRows(t, agentGemini, []row{
		{"deny", `toolName = "run_shell_command"`, "bash", ""},
		{"ask", `toolName = "run_shell_command"`, "bash", ""},
		{"allow", `toolName = "run_shell_command"
commandPrefix = "git status"`, "bash(git status:*)", ""},
		{"allow", `toolName = "run_shell_command"
commandPrefix = ["git log", "git diff"]`, "bash(git log:*); bash(git diff:*)", ""},
		{"deny", `toolName = "run_shell_command"
commandPrefix = "rm -rf"`, "bash(rm -rf:*)", ""},
		{"deny", `toolName = "run_shell_command"
commandPrefix = "git "`, "bash(git:*)", ""},
		{"allow", `toolName = "run_shell_command"
commandPrefix = "git "`, "", "trailing_space"},
		{"deny", `toolName = "run_shell_command"
commandPrefix = "cd x && rm"`, "", "operators"},
		{"deny", `toolName = "run_shell_command"
commandPrefix = "echo \"a"`, "bash(echo:*)", "widened"},
		{"allow", `toolName = "run_shell_command"
commandPrefix = "python"`, "bash(python:*)", "hands_over"},
		{"deny", `toolName = "run_shell_command"
commandRegex = "rm .*-rf"`, "bash(rm * *-rf*)", ""},
		{"allow", `toolName = "run_shell_command"
commandRegex = "git status"`, "bash(git status*)", ""},
		{"allow", `toolName = "run_shell_command"
commandRegex = "git (log|diff)"`, "", "regex"},
		{"deny", `toolName = "run_shell_command"
commandRegex = "git\\s+push"`, "bash(git push*)", ""},
		{"deny", `toolName = "write_file"
argsPattern = "\\.env"`, "", "other_tools_too regex_arguments"},
		{"allow", `toolName = "write_file"`, "write", ""},
		{"deny", `toolName = "write_file"`, "edit; write", "other_tools_too"},
		{"deny", `toolName = "replace"`, "edit; write", ""},
		{"allow", `toolName = ["read_file", "glob"]`, "read; glob", ""},
		{"allow", `toolName = "read_many_files"`, "", "one_of_several"},
		{"deny", `toolName = "*"`, "bash; powershell; read; write; edit; apply_patch; glob; grep; list; web_fetch; web_search; mcp; spawn_agent", "every_known_tool"},
		{"allow", `toolName = "*"`, "", "every_tool"},
		{"allow", `mcpName = "github"
toolName = "create_issue"`, "mcp(github/create_issue)", ""},
		{"deny", `mcpName = "github"`, "mcp(github)", ""},
		{"deny", `mcpName = "*"`, "mcp", ""},
		{"allow", `mcpName = "*"`, "", "server_pattern"},
		{"deny", `toolName = "mcp_github_*"`, "mcp(github)", ""},
		{"deny", `toolName = "mcp_github_create_issue"`, "mcp(github/create_issue); mcp(github_create/issue)", ""},
		{"deny", `toolName = "github__create"`, "mcp(github/create)", ""},
		{"allow", `toolName = "glob"
modes = ["yolo"]`, "", "modes"},
		{"deny", `toolName = "glob"
modes = ["plan"]`, "glob", "modes"},
		{"allow", `toolName = "glob"
interactive = true`, "", "condition"},
		{"deny", `toolName = "save_memory"`, "save_memory", ""},
		{"allow", `toolName = "run_shell_command"
commandPrefix = "ls"
allow_redirection = true`, "bash(ls:*)", "redirection"},
		{"deny", `toolName = "dis*"`, "", "tool_pattern"},
		{"deny", `settings {"tools": {"allowed": ["run_shell_command(git status)", "ShellTool(npm test)", "glob"]}}`, "bash(git status:*); bash(npm test:*); glob", ""},
		{"deny", `settings {"tools": {"exclude": ["run_shell_command(rm)", "write_file"]}}`, "bash(rm:*); edit; write", "other_tools_too"},
		{"deny", `settings {"coreTools": ["ls"], "tools": {"allowed": ["glob"]}}`, "", "uncarried_before only_these"},
		{"deny", `settings {"excludeTools": ["web_fetch"], "mcp": {"allowed": ["gh"], "excluded": ["x"]}}`, "mcp(x); web_fetch; mcp(gh)", ""},
		{"deny", `settings {"mcpServers": {"gh": {"trust": true}, "y": {}}}`, "mcp(gh)", ""},
	})
}
