package policy

import (
	"strings"
	"unicode"
)

// The canonical tools (policy.md, section 9). A tool that is none of them is unknown: not safe, not an edit, and asks.
const (
	ToolBash          = "bash"
	ToolPowerShell    = "powershell"
	ToolRead          = "read"
	ToolWrite         = "write"
	ToolEdit          = "edit"
	ToolApplyPatch    = "apply_patch"
	ToolGlob          = "glob"
	ToolGrep          = "grep"
	ToolList          = "list"
	ToolWebFetch      = "web_fetch"
	ToolWebSearch     = "web_search"
	ToolWebUse        = "web_use"
	ToolMemoryStatus  = "memory_status"
	ToolMemoryGet     = "memory_get"
	ToolMemoryUpdate  = "memory_update"
	ToolSpawnAgent    = "spawn_agent"
	ToolAskUser       = "ask_user_question"
	ToolEnterPlan     = "enter_plan_mode"
	ToolExitPlan      = "exit_plan_mode"
	ToolTodo          = "todo"
	ToolSearch        = "tool_search"
	ToolMCP           = "mcp"
	ToolUpdatePrepare = "self_update_prepare"
	ToolUpdateRetry   = "self_update_retry"
)

// family is how rules of a tool are matched: by the words of a command, by a path, and so on.
type family int

const (
	familyOther family = iota // no text, or the call's subject
	familyCommand
	familyRead
	familyWrite
	familyDomain
	familyMCP
	familySurface
)

// toolTraits says what a canonical tool is. What is false or empty here is the cautious answer.
type toolTraits struct {
	family   family
	needs    Capability // what the caller must hold; "" nothing
	planSafe bool       // has no side effect that plan mode must stop (commands are judged by their text)
	harmless bool       // a safe read when its targets, if it has any, are safe
	forced   bool       // asks every time, whatever allows
	offer    bool       // a rule for the whole tool may be offered on a card
}

var tools = map[string]toolTraits{
	ToolBash:       {family: familyCommand, needs: CapProcessExec},
	ToolPowerShell: {family: familyCommand, needs: CapProcessExec},
	ToolRead:       {family: familyRead, planSafe: true, harmless: true},
	ToolGlob:       {family: familyRead, planSafe: true, harmless: true},
	ToolGrep:       {family: familyRead, planSafe: true, harmless: true},
	ToolList:       {family: familyRead, planSafe: true, harmless: true},
	ToolWrite:      {family: familyWrite, needs: CapFilesWrite},
	ToolEdit:       {family: familyWrite, needs: CapFilesWrite},
	ToolApplyPatch: {family: familyWrite, needs: CapFilesWrite},
	ToolWebFetch:   {family: familyDomain, needs: CapNetworkSend, planSafe: true},
	ToolWebSearch:  {needs: CapNetworkSend, planSafe: true, offer: true},
	ToolWebUse:     {family: familySurface, needs: CapWebUse},
	ToolMCP:        {family: familyMCP, needs: CapNetworkSend},

	ToolMemoryStatus: {planSafe: true, harmless: true},
	ToolMemoryGet:    {planSafe: true, harmless: true},
	ToolMemoryUpdate: {needs: CapMemoryWrite, offer: true},
	ToolSpawnAgent:   {planSafe: true}, // the child inherits the plan ceiling
	ToolAskUser:      {planSafe: true, harmless: true},
	ToolEnterPlan:    {planSafe: true, harmless: true},
	ToolExitPlan:     {planSafe: true, forced: true},
	ToolTodo:         {planSafe: true, harmless: true},
	ToolSearch:       {planSafe: true, harmless: true},

	ToolUpdatePrepare: {forced: true},
	ToolUpdateRetry:   {forced: true},
}

