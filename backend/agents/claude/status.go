package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"

	"countersign/backend/agents/jsonedit"
	"countersign/backend/agents/settings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// State is how Claude Code stands to us.
type State string

// The states.
const (
	StateConnected    State = "connected"
	StateChanged      State = "changed_outside" // our entries are not what Connect wrote
	StateNotConnected State = "not_connected"
	StateNotGated     State = "not_gated" // connected, but something lets calls pass or be changed after us
)

// The codes of findings, each with one meaning.
const (
	FindHooksDisabled   = "hooks_disabled"            // disableAllHooks, or only managed hooks allowed
	FindForeignHook     = "foreign_hook"              // another hook on a gate may answer first or rewrite after us
	FindBinaryMissing   = "binary_missing"            // the program the hook names is not there
	FindBinaryUnusable  = "binary_not_executable"     //
	FindOtherCore       = "other_core"                // the hook is pinned to another core
	FindOtherBinary     = "other_binary"              // the hook names another program or home than this one
	FindEventMissing    = "event_missing"             // one of our hooks is gone
	FindEntryChanged    = "entry_changed"             // one of our hooks stands twice, or with another limit or matcher
	FindAskMissing      = "ask_missing"               // native ask rules of mode strict are gone
	FindNoNative        = "no_native_rule"            // mode quiet: nothing stands underneath
	FindBypass          = "bypass_mode"               // defaultMode is bypassPermissions
	FindAllowRule       = "allow_rule"                // Claude allows by itself when the hook fails and nothing asks
	FindUnreadable      = "settings_unreadable"       // Claude loads nothing from the file
	FindComments        = "comments"                  // Claude does not load a file with comments
	FindPlugins         = "plugins"                   // plugins are on; their hooks are not inspected
	FindOtherUnreadable = "other_settings_unreadable" // a project's or administrator's settings cannot be read
)

// Finding is one thing that Status saw.
type Finding struct {
	Code   string `json:"code"`
	File   string `json:"file,omitempty"`
	Detail string `json:"detail,omitempty"`
	Opens  bool   `json:"opens,omitempty"` // the gate does not hold while this is so
}

// StatusOptions says where to look.
type StatusOptions struct {
	Settings string      // the user's settings file
	State    string      // our state directory
	Command  HookCommand // what Connect would write now; without a core to ask, its Core is empty and not compared
	Projects []string    // directories whose own settings count too
	Managed  string      // directory of an administrator's settings; "" takes the system's
}

// Report is the result of Status.
type Report struct {
	State    State       `json:"state"`
	File     string      `json:"file"`
	Target   string      `json:"target"`
	Linked   bool        `json:"linked,omitempty"`
	Mode     Mode        `json:"mode,omitempty"`
	Command  HookCommand `json:"command"` // as it stands in the file
	Findings []Finding   `json:"findings"`
}

// Status compares what stands in Claude's settings with what must stand there for calls to be gated. It changes and
// starts nothing.
func Status(o StatusOptions) (Report, error) {
	f, journal, err := load(o.Settings, o.State)
	if err != nil {
		return Report{}, err
	}
	entry, known := journal.Find(Name, f.Target)
	r := Report{File: f.Path, Target: f.Target, Linked: f.Linked, State: StateNotConnected, Findings: []Finding{}}
	doc, err := jsonedit.Parse(f.Data, jsonedit.Options{Comments: true})
	if err != nil {
		r.add(Finding{Code: FindUnreadable, File: f.Target, Detail: err.Error(), Opens: true})
		if known {
			r.State = StateNotGated
		}
		return r, nil
	}
	ours := r.ownHooks(doc, o.Command)
	if !ours {
		r.Findings = []Finding{}
		if known {
			r.State = StateChanged
			r.Findings = []Finding{{Code: FindEventMissing, File: f.Target, Detail: "our hooks were taken out", Opens: true}}
		}
		return r, nil
	}
	r.State = StateConnected
	if doc.Comments {
		r.add(Finding{Code: FindComments, File: f.Target, Opens: true})
	}
	r.program()
	r.native(doc, entry)
	r.foreign(doc, f.Target)
	for _, project := range o.Projects {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			r.other(filepath.Join(project, ".claude", name), false)
		}
	}
	managed := o.Managed
	if managed == "" {
		managed = managedDir(runtime.GOOS)
	}
	r.other(filepath.Join(managed, managedFile), true)
	dropIns, _ := filepath.Glob(filepath.Join(managed, managedDropIns, "*.json"))
	for _, path := range dropIns {
		r.other(path, true)
	}
	r.settle()
	return r, nil
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

