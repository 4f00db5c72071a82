package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// explainCmd says what would be decided about a call, and why. It needs no core. The rules are those of its command line, of
// config.toml, of the administrator's file and of the repository's; a batch brings its own. What the desk keeps is not
// looked at.
type explainCmd struct {
	Batch    string   `help:"Judge the cases of FILE, one JSON object a line (\"-\": standard input), and print one JSON line each." placeholder:"FILE"`
	Mode     string   `help:"Permission mode: ask, acceptEdits, plan, auto or bypass (default: that of config.toml)."`
	NoConfig bool     `help:"Leave config.toml out: no rules of its own, mode ask."`
	Managed  string   `help:"Judge by this administrator's file instead of the system's." placeholder:"FILE"`
	Deny     []string `help:"A deny rule; repeat for more." aliases:"rule-deny" sep:"none" placeholder:"RULE"`
	Ask      []string `help:"An ask rule; repeat for more." aliases:"rule-ask" sep:"none" placeholder:"RULE"`
	Allow    []string `help:"An allow rule; repeat for more." aliases:"rule-allow" sep:"none" placeholder:"RULE"`
	Tool     string   `help:"The tool, as the agent names it." default:"bash"`
	Args     string   `help:"The tool's arguments as JSON, instead of words after --." placeholder:"JSON"`
	Cwd      string   `help:"Working directory of the call (default: this one)." placeholder:"DIR"`
	Root     string   `help:"Root of the session (default: the repository that holds the working directory)." placeholder:"DIR"`
	Platform string   `help:"Judge by the rules of linux, macos or windows (default: this one)." placeholder:"NAME"`
	Enforced bool     `help:"The call would run in the boundary here, not in the agent."`
	Trace    bool     `help:"Print what every step answered, also those that had nothing to say."`
	JSON     bool     `help:"Print the verdict as JSON." name:"json"`
	Command  []string `arg:"" optional:"" passthrough:"" help:"The command (one word: a shell text; more: its words), or the path or URL of another tool."`
}

// Run prints the verdict. The exit status says only whether the question could be answered; in a batch it is 1 when a case
// is not decided as it expects.
func (c *explainCmd) Run(s *streams) error {
	if c.Batch != "" {
		return c.runBatch(s)
	}
	conf, file, err := c.config()
	if err != nil {
		return err
	}
	in, about, err := c.input(conf, file)
	if err != nil {
		fmt.Fprintf(s.Err, "countersign: %s\n", escape(err.Error(), false))
		return status(2)
	}
	v := policy.Decide(in)
	classified := v.Outcome == policy.Classify
	if classified {
		in.Classification = &policy.Classification{Err: "explain asks no classifier"}
		v = policy.Decide(in)
	}
	if c.JSON {
		return printExplanation(s.Out, in.Facts, v)
	}
	about.verdict, about.classified, about.trace = v, classified, c.Trace
	about.print(s.Out)
	return nil
}

// config reads the person's configuration and says from which file, "" where it was left out.
func (c *explainCmd) config() (config.Config, string, error) {
	if c.NoConfig {
		return config.Default(), "", nil
	}
	dirs, err := core.Directories()
	if err != nil {
		return config.Config{}, "", err
	}
	conf, err := config.Load(dirs.File())
	return conf, dirs.File(), err
}

func (c *explainCmd) runBatch(s *streams) error {
	in := io.Reader(s.In)
	if c.Batch != "-" {
		f, err := os.Open(c.Batch)
		if err != nil {
			return fmt.Errorf("open batch: %w", err)
		}
		defer f.Close()
		in = f
	}
	ok, err := policy.RunBatch(in, s.Out, s.Err, policy.BatchOptions{})
	if err != nil {
		return err
	}
	if !ok {
		return status(1)
	}
	return nil
}

// input builds what Decide is asked, and says what it was built from.
func (c *explainCmd) input(conf config.Config, file string) (policy.Input, *explained, error) {
	fail := func(err error) (policy.Input, *explained, error) { return policy.Input{}, nil, err }
	mode := conf.Mode()
	if c.Mode != "" {
		var err error
		if mode, err = policy.ParseMode(c.Mode); err != nil {
			return fail(fmt.Errorf("%w (one of ask, acceptEdits, plan, auto, bypass)", err))
		}
	}
	given, err := c.rules()
	if err != nil {
		return fail(err)
	}
	args, err := c.arguments()
	if err != nil {
		return fail(err)
	}
	call, view, err := c.call()
	if err != nil {
		return fail(err)
	}
	call.Tool, call.Args = c.Tool, args
	about := &explained{config: file, given: len(given), elsewhere: call.Platform != pathid.Host()}
	if about.elsewhere && c.Managed == "" { // this machine's files say nothing about another system's
		set := desk.FileRules(file, conf.Rules)
		about.files = wire.PermissionRules{Rules: set.Rules, Unreadable: set.Unreadable}
	} else {
		about.managed, about.project = orElse(c.Managed, desk.ManagedFile), call.Roots[0]
		about.files = desk.OutsideRules(about.managed, file, conf.Rules, view, call.Platform, about.project)
	}
	asked := mode
	if len(about.files.Constraints.Modes) > 0 && !slices.Contains(about.files.Constraints.Modes, mode) {
		mode = policy.ModeAsk
		about.locked = asked
	}
	in := policy.Input{
		Facts:     policy.Examine(call, view),
		Authority: policy.AgentAuthority("explain", "explain"),
		Session:   policy.Session{ID: "explain", Mode: mode, Interactive: conf.Approval.Interactive, Attended: true},
		Rules: policy.RuleSet{
			Rules: append(slices.Clone(about.files.Rules), given...), Unreadable: about.files.Unreadable,
		},
		Boundary: policy.BoundaryAny, BoxedReads: conf.BoxedReads() || mode == policy.ModeAuto, // as the desk has it
	}
	if c.Enforced {
		in.Boundary = policy.BoundaryEnforced
	}
	about.in = in
	return in, about, nil
}

