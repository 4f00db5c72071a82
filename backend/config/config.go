package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"countersign/backend/capability"
	"countersign/backend/policy"
)

// Config is config.toml. Every key has a doc tag, from which Reference is made, and closed sets of values a values tag,
// which Parse enforces. The defaults are those of Default.
type Config struct {
	Identity   Identity   `toml:"identity" doc:"Where the owner device's key is kept. Nothing falls back silently: what is chosen here works, or the core does not start."`
	Sandbox    Sandbox    `toml:"sandbox" doc:"The boundary that commands run in."`
	Approval   Approval   `toml:"approval" doc:"How questions are asked."`
	Decision   Decision   `toml:"decision" doc:"How calls are decided."`
	Classifier Classifier `toml:"classifier" doc:"The language model that auto mode asks about calls that nothing else decides. Only a clear yes lets a call run; everything else, and every failure, asks you. Each call is sent to the endpoint that you name here: its tool, arguments, command and paths, with the credentials that are recognised masked; \"countersign classifier test -- CMD\" shows exactly what. The endpoint's key is kept in the operating system's keyring (\"countersign classifier set-key\"), never in this file or the environment."`
	Rules      Rules      `toml:"rules" doc:"Global rules, for every project. A rule is a tool's name, alone or with a pattern in parentheses: \"bash(git status)\" is exactly this command, \"bash(git status:*)\" also with anything behind it, \"edit(src/**)\" the files below src in the project, \"web_fetch(domain:example.org)\" one site, \"bash\" every command; \"countersign explain\" tries one out. Deny wins over ask, ask over allow."`
	Gates      []Gate     `toml:"gate" doc:"Programs of yours that are asked about calls before you are. Write [[gate]] once for each. A gate reads one JSON object from standard input (docs/gates.md) and writes one: {\"decision\": \"deny\"}, \"ask\" or \"pass\", with an optional \"reason\". It runs inside a boundary that cannot write and has no network. One that fails, or takes too long, asks. The strictest answer of all gates holds."`
	Receipts   Receipts   `toml:"receipts" doc:"The signed record of what ran."`
}

// Identity is the table [identity].
type Identity struct {
	Store          string `toml:"store" values:"keyring,file" doc:"The place of the key: the operating system's keyring, or the file identity.age in the state directory, encrypted by a passphrase. Changing it does not move a key that exists."`
	PassphraseFile string `toml:"passphrase_file" doc:"With store = \"file\": a file whose only line is the passphrase; mode 0600, not a symbolic link. Empty: COUNTERSIGN_PASSPHRASE_FILE names one, or it is asked on the terminal."`
}

// Sandbox is the table [sandbox].
type Sandbox struct {
	OnMissing string `toml:"on_missing" values:"refuse,warn" doc:"What happens when the boundary cannot be shown to hold: commands are refused, or they run without it and every receipt and screen says so."`
	Policy    string `toml:"policy" values:"workspace-write,read-only" doc:"The sandbox policy of new sessions: the workspace may be written, or nothing but temporary files. Running without a boundary can only be chosen per session."`
}

// Approval is the table [approval].
type Approval struct {
	ExpirySeconds int  `toml:"expiry_seconds" min:"10" max:"86400" doc:"How many seconds a question waits for an answer when the client says nothing else. Then it is denied, as expired."`
	Attended      bool `toml:"attended" doc:"Whether an agent's own questions may wait for you. On false its question tools are refused, so that it goes on without you; a session can be set otherwise."`
	Interactive   bool `toml:"interactive" doc:"Whether an owner is there to be asked. On false every call that would ask is denied at once: for machines that nobody watches."`
}

// Decision is the table [decision].
type Decision struct {
	Mode       string `toml:"mode" values:"ask,acceptEdits,plan,auto" doc:"The permission mode of new sessions. The mode that skips approvals can only be chosen per session."`
	BoxedReads bool   `toml:"boxed_reads" doc:"Whether commands that no rule matches may run without asking inside a boundary that cannot write and has no network. In auto mode they may also without this, unless a project says otherwise."`
}

// Classifier is the table [classifier].
type Classifier struct {
	Kind           string `toml:"kind" values:",openai,anthropic" doc:"The protocol of the endpoint: chat completions, which many servers offer, also ones on your machine, or Anthropic's messages. Empty: there is no classifier, and auto mode asks."`
	URL            string `toml:"url" doc:"The endpoint's base address, for example https://api.openai.com/v1, https://api.anthropic.com, or http://localhost:11434/v1. It begins with https://; http:// is for a server on this machine alone. It holds no login and nothing from ? or # on. Redirects are not followed, and no proxy is used."`
	Model          string `toml:"model" doc:"The model's name at that endpoint. It must take temperature 0 and max_tokens, and answer without calling tools."`
	TimeoutSeconds int    `toml:"timeout_seconds" min:"1" max:"60" doc:"How many seconds one answer may take. Then you are asked."`
}

