package claude

import (
	"bytes"
	"encoding/json"
	"slices"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/agents/settings"
)

// Mode says what stands underneath the hooks.
type Mode string

// The modes.
const (
	// ModeStrict adds native ask rules: when a hook fails, Claude asks or refuses by itself. The price: in the terminal
	// interface Claude's own dialog shows for a moment until the hook has answered it, and a skill's own shell lines
	// are refused by Claude.
	ModeStrict Mode = "strict"
	// ModeQuiet leaves them out: when the hook is missing, killed or broken, Claude runs what its own settings allow.
	ModeQuiet Mode = "quiet"
)

// Time limits that the settings give a hook, in seconds. A gate may wait for a person; the others only tell.
const (
	gateSeconds   = 24 * 60 * 60
	noticeSeconds = 60
)

// hookEvent is one event that we are asked or told about.
type hookEvent struct {
	name    string
	matcher bool // takes a matcher: the tool's name
	gate    bool
}

// hookEvents are the events we hook, in the order they are written.
var hookEvents = []hookEvent{
	{name: eventPreToolUse, matcher: true, gate: true},
	{name: eventPermissionRequest, matcher: true, gate: true},
	{name: eventPreSkillShell, matcher: true, gate: true},
	{name: eventPostToolUse, matcher: true},
	{name: eventPostToolUseFailure, matcher: true},
	{name: eventSessionStart},
	{name: eventSessionEnd},
	{name: eventUserPromptSubmit},
	{name: eventStop},
}

// askTools are the tools of the native ask rules: those that execute, write, or send. Claude Code warns about a name
// that it does not know (MultiEdit, LS), so only names it knows stand here.
var askTools = []string{
	"Bash", "PowerShell", "Monitor", "Write", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "mcp__*",
}

// Wanted is what a settings file is to hold.
type Wanted struct {
	Command HookCommand
	Mode    Mode
}

// Edited is settings text after an edit.
type Edited struct {
	Data     []byte
	Changes  []settings.Change // what was done, each relative to the text the one before it left
	Added    settings.Added
	Comments bool // comments stand in the text; Claude Code does not load such a file
}

// entry is one hook as it stands in the settings.
type entry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

type group struct {
	Matcher string  `json:"matcher,omitempty"`
	Hooks   []entry `json:"hooks"`
}

func (e hookEvent) group(command string) group {
	g := group{Hooks: []entry{{Type: "command", Command: command, Timeout: noticeSeconds}}}
	if e.gate {
		g.Hooks[0].Timeout = gateSeconds
	}
	if e.matcher {
		g.Matcher = "*"
	}
	return g
}

// ordered is an object that keeps the order of its members.
type ordered []struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (o ordered) with(key string, value any) ordered {
	return append(o, struct {
		key   string
		value any
	}{key, value})
}

// AddHooks adds our hooks, and in mode strict the native ask rules, to settings text that holds none of our hooks
// (RemoveHooks). Everything else stays byte for byte. It fails, with line and column, on text it cannot parse and on a
// shape it does not know.
func AddHooks(data []byte, w Wanted) (Edited, error) {
	e := &editor{data: data, added: settings.Added{Command: w.Command.String(), Mode: string(w.Mode)}}
	if err := w.Command.Check(); err != nil {
		return Edited{}, err
	}
	doc, err := e.parse()
	if err != nil {
		return Edited{}, err
	}
	if doc.Root == nil {
		var empty ordered
		if err := e.apply(doc.Fill(empty)); err != nil {
			return Edited{}, err
		}
	}
	if err := e.addEvents(w.Command.String()); err != nil {
		return Edited{}, err
	}
	if w.Mode == ModeStrict {
		if err := e.addAsk(); err != nil {
			return Edited{}, err
		}
	}
	return e.done()
}

// editor applies splices one after the other and keeps them.
type editor struct {
	data     []byte
	changes  []settings.Change
	added    settings.Added
	comments bool
}

