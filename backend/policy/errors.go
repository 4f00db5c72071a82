package policy

import "errors"

// The errors of this package. Each reaches the caller wrapped, with the text that caused it.
var (
	ErrInvalidMode   = errors.New("unknown permission mode")
	ErrRuleEmpty     = errors.New("rule is empty")
	ErrRuleTooLong   = errors.New("rule is too long")
	ErrRuleText      = errors.New("rule contains a control, invisible or invalid character")
	ErrRuleTool      = errors.New("rule does not start with a tool name")
	ErrRuleParens    = errors.New("rule has unbalanced parentheses")
	ErrRuleContent   = errors.New("rule has empty parentheses")
	ErrRuleQuote     = errors.New("rule has an unfinished quote")
	ErrRulePrefix    = errors.New("rule has an empty prefix; name the whole tool instead")
	ErrRulePattern   = errors.New("rule has a malformed pattern")
	ErrRuleDomain    = errors.New("rule has a malformed domain")
	ErrRuleMCP       = errors.New("rule has a malformed MCP server or tool name")
	ErrRuleSurface   = errors.New("rule has a malformed Web Use surface")
	ErrRuleNoContent = errors.New("this tool takes no text in its rules")

	ErrBatchLine    = errors.New("batch line is malformed")
	ErrBatchTooLong = errors.New("batch line is too long")
)