// settle turns findings into the state.
func (r *Report) settle() {
	for _, f := range r.Findings {
		switch {
		case f.Code == FindEventMissing || f.Code == FindEntryChanged || f.Code == FindAskMissing || f.Code == FindOtherBinary:
			if r.State == StateConnected {
				r.State = StateChanged
			}
		case f.Opens:
			r.State = StateNotGated
		}
	}
	sort.SliceStable(r.Findings, func(i, j int) bool { return r.Findings[i].Opens && !r.Findings[j].Opens })
}

// ownHooks looks at our own entries and reports whether there are any.
func (r *Report) ownHooks(doc *jsonedit.Document, want HookCommand) bool {
	hooks := doc.Root.Get(keyHooks)
	found := false
	for _, event := range hookEvents {
		count := 0
		for _, g := range items(hooks.Get(event.name)) {
			for _, item := range items(g.Value.Get(keyHooks)) {
				command, ours := ourHook(item.Value)
				if !ours {
					continue
				}
				found = true
				count++
				if r.Command == (HookCommand{}) {
					r.Command = command
				}
				if problem := entryProblem(event, g.Value, item.Value); problem != "" {
					r.add(Finding{Code: FindEntryChanged, File: r.Target, Detail: event.name + ": " + problem, Opens: event.gate})
				}
				switch {
				case want.Core != "" && command.Core != want.Core:
					r.add(Finding{Code: FindOtherCore, File: r.Target, Detail: event.name + ": " + command.Core, Opens: event.gate})
				case command.Binary != want.Binary || command.Home != want.Home:
					// Whether a hook may start a core is the owner's choice at Connect, and either is gated.
					r.add(Finding{Code: FindOtherBinary, File: r.Target, Detail: event.name + ": " + command.String()})
				}
			}
		}
		switch {
		case count == 0:
			r.add(Finding{Code: FindEventMissing, File: r.Target, Detail: event.name, Opens: event.gate})
		case count > 1:
			r.add(Finding{Code: FindEntryChanged, File: r.Target, Detail: event.name + ": it stands " + itoa(count) + " times"})
		}
	}
	return found
}

// entryProblem says what is not as Connect writes it, "" when nothing.
func entryProblem(event hookEvent, g, hook *jsonedit.Node) string {
	matcher, _ := g.Get("matcher").Str()
	if event.matcher && matcher != "*" && matcher != "" {
		return "it is for " + matcher + " only"
	}
	want := event.group("").Hooks[0].Timeout
	if timeout := hook.Get("timeout"); timeout == nil || timeout.Text != itoa(want) {
		return "its time limit is not " + itoa(want)
	}
	for _, m := range hook.Members {
		if !slices.Contains([]string{"type", "command", "timeout"}, m.Key) {
			return "it has the further setting " + m.Key
		}
	}
	return ""
}

// program looks at the program that the hook names.
func (r *Report) program() {
	info, err := os.Stat(r.Command.Binary)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.add(Finding{Code: FindBinaryMissing, File: r.Command.Binary, Opens: true})
	case err != nil:
		r.add(Finding{Code: FindBinaryUnusable, File: r.Command.Binary, Detail: err.Error(), Opens: true})
	case !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		r.add(Finding{Code: FindBinaryUnusable, File: r.Command.Binary, Opens: true})
	}
}

