// Package imports translates another agent's permission configuration into Countersign rules, and says of every rule
// what it means here and what could not be carried over exactly.
//
// It reads text and returns a report; it decides nothing, keeps nothing and evaluates nothing. Two promises hold for
// what is carried over: a restriction (deny, ask) becomes at least as wide as it was, an allow at most as wide. What
// cannot keep its promise is carried more strictly or left out, and the report says which and why. A restriction that
// is left out also takes the allows with it that it would have narrowed: without it they would allow more than they
// did.
//
// What is read, as the agents document it:
//   - Claude Code: permissions in settings.json (code.claude.com/docs/en/permissions);
//   - Codex: *.rules files of prefix_rule calls (developers.openai.com/codex/rules) and the settings of config.toml;
//   - Gemini CLI: policies/*.toml (geminicli.com/docs/reference/policy-engine) and the tool lists of settings.json;
//   - OpenCode: permission in opencode.json and opencode.jsonc (opencode.ai/docs/permissions).
//
// Known limits:
//   - Every file is read by itself. A restriction in another file narrows an allow only when that file is imported
//     too, and what one project's file allows is meant for that project: its scope is for the caller to keep.
//   - These agents compare the text of a command, we compare its words after the shell's quoting: a pattern that
//     matches only because of what stands inside one quoted word is not followed.
//   - Files of an administrator and agents' Markdown files are not among Places.
//   - Gemini CLI's and OpenCode's MCP tools are carried under the server's and the tool's name, as mcp(server/tool).
package imports