// aliases are the names agents give the canonical tools, in lower case. Only names that were seen on a released agent, or
// that its documentation gives, stand here: an alias that makes a tool look safer than it is would be a hole. A call does
// not say which agent sends it, and a server may give one of its tools such a name: so a harmless tool is a safe read only
// with the arguments that the known tools of that name take (strangeKeys).
var aliases = map[string]string{
	// Claude Code
	"multiedit": ToolEdit, "notebookedit": ToolEdit, "notebookread": ToolRead, "ls": ToolList,
	"webfetch": ToolWebFetch, "websearch": ToolWebSearch, "task": ToolSpawnAgent, "agent": ToolSpawnAgent,
	"todowrite": ToolTodo, "todoread": ToolTodo, "askuserquestion": ToolAskUser, "exitplanmode": ToolExitPlan,
	"enterplanmode": ToolEnterPlan, "toolsearch": ToolSearch,
	// Codex
	"exec_command": ToolBash, "shell": ToolBash, "local_shell": ToolBash, "shell_command": ToolBash,
	"applypatch": ToolApplyPatch, "update_plan": ToolTodo,
	// Gemini CLI, Qwen Code
	"run_shell_command": ToolBash, "write_file": ToolWrite, "replace": ToolEdit, "read_file": ToolRead,
	"read_many_files": ToolRead, "list_directory": ToolList, "search_file_content": ToolGrep,
	"grep_search": ToolGrep, "google_web_search": ToolWebSearch, "todo_write": ToolTodo, "write_todos": ToolTodo,
	"exit_plan": ToolExitPlan, "ask_user": ToolAskUser,
	// OpenCode
	"patch": ToolApplyPatch, "question": ToolAskUser,
	// Copilot CLI
	"create": ToolWrite, "view": ToolRead, "str_replace": ToolEdit, "str_replace_editor": ToolEdit,
	// Cline
	"execute_command": ToolBash, "write_to_file": ToolWrite, "replace_in_file": ToolEdit,
	"list_files": ToolList, "search_files": ToolGrep, "ask_followup_question": ToolAskUser,
	// documents and other spellings
	"edit_file": ToolEdit, "pwsh": ToolPowerShell, "fetch": ToolWebFetch, "web": ToolWebFetch,
}

// mcpPrefix starts the name that several agents give an MCP tool: mcp__server__tool.
const mcpPrefix = "mcp__"

// CanonicalTool returns the canonical name of a tool as an agent sends it, in any letter case. An unknown name is
// returned as it is. An MCP tool is "mcp".
func CanonicalTool(name string) string {
	name = strings.TrimSpace(name)
	if strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return name // the Kelvin sign folds to k, and no tool is spelled with it
	}
	lower := strings.ToLower(name)
	if _, ok := tools[lower]; ok {
		return lower
	}
	if canonical, ok := aliases[lower]; ok {
		return canonical
	}
	if strings.HasPrefix(lower, mcpPrefix) && len(lower) > len(mcpPrefix) {
		return ToolMCP
	}
	return name
}

// KnownTool reports whether canonical is one of the canonical tools.
func KnownTool(canonical string) bool { _, ok := tools[canonical]; return ok }

// IsWriteTool reports whether the canonical tool writes files that it names: write, edit, apply_patch.
func IsWriteTool(canonical string) bool { return tools[canonical].family == familyWrite }

// IsCommandTool reports whether the canonical tool runs a command text: bash, powershell.
func IsCommandTool(canonical string) bool { return tools[canonical].family == familyCommand }

// mcpSplits returns every way to read mcp__a__b__c as server and tool. More than one means that the name is ambiguous: a
// deny matches any of them, an allow none.
func mcpSplits(name string) []mcpName {
	name = strings.TrimSpace(name)
	if len(name) <= len(mcpPrefix) || !strings.EqualFold(name[:len(mcpPrefix)], mcpPrefix) {
		return nil
	}
	rest := name[len(mcpPrefix):]
	var out []mcpName
	for i := 1; i+2 < len(rest) && len(out) < 8; i++ {
		if rest[i] == '_' && rest[i+1] == '_' {
			out = append(out, mcpName{server: rest[:i], tool: rest[i+2:]})
		}
	}
	if out == nil {
		out = []mcpName{{server: strings.TrimSuffix(rest, "__")}}
	}
	return out
}

// MCPServer returns the server of an MCP tool's name as agents give it, mcp__server__tool. It is false for another tool, and
// for a name that can be read in several ways.
func MCPServer(tool string) (server string, ok bool) {
	splits := mcpSplits(tool)
	if len(splits) != 1 || splits[0].server == "" {
		return "", false
	}
	return splits[0].server, true
}

// mcpName is one reading of an MCP tool's name.
type mcpName struct{ server, tool string }