// native looks at what stands underneath the hooks in the user's settings.
func (r *Report) native(doc *jsonedit.Document, entry settings.Entry) {
	permissions := doc.Root.Get(keyPermissions)
	missing := missingAsk(permissions.Get(keyAsk))
	r.Mode = Mode(entry.Added.Mode)
	if r.Mode == "" {
		if r.Mode = ModeQuiet; len(missing) == 0 {
			r.Mode = ModeStrict
		}
	}
	switch {
	case r.Mode == ModeStrict && len(missing) > 0:
		r.add(Finding{Code: FindAskMissing, File: r.Target, Detail: strings.Join(missing, ", ")})
	case r.Mode == ModeQuiet:
		r.add(Finding{Code: FindNoNative, File: r.Target})
	}
}

// other looks at another settings file that counts too.
func (r *Report) other(path string, managed bool) {
	f, err := settings.Load(path)
	if err == nil && !f.Exists {
		return
	}
	var doc *jsonedit.Document
	if err == nil {
		doc, err = jsonedit.Parse(f.Data, jsonedit.Options{})
	}
	if err != nil {
		r.add(Finding{Code: FindOtherUnreadable, File: path, Detail: err.Error()})
		return
	}
	if managed && doc.Root.Get("allowManagedHooksOnly").True() {
		r.add(Finding{Code: FindHooksDisabled, File: path, Detail: "only managed hooks are allowed", Opens: true})
	}
	r.foreign(doc, path)
}

// foreign looks for what takes the gate away: hooks that are not ours on our gates, hooks switched off, a bypass.
func (r *Report) foreign(doc *jsonedit.Document, file string) {
	if doc.Root.Get("disableAllHooks").True() {
		r.add(Finding{Code: FindHooksDisabled, File: file, Detail: "disableAllHooks", Opens: true})
	}
	hooks := doc.Root.Get(keyHooks)
	for _, event := range []string{eventPreToolUse, eventPermissionRequest} {
		for _, g := range items(hooks.Get(event)) {
			for _, item := range items(g.Value.Get(keyHooks)) {
				if _, ours := ourHook(item.Value); !ours {
					r.add(Finding{Code: FindForeignHook, File: file, Detail: event + ": " + hookText(item.Value), Opens: true})
				}
			}
		}
	}
	permissions := doc.Root.Get(keyPermissions)
	if mode, _ := permissions.Get("defaultMode").Str(); mode == "bypassPermissions" {
		// Hooks and ask rules hold in this mode; without ask rules a hook that fails lets everything pass.
		r.add(Finding{Code: FindBypass, File: file, Detail: "permissions.defaultMode", Opens: r.Mode == ModeQuiet})
	}
	for _, item := range items(permissions.Get("allow")) {
		if text, ok := item.Value.Str(); ok {
			r.add(Finding{Code: FindAllowRule, File: file, Detail: text})
		}
	}
	if plugins := doc.Root.Get("enabledPlugins"); plugins != nil {
		var on []string
		for _, m := range plugins.Members {
			if m.Value.True() {
				on = append(on, m.Key)
			}
		}
		if len(on) > 0 {
			r.add(Finding{Code: FindPlugins, File: file, Detail: strings.Join(on, ", ")})
		}
	}
}

// hookText is what a foreign hook runs, as far as it says.
func hookText(n *jsonedit.Node) string {
	for _, key := range []string{"command", "url", "prompt", "type"} {
		if text, ok := n.Get(key).Str(); ok {
			return text
		}
	}
	return "(unknown kind)"
}

// Added counts the hooks and native ask rules that a difference puts in, and the hooks that it takes out.
func Added(diff string) (hooks, asks, replaced int) {
	for line := range strings.Lines(diff) {
		text := strings.Trim(line[1:], " \t\r\n,")
		switch hook := strings.Contains(text, " hook "+Name+" "); {
		case hook && line[0] == '+':
			hooks++
		case hook && line[0] == '-':
			replaced++
		case line[0] == '+' && slices.Contains(askTools, strings.Trim(text, `"`)):
			asks++
		}
	}
	return hooks, asks, replaced
}
