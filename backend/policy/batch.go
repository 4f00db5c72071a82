package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"countersign/backend/pathid"
)

// BatchCase is one line of a batch: a call, the rules, and what is expected. Everything after Expected is optional and
// describes what the case needs beside a fresh, empty session root.
type BatchCase struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind,omitempty"`
	Platform string          `json:"platform,omitempty"` // "any" is linux
	Mode     string          `json:"mode,omitempty"`
	Rules    BatchRules      `json:"rules"`
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	Expected string          `json:"expected,omitempty"`
	Why      string          `json:"why,omitempty"`
	Symptom  string          `json:"symptom,omitempty"`

	Files      map[string]string `json:"files,omitempty"` // name -> content, relative to the root; "x/" is a directory
	Links      map[string]string `json:"links,omitempty"` // name -> target
	Root       string            `json:"root,omitempty"`
	Cwd        string            `json:"cwd,omitempty"` // relative to the root
	Home       string            `json:"home,omitempty"`
	Shell      string            `json:"shell,omitempty"`
	Principal  string            `json:"principal,omitempty"` // "agent" (default), "subagent", "mcp", "scheduled", "none"
	Plan       bool              `json:"plan,omitempty"`
	Alone      bool              `json:"alone,omitempty"`    // not interactive
	Away       bool              `json:"away,omitempty"`     // not attended
	Boundary   string            `json:"boundary,omitempty"` // "any" (default) or "enforced"
	BoxedReads bool              `json:"boxed_reads,omitempty"`
	Own        []string          `json:"own,omitempty"`
	Surface    string            `json:"surface,omitempty"`
	Surfaces   []string          `json:"surfaces,omitempty"`
	Gates      []GateAnswer      `json:"gates,omitempty"`
	Reason     string            `json:"reason,omitempty"` // the reason code expected, where a case fixes it
}

// BatchRules are the rules of a case, as a user of any agent writes them.
type BatchRules struct {
	Deny  []string `json:"deny"`
	Ask   []string `json:"ask"`
	Allow []string `json:"allow"`
}

// BatchResult is one line of output.
type BatchResult struct {
	ID      string      `json:"id"`
	Outcome Outcome     `json:"outcome"`
	Reason  Reason      `json:"reason"`
	Step    int         `json:"step"`
	Rule    string      `json:"rule"`
	Trace   []TraceLine `json:"trace"`
	Micros  int64       `json:"micros"`
	Error   string      `json:"error,omitempty"` // the case itself could not be read
}

// BatchOptions changes how a batch runs.
type BatchOptions struct {
	Now func() time.Time // for the micros; nil is time.Now
}

// maxBatchLine is the longest case, in bytes. A case may carry a command over the limit of the parser.
const maxBatchLine = 8 << 20

// RunBatch reads cases from r, one JSON object a line, and writes one JSON line per case to w. ok is true when every case
// that carries an expectation matched; the mismatches are written to errw. A line that is no case counts as a mismatch.
// The error is one of reading or writing.
func RunBatch(r io.Reader, w, errw io.Writer, o BatchOptions) (ok bool, err error) {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	in := bufio.NewReaderSize(r, 64<<10)
	ok = true
	for number := 1; ; number++ {
		line, err := readBatchLine(in)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return ok, nil
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrBatchTooLong) {
			return false, fmt.Errorf("read batch: %w", err)
		}
		if err == nil || errors.Is(err, io.EOF) {
			if len(bytes.TrimSpace(line)) == 0 {
				if err != nil {
					return ok, nil
				}
				continue
			}
		}
		var result BatchResult
		var c BatchCase
		if errors.Is(err, ErrBatchTooLong) {
			result = BatchResult{ID: fmt.Sprintf("line %d", number), Outcome: Deny, Error: err.Error(), Trace: []TraceLine{}}
		} else {
			c, result = runLine(line, number, now)
		}
		encoded, encodeErr := json.Marshal(result)
		if encodeErr != nil {
			return false, fmt.Errorf("write batch: %w", encodeErr)
		}
		if _, err := w.Write(append(encoded, '\n')); err != nil {
			return false, fmt.Errorf("write batch: %w", err)
		}
		if problem := c.mismatch(result); problem != "" {
			ok = false
			if _, err := fmt.Fprintf(errw, "%s: %s\n", result.ID, problem); err != nil {
				return false, fmt.Errorf("write batch: %w", err)
			}
		}
		if errors.Is(err, io.EOF) {
			return ok, nil
		}
	}
}

// readBatchLine reads up to the next newline. What is over the limit is read to its end and reported.
func readBatchLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxBatchLine {
			tooLong = true
			line = line[:0]
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong:
			return nil, ErrBatchTooLong
		}
		return line, err
	}
}

func runLine(line []byte, number int, now func() time.Time) (BatchCase, BatchResult) {
	var c BatchCase
	if err := json.Unmarshal(line, &c); err != nil {
		return BatchCase{}, BatchResult{
			ID: fmt.Sprintf("line %d", number), Outcome: Deny, Trace: []TraceLine{},
			Error: fmt.Sprintf("%v: %v", ErrBatchLine, err),
		}
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("line %d", number)
	}
	return c, c.run(now)
}

