// Package claude is the adapter for Claude Code: it edits Claude's settings so that its hooks ask the desk, it is what
// those hooks run, and it recognises Claude's process.
//
// What it owns: the hook program (Hook), the fixed line that an allowed command becomes (FixedLine), Connect,
// Disconnect and Status of the settings file, the import of Claude's own deny and ask rules, and MatchProcess. It
// starts no process, decides nothing, and reads no environment variable: what the hook needs stands on its command
// line, because a repository's settings can set the environment of a hook.
//
// What was seen on Claude Code 2.1.332, and what follows from it:
//   - PreToolUse runs before every tool, also in every bypass. A denial's reason is the tool's result, additionalContext
//     of an allow or of PostToolUse reaches the model after it. An answer whose hookEventName is not the event's own is
//     thrown away and the tool runs: the event's name is found even in input that is refused.
//   - A hook that exits with 1, prints something else, times out or is missing lets the tool run. Hence permissions.ask
//     underneath (mode strict): it holds in every permission mode and against an allow rule, and asks PermissionRequest
//     with the rewritten input, headless too. The terminal interface shows its dialog meanwhile, for some tenths of a second.
//   - PermissionRequest may allow or deny but not rewrite what an ask rule holds back. A command that comes there
//     without having been rewritten is refused.
//   - A skill's own shell lines (!`command`) never pass PreToolUse. PreSkillShellCommand may refuse them and nothing
//     else, so they are refused with the advice to propose the command as a call.
//   - A call that failed comes as PostToolUseFailure instead of PostToolUse.
//   - continue:false stops the turn after PostToolUse, not after PostToolUseFailure; it is used when the session was paused.
//   - A settings file with a comment, a trailing comma or bad JSON is not loaded at all, hooks included; a byte order
//     mark and CRLF are. An unknown event in it is skipped with a warning, as is an unknown tool in permissions.ask
//     (MultiEdit is unknown now).
//   - Esc sends SIGTERM to the hook, and SIGKILL soon after.
//
// Known limits: a background command (run_in_background) becomes a fixed line too, and is bound to the life of the line
// that Claude runs in the background; its call must be redeemed within the allow's own time. Claude's other tools run
// in Claude itself: they are decided here, and nothing is said about a boundary. CLAUDE_CONFIG_DIR moves Claude's
// settings; whoever connects must name the file then. Hooks of plugins are not inspected, only named.
package claude