func (e *editor) parse() (*jsonedit.Document, error) {
	doc, err := jsonedit.Parse(e.data, jsonedit.Options{Comments: true})
	if err != nil {
		return nil, err
	}
	e.comments = doc.Comments
	if doc.Root != nil && doc.Root.Kind != jsonedit.Object {
		return nil, doc.Fail(doc.Root.Start, "settings must be an object")
	}
	return doc, nil
}

func (e *editor) apply(s jsonedit.Splice, err error) error {
	if err != nil {
		return err
	}
	next, err := s.Apply(e.data)
	if err != nil {
		return err
	}
	e.data = next
	e.changes = append(e.changes, s)
	return nil
}

// done checks that what was made is still good text, and returns it.
func (e *editor) done() (Edited, error) {
	if _, err := e.parse(); err != nil {
		return Edited{}, err
	}
	return Edited{Data: e.data, Changes: e.changes, Added: e.added, Comments: e.comments}, nil
}

// child returns the member of an object, which must be of a kind when it is there.
func child(doc *jsonedit.Document, n *jsonedit.Node, key string, kind jsonedit.Kind) (*jsonedit.Node, error) {
	value := n.Get(key)
	if value != nil && value.Kind != kind {
		return nil, doc.Fail(value.Start, key+" must be an "+string(kind))
	}
	return value, nil
}

func (e *editor) addEvents(command string) error {
	doc, err := e.parse()
	if err != nil {
		return err
	}
	hooks, err := child(doc, doc.Root, keyHooks, jsonedit.Object)
	if err != nil {
		return err
	}
	if hooks == nil {
		var all ordered
		e.added.Containers = append(e.added.Containers, keyHooks)
		for _, event := range hookEvents {
			all = all.with(event.name, []group{event.group(command)})
			e.added.Containers = append(e.added.Containers, keyHooks+"."+event.name)
		}
		return e.apply(doc.AddMember(doc.Root, keyHooks, all))
	}
	for _, event := range hookEvents {
		if doc, err = e.parse(); err != nil {
			return err
		}
		hooks := doc.Root.Get(keyHooks)
		list, err := child(doc, hooks, event.name, jsonedit.Array)
		if err != nil {
			return err
		}
		if list == nil {
			e.added.Containers = append(e.added.Containers, keyHooks+"."+event.name)
			err = e.apply(doc.AddMember(hooks, event.name, []group{event.group(command)}))
		} else {
			err = e.apply(doc.AddItem(list, event.group(command)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *editor) addAsk() error {
	doc, err := e.parse()
	if err != nil {
		return err
	}
	permissions, err := child(doc, doc.Root, keyPermissions, jsonedit.Object)
	if err != nil {
		return err
	}
	if permissions == nil {
		e.added.Ask = slices.Clone(askTools)
		e.added.Containers = append(e.added.Containers, keyPermissions, pathAsk)
		return e.apply(doc.AddMember(doc.Root, keyPermissions, ordered{}.with(keyAsk, askTools)))
	}
	ask, err := child(doc, permissions, keyAsk, jsonedit.Array)
	if err != nil {
		return err
	}
	if ask == nil {
		e.added.Ask = slices.Clone(askTools)
		e.added.Containers = append(e.added.Containers, pathAsk)
		return e.apply(doc.AddMember(permissions, keyAsk, askTools))
	}
	for _, tool := range missingAsk(ask) {
		if doc, err = e.parse(); err != nil {
			return err
		}
		if err := e.apply(doc.AddItem(doc.Root.Get(keyPermissions).Get(keyAsk), tool)); err != nil {
			return err
		}
		e.added.Ask = append(e.added.Ask, tool)
	}
	return nil
}

// missingAsk lists the native ask rules that a list lacks.
func missingAsk(ask *jsonedit.Node) []string {
	var missing []string
	for _, tool := range askTools {
		if !slices.ContainsFunc(items(ask), func(i jsonedit.Item) bool { s, ok := i.Value.Str(); return ok && s == tool }) {
			missing = append(missing, tool)
		}
	}
	return missing
}

func items(n *jsonedit.Node) []jsonedit.Item {
	if n == nil {
		return nil
	}
	return n.Items
}