// mismatch says how the result differs from what the case expects, or "".
func (c BatchCase) mismatch(r BatchResult) string {
	switch {
	case r.Error != "":
		return r.Error
	case c.Expected != "" && c.Expected != string(r.Outcome):
		return fmt.Sprintf("expected %s, got %s (%s, step %d)", c.Expected, r.Outcome, r.Reason, r.Step)
	case c.Reason != "" && c.Reason != string(r.Reason):
		return fmt.Sprintf("expected reason %s, got %s (step %d)", c.Reason, r.Reason, r.Step)
	}
	return ""
}

func (c BatchCase) run(now func() time.Time) BatchResult {
	start := now()
	result := BatchResult{ID: c.ID, Outcome: Deny, Trace: []TraceLine{}}
	in, err := c.Input()
	if err != nil {
		result.Error = err.Error()
		return result
	}
	v := Decide(in)
	if v.Outcome == Classify {
		in.Classification = &Classification{Err: "no classifier in a batch"}
		v = Decide(in)
	}
	result.Outcome, result.Reason, result.Step, result.Rule, result.Trace = v.Outcome, v.Reason, v.Step, v.Rule, v.Trace
	result.Micros = now().Sub(start).Microseconds()
	return result
}

// Input builds what Decide is asked for a case: an interactive, attended session with an empty root.
func (c BatchCase) Input() (Input, error) {
	platform := pathid.Linux
	switch c.Platform {
	case "", "any":
	default:
		p, err := pathid.ParsePlatform(c.Platform)
		if err != nil {
			return Input{}, fmt.Errorf("%w: %w", ErrBatchLine, err)
		}
		platform = p
	}
	mode := ModeAsk
	if c.Mode != "" {
		m, err := ParseMode(c.Mode)
		if err != nil {
			return Input{}, fmt.Errorf("%w: %w", ErrBatchLine, err)
		}
		mode = m
	}
	call := c.call(platform)
	in := Input{
		Facts:      Examine(call, c.filesystem(platform, call)),
		Session:    Session{ID: c.ID, Mode: mode, Plan: c.Plan, Interactive: !c.Alone, Attended: !c.Away},
		Surfaces:   c.Surfaces,
		Gates:      c.Gates,
		Boundary:   BoundaryAny,
		BoxedReads: c.BoxedReads,
	}
	if c.Boundary == string(BoundaryEnforced) {
		in.Boundary = BoundaryEnforced
	}
	switch c.Principal {
	case "", "agent":
		in.Authority = AgentAuthority("batch", c.ID)
	case "owner":
		in.Authority = OwnerAuthority("batch")
	case "subagent":
		in.Authority = SubagentAuthority(AgentAuthority("batch", c.ID), "child")
	case "mcp":
		in.Authority = AgentAuthority("batch", c.ID)
		in.Authority.Kind = PrincipalMCP
	case "scheduled":
		in.Authority = ScheduledAuthority(c.ID)
	case "none":
	default:
		return Input{}, fmt.Errorf("%w: unknown principal %q", ErrBatchLine, c.Principal)
	}
	in.Rules = c.Rules.set()
	return in, nil
}

// batchRoots are the session's root and the owner's home on each platform.
var batchRoots = map[pathid.Platform][2]string{
	pathid.Linux:   {"/home/u/work/case", "/home/u"},
	pathid.MacOS:   {"/Users/u/work/case", "/Users/u"},
	pathid.Windows: {`C:\Users\u\work\case`, `C:\Users\u`},
}

func (c BatchCase) call(platform pathid.Platform) Call {
	call := Call{
		Tool: c.Tool, Args: c.Args, Platform: platform, Shell: c.Shell, Surface: c.Surface,
		Home: batchRoots[platform][1], Own: Own{Paths: c.Own},
	}
	root := batchRoots[platform][0]
	if c.Root != "" {
		root = c.Root
	}
	if c.Home != "" {
		call.Home = c.Home
	} else if platform == pathid.MacOS {
		call.Home = "/Users/u"
	}
	call.Roots, call.Cwd = []string{root}, root
	if c.Cwd != "" {
		if cwd, err := pathid.Abs(platform, root, c.Cwd); err == nil {
			call.Cwd = cwd
		}
	}
	return call
}

func (c BatchCase) filesystem(platform pathid.Platform, call Call) *MemoryFS {
	m := NewMemoryFS(platform)
	m.Dir(call.Roots[0])
	m.Dir(call.Cwd)
	m.Dir(call.Home)
	for name, content := range c.Files {
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			m.Dir(m.abs(call.Roots[0], call.Home, dir))
			continue
		}
		m.File(m.abs(call.Roots[0], call.Home, name), content)
	}
	for name, target := range c.Links {
		m.Link(m.abs(call.Roots[0], call.Home, name), target)
	}
	return m
}

// set reads the rules. A rule that cannot be read makes its source unreadable, so that everything it could have covered
// asks.
func (r BatchRules) set() RuleSet {
	var out RuleSet
	for _, list := range [...]struct {
		list  List
		texts []string
	}{{ListDeny, r.Deny}, {ListAsk, r.Ask}, {ListAllow, r.Allow}} {
		for i, text := range list.texts {
			rule, err := ParseRule(text)
			if err != nil {
				if list.list != ListAllow {
					out.Unreadable = append(out.Unreadable, UnreadableSource{
						Source: SourceGlobal, Where: fmt.Sprintf("%s rule %d", list.list, i+1), Err: err.Error(),
					})
				}
				continue
			}
			out.Rules = append(out.Rules, SourcedRule{Rule: rule, List: list.list, Source: SourceGlobal, Boundary: BoundaryAny})
		}
	}
	return out
}
