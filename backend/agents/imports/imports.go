package imports

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"countersign/backend/policy"
)

// Limits of what is read. A file over a limit is refused as a whole, an entry over one is reported and not carried.
const (
	MaxFile    = 1 << 20 // bytes of a file
	MaxEntries = 2000    // entries of a file
	MaxPattern = 4096    // bytes of one entry's text
)

// The agents whose rules can be read.
const (
	agentClaude   = "claude"
	agentCodex    = "codex"
	agentGemini   = "gemini"
	agentOpenCode = "opencode"
)

// The errors of this package, beside a SyntaxError.
var (
	ErrUnknownAgent = errors.New("no rules of this agent can be read")
	ErrUnknownFile  = errors.New("this agent keeps no rules in a file of this kind")
	ErrTooLarge     = errors.New("the file is too large to be a file of rules")
	ErrTooMany      = errors.New("the file has too many rules")
)

// SyntaxError says where a file could not be read, and why. Line counts from 1; 0 is unknown.
type SyntaxError struct {
	File    string
	Line    int
	Problem string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// Report is what one file says.
type Report struct {
	Agent, File string
	Entries     []Entry
}

// Entry is one rule of the agent's, and what became of it.
type Entry struct {
	Line     int             // in the file, from 1; 0 unknown
	Text     string          // as the agent writes it
	List     policy.List     // deny, ask or allow there; "" for a setting that is in no list
	Rules    []string        // our canonical texts; empty: not carried
	Boundary policy.Boundary // of allow rules: "any" (the agent ran it unboxed)
	Exact    bool            // means the same here
	Differs  []Difference    // how it differs; never empty when !Exact or not carried
}

// Difference is a code with arguments; app/i18n has a sentence for each ("import.differs.<code>") in both languages.
type Difference struct {
	Code string
	Args map[string]string
}

// Agents lists the agents whose rules can be read.
func Agents() []string { return []string{agentClaude, agentCodex, agentGemini, agentOpenCode} }

// Read translates one file. data is its content, name its path (its extension tells the format). The error is a
// *SyntaxError where the text cannot be read.
func Read(agent, name string, data []byte) (Report, error) {
	if !slices.Contains(Agents(), agent) {
		return Report{}, fmt.Errorf("read the rules of %q: %w; there are %s", agent, ErrUnknownAgent, strings.Join(Agents(), ", "))
	}
	if len(data) > MaxFile {
		return Report{}, fmt.Errorf("%s: %w (over %d bytes)", name, ErrTooLarge, MaxFile)
	}
	s := &sheet{file: name}
	err := s.read(agent, strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/"))), data)
	if err != nil {
		return Report{}, err
	}
	if len(s.items) > MaxEntries {
		return Report{}, fmt.Errorf("%s: %w (over %d)", name, ErrTooMany, MaxEntries)
	}
	s.settle()
	r := Report{Agent: agent, File: name, Entries: make([]Entry, len(s.items))}
	for i, it := range s.items {
		r.Entries[i] = it.finish()
	}
	return r, nil
}

func (s *sheet) read(agent, ext string, data []byte) error {
	switch {
	case agent == agentClaude && ext == ".json":
		return s.readClaude(data)
	case agent == agentCodex && ext == ".rules":
		return s.readCodexRules(data)
	case agent == agentCodex && ext == ".toml":
		return s.readCodexConfig(data)
	case agent == agentGemini && ext == ".toml":
		return s.readGeminiPolicy(data)
	case agent == agentGemini && ext == ".json":
		return s.readGeminiSettings(data)
	case agent == agentOpenCode && (ext == ".json" || ext == ".jsonc"):
		return s.readOpenCode(data)
	}
	return fmt.Errorf("%s: %w (%q)", s.file, ErrUnknownFile, ext)
}

// sheet is one file while it is read.
type sheet struct {
	file  string
	items []*item
	// ranked says that an allow can come before a restriction there, by rank. Otherwise deny comes before ask, and ask
	// before allow, as here.
	ranked bool
}

// item is an entry in the making.
type item struct {
	Entry
	rank    int      // where the sheet is ranked: what has more decides first
	tools   []string // canonical tools it is about; every is all of them
	pattern string   // what it is about among a tool's calls, with * for any text; "" is everything
	inexact bool
	unheld  []string // tools whose rules were left out of it
	refused bool     // left out; nothing is carried any more
	holds   bool     // a restriction that is not wholly carried holds there: allows below it are left out
}

// every stands for all tools.
const every = "*"

// add starts an entry. A text that is too long, or that could not be shown, is not looked at any further.
func (s *sheet) add(line int, list policy.List, text string) *item {
	it := &item{Entry: Entry{Line: line, Text: text, List: list}, tools: []string{every}}
	s.items = append(s.items, it)
	if len(text) > MaxPattern {
		it.Text = strings.ToValidUTF8(it.Text[:80], "") + "…"
		it.refuse("too_long")
	}
	return it
}

// done reports whether the entry was refused already.
func (it *item) done() bool { return it.refused }

func (it *item) restricts() bool { return it.List == policy.ListDeny || it.List == policy.ListAsk }

// refuse leaves an entry out. A restriction that is left out holds there all the same.
func (it *item) refuse(code string, args ...string) {
	it.ineffective(code, args...)
	it.holds = it.restricts()
}

// ineffective leaves an entry out that says nothing there either.
func (it *item) ineffective(code string, args ...string) {
	it.Rules, it.refused, it.holds = nil, true, false
	it.differs(code, args...)
}

// differs notes how the rule here differs.
func (it *item) differs(code string, args ...string) {
	it.inexact = true
	it.note(code, args...)
}

// note adds a remark about a rule that means the same.
func (it *item) note(code string, args ...string) {
	d := difference(code, args...)
	for _, have := range it.Differs {
		if have.Code == code && fmt.Sprint(have.Args) == fmt.Sprint(d.Args) {
			return
		}
	}
	it.Differs = append(it.Differs, d)
}

// carry adds rules. One that our language refuses makes the whole entry uncarried: half a restriction would look whole.
func (it *item) carry(rules ...string) {
	for _, text := range rules {
		if it.refused {
			return
		}
		r, err := policy.ParseRule(text)
		if err != nil {
			it.refuse("unreadable_here", shorten(text))
			return
		}
		if canonical := r.String(); !slices.Contains(it.Rules, canonical) {
			it.Rules = append(it.Rules, canonical)
		}
		if it.List == policy.ListAllow && r.HandsOver() {
			it.note("hands_over", shorten(r.String()))
		}
	}
}

func shorten(text string) string {
	if len(text) <= 80 {
		return text
	}
	return strings.ToValidUTF8(text[:80], "") + "…"
}

func (it *item) finish() Entry {
	e := it.Entry
	e.Exact = !it.inexact && len(e.Rules) > 0
	if e.List == policy.ListAllow {
		e.Boundary = policy.BoundaryAny
	}
	return e
}

// about sets what the entry concerns.
func (it *item) about(pattern string, tools ...string) {
	it.pattern, it.tools = pattern, tools
}

// contentEscaper writes what stands in a rule's parentheses.
var contentEscaper = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)

// rule writes a rule with its content escaped.
func rule(tool, content string) string { return tool + "(" + contentEscaper.Replace(content) + ")" }
