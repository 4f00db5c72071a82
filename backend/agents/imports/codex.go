package imports

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"countersign/backend/policy"
)

// readCodexRules reads a *.rules file (developers.openai.com/codex/rules, looked at in November 2026): prefix_rule
// calls, of which the strictest that matches decides, as here.
func (s *sheet) readCodexRules(data []byte) error {
	statements, err := starlarkStatements(s.file, string(data))
	if err != nil {
		return err
	}
	for _, st := range statements {
		list, known := policy.ListDeny, false // what is not understood may forbid
		if decision, ok := st.args["decision"].(string); ok {
			list, known = codexDecision(decision)
		} else if _, has := st.args["decision"]; !has && st.name == "prefix_rule" {
			list, known = policy.ListAllow, true
		}
		if !known {
			list = policy.ListDeny
		}
		it := s.add(st.line, list, st.text)
		it.about("", policy.ToolBash)
		switch {
		case st.name == "network_rule":
			it.about("", "network")
			it.refuse("network_rule")
		case st.name == "host_executable":
			it.List = ""
			it.refuse("host_executable")
		case st.name == "":
			it.refuse("not_literal")
		case st.name != "prefix_rule":
			it.refuse("unknown_call", shorten(st.name))
		case !st.literal:
			it.refuse("not_literal")
		case !known:
			it.refuse("field", "decision")
		default:
			it.prefixRule(st.args)
		}
	}
	return nil
}

func codexDecision(text string) (policy.List, bool) {
	switch text {
	case "allow":
		return policy.ListAllow, true
	case "prompt":
		return policy.ListAsk, true
	case "forbidden":
		return policy.ListDeny, true
	}
	return "", false
}

// maxPrefixRules is how many rules the alternatives of one pattern may become.
const maxPrefixRules = 64

// prefixRule carries a pattern: a list of words, or of lists of words that may stand in a place.
func (it *item) prefixRule(args map[string]any) {
	for name := range args {
		switch name {
		case "pattern", "decision", "match", "not_match", "justification":
		default:
			it.refuse("field", shorten(name)) // it may narrow the rule in a way that is not known here
			return
		}
	}
	pattern, ok := args["pattern"].([]any)
	if !ok || len(pattern) == 0 {
		it.refuse("field", "pattern")
		return
	}
	prefixes := [][]string{nil}
	cut := false
	for i, element := range pattern {
		words := []string{}
		switch e := element.(type) {
		case string:
			words = append(words, e)
		case []any:
			for _, alternative := range e {
				word, ok := alternative.(string)
				if !ok {
					it.refuse("field", "pattern")
					return
				}
				words = append(words, word)
			}
		}
		if len(words) == 0 || i == 0 && strings.Join(words, "") == "" {
			it.refuse("field", "pattern")
			return
		}
		if len(prefixes)*len(words) > maxPrefixRules {
			cut = true
			break
		}
		var next [][]string
		for _, p := range prefixes {
			for _, w := range words {
				next = append(next, append(p[:len(p):len(p)], quoteWord(w)))
			}
		}
		prefixes = next
	}
	if cut && (it.List == policy.ListAllow || prefixes[0] == nil) {
		it.refuse("too_many")
		return
	}
	for _, p := range prefixes {
		it.carry(rule(policy.ToolBash, strings.Join(p, " ")+":*"))
		if it.done() {
			return
		}
	}
	if cut {
		it.differs("widened")
	}
	if len(prefixes) == 1 {
		it.pattern = strings.Join(prefixes[0], " ") + " *"
	}
}

// readTOML parses TOML into maps.
func (s *sheet) readTOML(data []byte) (map[string]any, error) {
	var out map[string]any
	err := toml.Unmarshal(data, &out)
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		return nil, &SyntaxError{File: s.file, Line: line, Problem: strings.TrimPrefix(decode.Error(), "toml: ")}
	}
	if err != nil {
		return nil, &SyntaxError{File: s.file, Problem: err.Error()}
	}
	return out, nil
}

// readCodexConfig reports the settings of config.toml that bear on permission. None is a rule.
func (s *sheet) readCodexConfig(data []byte) error {
	config, err := s.readTOML(data)
	if err != nil {
		return err
	}
	for _, name := range []string{"approval_policy", "sandbox_mode", "sandbox_workspace_write"} {
		if v, ok := config[name]; ok {
			value := shorten(fmt.Sprint(v))
			s.add(lineOf(data, name), "", name+" = "+value).refuse("setting", name, value)
		}
	}
	return nil
}

// lineOf finds the line that begins with a key, for showing.
func lineOf(data []byte, key string) int {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		trimmed := strings.TrimLeft(line, " \t[")
		if rest, ok := strings.CutPrefix(trimmed, key); ok && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "=") ||
			ok && strings.HasPrefix(rest, "]") {
			return n
		}
	}
	return 0
}