// classifierProblem says what is wrong with the classifier and in which key, or "". What its address may be, classify.New
// says.
func classifierProblem(c Classifier) (key, problem string) {
	switch {
	case c.Kind == "":
		return "", ""
	case c.URL == "":
		return "classifier.url", "with a kind, the endpoint's address must be given"
	case c.Model == "":
		return "classifier.model", "with a kind, the model's name must be given"
	}
	return "", ""
}

// Rules is the table [rules]. The texts are parsed by policy.ParseRule.
type Rules struct {
	Deny  []string `toml:"deny" doc:"What is never done."`
	Ask   []string `toml:"ask" doc:"What is always asked, whatever else allows it."`
	Allow []string `toml:"allow" doc:"What is done without asking, inside the boundary or not. Rules that are saved from a card cover only calls that run as that one did."`
}

// Gate is one table [[gate]].
type Gate struct {
	Name           string   `toml:"name" doc:"What cards, receipts and refusals call it."`
	Command        []string `toml:"command" doc:"The program's absolute path, and its arguments. It may not lie in the desk's own directories, which no boundary opens."`
	Tools          []string `toml:"tools" doc:"The tools it is asked about, by their names in rules: bash, write, mcp. Empty: all."`
	TimeoutSeconds int      `toml:"timeout_seconds" min:"0" max:"60" doc:"How many seconds it may take. 0 is 5."`
}

// maxGates is how many gates there may be, and maxGateName the longest name of one in bytes.
const (
	maxGates    = 16
	maxGateName = 64
)

// Timeout is how long the gate may take.
func (g Gate) Timeout() time.Duration {
	if g.TimeoutSeconds == 0 {
		return 5 * time.Second
	}
	return time.Duration(g.TimeoutSeconds) * time.Second
}

// problem says what is wrong with the gates, or "".
func gatesProblem(gates []Gate) string {
	if len(gates) > maxGates {
		return fmt.Sprintf("there are more than %d", maxGates)
	}
	seen := map[string]bool{}
	for i, g := range gates {
		switch {
		case g.Name == "" || len(g.Name) > maxGateName || strings.ContainsFunc(g.Name, unicode.IsControl):
			return fmt.Sprintf("gate %d needs a name of at most %d bytes", i+1, maxGateName)
		case seen[g.Name]:
			return fmt.Sprintf("the name %q stands twice", g.Name)
		case len(g.Command) == 0 || !filepath.IsAbs(g.Command[0]):
			return fmt.Sprintf("the command of %q does not begin with an absolute path", g.Name)
		}
		for _, tool := range g.Tools {
			if !policy.KnownTool(policy.CanonicalTool(tool)) {
				return fmt.Sprintf("%q names the tool %q, which there is not", g.Name, tool)
			}
		}
		seen[g.Name] = true
	}
	return ""
}

// Receipts is the table [receipts].
type Receipts struct {
	SegmentBytes int64 `toml:"segment_bytes" min:"65536" max:"1073741824" doc:"The size in bytes at which the next file of the chain begins."`
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Identity:   Identity{Store: "keyring"},
		Sandbox:    Sandbox{OnMissing: "refuse", Policy: string(capability.WorkspaceWrite)},
		Approval:   Approval{ExpirySeconds: 300, Attended: true, Interactive: true},
		Decision:   Decision{Mode: string(policy.ModeAsk)},
		Classifier: Classifier{TimeoutSeconds: 10},
		Receipts:   Receipts{SegmentBytes: 64 << 20},
	}
}

// Mode returns the permission mode of new sessions.
func (c Config) Mode() policy.Mode { return policy.Mode(c.Decision.Mode) }

// SandboxPolicy returns the sandbox policy of new sessions.
func (c Config) SandboxPolicy() capability.SandboxPolicy {
	return capability.SandboxPolicy(c.Sandbox.Policy)
}

// BoxedReads reports whether unmatched commands may run boxed and read-only without asking.
func (c Config) BoxedReads() bool { return c.Decision.BoxedReads }

// RunUnavailable reports the owner's override: run although the boundary cannot be shown.
func (c Config) RunUnavailable() bool { return c.Sandbox.OnMissing == "warn" }

// ClassifierTimeout returns how long the classifier may take.
func (c Config) ClassifierTimeout() time.Duration {
	return time.Duration(c.Classifier.TimeoutSeconds) * time.Second
}

// Expiry returns how long a question waits when the client says nothing else.
func (c Config) Expiry() time.Duration { return time.Duration(c.Approval.ExpirySeconds) * time.Second }