func (c *explainCmd) rules() ([]policy.SourcedRule, error) {
	var out []policy.SourcedRule
	for _, list := range [...]struct {
		list  policy.List
		texts []string
	}{{policy.ListDeny, c.Deny}, {policy.ListAsk, c.Ask}, {policy.ListAllow, c.Allow}} {
		for _, text := range list.texts {
			rule, err := policy.ParseRule(text)
			if err != nil {
				return nil, err
			}
			out = append(out, policy.SourcedRule{
				Rule: rule, List: list.list, Source: policy.SourceSession, Boundary: policy.BoundaryAny,
			})
		}
	}
	return out, nil
}

// arguments makes the tool's arguments from the words after --.
func (c *explainCmd) arguments() (json.RawMessage, error) {
	words := c.Command
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	switch {
	case c.Args != "" && len(words) > 0:
		return nil, fmt.Errorf("give --args or words after --, not both")
	case c.Args != "":
		if !json.Valid([]byte(c.Args)) {
			return nil, fmt.Errorf("--args is not valid JSON")
		}
		return json.RawMessage(c.Args), nil
	case len(words) == 0:
		return nil, fmt.Errorf("nothing to explain: put a command after --, or use --args or --batch")
	}
	tool := policy.CanonicalTool(c.Tool)
	var args map[string]any
	switch {
	case policy.IsCommandTool(tool) && len(words) == 1:
		args = map[string]any{"command": words[0]}
	case policy.IsCommandTool(tool):
		args = map[string]any{"command": words}
	case tool == policy.ToolWebFetch:
		args = map[string]any{"url": strings.Join(words, " ")}
	case tool == policy.ToolWebSearch || tool == policy.ToolSearch:
		args = map[string]any{"query": strings.Join(words, " ")}
	default:
		args = map[string]any{"file_path": strings.Join(words, " ")}
	}
	return json.Marshal(args)
}

// call places the call: in the real filesystem for this platform, in an empty one for another.
func (c *explainCmd) call() (policy.Call, pathid.FS, error) {
	platform := pathid.Host()
	if c.Platform != "" {
		p, err := pathid.ParsePlatform(c.Platform)
		if err != nil {
			return policy.Call{}, nil, err
		}
		platform = p
	}
	if platform != pathid.Host() {
		base := map[pathid.Platform][2]string{
			pathid.Linux:   {"/home/u/project", "/home/u"},
			pathid.MacOS:   {"/Users/u/project", "/Users/u"},
			pathid.Windows: {`C:\Users\u\project`, `C:\Users\u`},
		}[platform]
		call := policy.Call{Platform: platform, Roots: []string{orElse(c.Root, base[0])}, Home: base[1]}
		call.Cwd = orElse(c.Cwd, call.Roots[0])
		return call, policy.NewMemoryFS(platform), nil
	}
	cwd := c.Cwd
	if cwd == "" {
		here, err := os.Getwd()
		if err != nil {
			return policy.Call{}, nil, fmt.Errorf("find the working directory: %w", err)
		}
		cwd = here
	}
	cwd, err := filepath.Abs(cwd)
	if err != nil {
		return policy.Call{}, nil, fmt.Errorf("find the working directory: %w", err)
	}
	view := pathid.OS()
	if r, err := pathid.Resolve(platform, view, cwd); err == nil {
		cwd = r.Path
	}
	root := cwd
	if c.Root != "" {
		if root, err = filepath.Abs(c.Root); err != nil {
			return policy.Call{}, nil, fmt.Errorf("find the root: %w", err)
		}
	} else if repository, ok := pathid.RepositoryRoot(view, cwd); ok {
		root = repository
	}
	home, err := core.AccountHome()
	if err != nil {
		return policy.Call{}, nil, err
	}
	return policy.Call{Platform: platform, Cwd: cwd, Roots: []string{root}, Home: home}, view, nil
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// explanation is the machine-readable answer.
type explanation struct {
	policy.Verdict
	Tool    string        `json:"tool"`
	Command string        `json:"command,omitempty"`
	Opaque  string        `json:"opaque,omitempty"`
	Risk    policy.Risk   `json:"risk"`
	Parts   []policy.Part `json:"parts,omitempty"`
	Reads   []string      `json:"reads,omitempty"`
	Writes  []string      `json:"writes,omitempty"`
}

func printExplanation(w io.Writer, f *policy.Facts, v policy.Verdict) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(explanation{
		Verdict: v, Tool: f.Tool(), Command: f.Command(), Opaque: f.Opaque(), Risk: f.Risk(), Parts: f.Parts(),
		Reads: f.Reads(), Writes: f.Writes(),
	})
}
