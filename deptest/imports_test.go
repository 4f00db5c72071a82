package deptest

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// row says what a package may import. The standard library is free for everybody (starters_test.go has the exceptions).
type row struct {
	pkg   string   // below the module; "/..." at the end means the packages below it too
	may   []string // below the module, or import paths of others; "/..." as above
	tests []string // what its tests may import besides
	why   string
}

// rules is architecture.md's "who may import whom". A package stands in the first row that fits it, so the narrower
// row comes first. Loosening a row needs a better reason than that something does not build.
var rules = []row{
	{
		pkg: "backend/pathid",
		may: []string{"golang.org/x/sys/...", "golang.org/x/text/..."},
		why: "a leaf: what a path means must not depend on who asks (x/text: names are compared in one normal form)",
	},
	{
		pkg: "backend/capability",
		may: []string{"backend/pathid", "golang.org/x/sys/..."},
		why: "a leaf: a boundary is described without knowing policies or platforms",
	},
	{
		pkg: "backend/policy",
		may: []string{"backend/pathid", "backend/capability", "mvdan.cc/sh/v3/syntax", "github.com/bmatcuk/doublestar/v4"},
		why: "decisions are pure: they parse and compare; no store, no clock, no process",
	},
	{
		pkg: "backend/approval/...",
		may: []string{"backend/approval", "backend/policy", "backend/capability", "backend/pathid"},
		why: "the life of a call is decided here and kept elsewhere: the store is an interface it declares",
	},
	{
		pkg: "backend/sandbox/...",
		may: []string{"backend/sandbox/...", "backend/capability", "backend/pathid", "golang.org/x/sys/...", "github.com/google/uuid"},
		why: "a boundary is built from an effective capability alone, never from a policy or a request it could widen",
	},
	{
		pkg: "backend/winlock",
		may: []string{"backend/pathid", "golang.org/x/sys/..."},
		why: "a checked write knows files, not why they are written",
	},
	{
		pkg: "backend/tools",
		may: []string{"backend/winlock", "backend/policy", "backend/capability", "backend/pathid"},
		why: "tools plan; what they need from others they declare as interfaces",
	},
	{
		pkg: "backend/state",
		may: []string{"backend/policy", "backend/approval", "backend/capability", "backend/pathid", "go.etcd.io/bbolt", "go.etcd.io/bbolt/errors",
			"github.com/zalando/go-keyring", "github.com/godbus/dbus/v5", "filippo.io/age", "filippo.io/age/...", "golang.org/x/crypto/...", "golang.org/x/sys/...",
			"github.com/google/uuid", "github.com/secure-systems-lab/go-securesystemslib/dsse"},
		tests: []string{"backend/approval/approvaltest"},
		why:   "it keeps what others decide, and decides nothing: types come in, no use case does",
	},
	{
		pkg: "backend/rules",
		may: []string{"backend/policy", "backend/approval", "backend/capability", "backend/pathid", "github.com/pelletier/go-toml/v2",
			"github.com/google/uuid", "golang.org/x/sys/..."},
		tests: []string{"backend/approval/approvaltest"},
		why:   "where rules are kept: it reads files and the store, and decides nothing",
	},
	{
		pkg: "backend/config",
		may: []string{"backend/policy", "backend/capability", "backend/pathid", "github.com/pelletier/go-toml/v2", "github.com/pelletier/go-toml/v2/...",
			"golang.org/x/sys/..."},
		why: "settings are values with the types of those who use them (x/sys: whose file it is, and Windows' directories)",
	},
	{
		pkg: "backend/classify",
		may: []string{"backend/policy", "backend/capability"},
		why: "it asks a model and reads the answer: what is asked comes in whole, and the key comes from whoever keeps it",
	},
	{
		pkg: "backend/wire",
		may: []string{"backend/policy", "backend/capability", "backend/pathid", "github.com/google/uuid", "github.com/Microsoft/go-winio",
			"golang.org/x/sys/..."},
		why: "a leaf that every client links: messages and a connection, nothing of the core",
	},
	{
		pkg: "backend/desk",
		may: []string{"backend/pathid", "backend/capability", "backend/policy", "backend/approval", "backend/sandbox", "backend/winlock",
			"backend/tools", "backend/rules", "backend/classify", "backend/state", "backend/config", "backend/wire", "github.com/google/uuid",
			"github.com/rogpeppe/go-internal/diff", "golang.org/x/sys/..."},
		tests: []string{"backend/approval/approvaltest", "backend/sandbox/...", "backend/server"},
		why:   "the only joiner: every use case is here, and nobody else may tie two of these together",
	},
	{
		pkg:   "backend/server",
		may:   []string{"backend/wire", "backend/desk", "backend/pathid", "github.com/Microsoft/go-winio", "github.com/coder/websocket", "golang.org/x/sys/...", "github.com/google/uuid"},
		tests: []string{"backend/policy"},
		why:   "it says who is calling and passes the call to the desk: no decision, no store",
	},
	{
		pkg:   "backend/agents/imports",
		may:   []string{"backend/agents/jsonedit", "backend/policy", "github.com/pelletier/go-toml/v2"},
		tests: []string{"backend/pathid"},
		why:   "it translates other agents' rules: text in, a report out (go-toml: two of the agents keep theirs in TOML)",
	},
	{
		pkg: "backend/agents/...",
		may: []string{"backend/agents/...", "backend/wire", "backend/policy", "backend/pathid", "backend/capability", "github.com/google/uuid"},
		why: "an adapter translates; it is a client like any other and never touches the state",
	},
	{
		pkg: "backend/core",
		may: []string{"backend/desk", "backend/server", "backend/wire", "backend/agents/...", "backend/config"},
		why: "the window and the command line run the same core: how it is put together stands once",
	},
	{
		pkg: "frontend",
		why: "the built pages, embedded: data",
	},
	{
		pkg: "app/i18n",
		why: "a leaf: words by key",
	},
	{
		pkg:   "app/bridge",
		may:   []string{"backend/core", "backend/desk", "backend/wire", "backend/config", "backend/agents/...", "github.com/google/uuid"},
		tests: []string{"backend/..."},
		why:   "what the window may ask: the core's actions and its own few; no window library, so that it is tested without one",
	},
	{
		pkg: "app/mark",
		why: "a leaf: it computes pictures",
	},
	{
		pkg: "app/tray",
		may: []string{"app/i18n", "backend/sandbox"},
		why: "what stands in the tray, and the process that shows it; it knows no desk (backend/sandbox: the only starter of processes)",
	},
	{
		pkg: "app/notify",
		may: []string{"app/i18n"},
		why: "when to notify, decided without a desktop",
	},
	{
		pkg: "app",
		may: []string{"app/...", "frontend", "backend/core", "backend/desk", "backend/wire", "backend/config", "backend/agents/...",
			"github.com/wailsapp/wails/v2/...", "github.com/godbus/dbus/v5", "github.com/google/uuid", "golang.org/x/sys/..."},
		tests: []string{"backend/..."},
		why:   "the only joiner of the window: what its parts need of each other passes here (godbus: what the desktop offers is asked on the session bus before there is a window)",
	},
	{
		pkg: ".",
		may: []string{"app"},
		why: "main.go starts the window and does nothing else",
	},
	{
		pkg: "cmd/countersign-tray",
		may: []string{"app/tray", "app/mark", "github.com/getlantern/systray"},
		why: "the tray helper shows what it is told: no desk, no socket",
	},
	{
		pkg: "build/icons",
		may: []string{"app/mark"},
		why: "the program's icon is the tray's mark, drawn by the same code",
	},
	{
		pkg: "build/wiretypes",
		may: []string{"backend/desk", "backend/wire", "backend/policy", "backend/capability", "app/bridge", "github.com/google/jsonschema-go/jsonschema"},
		why: "the types of the wire in other languages are made from the registered ones",
	},
	{
		pkg: "cmd/...",
		may: []string{"app/i18n", "backend/desk", "backend/server", "backend/core", "frontend", "backend/wire", "backend/agents/...", "backend/policy", "backend/classify", "backend/config",
			"backend/pathid", "backend/capability", "backend/approval", "github.com/alecthomas/kong", "golang.org/x/term",
			"golang.org/x/sys/...", "github.com/google/uuid"},
		tests: []string{"backend/..."},
		why:   "the command line wires and prints; what it can do beyond that belongs into the desk",
	},
	{
		pkg: "build/...",
		may: nil,
		why: "tools of the build need nothing but Go",
	},
	{
		pkg:   "deptest",
		tests: []string{"deptest"},
		why:   "the rules depend on nothing they judge",
	},
	{
		pkg: "test/desktop/empty",
		may: []string{"github.com/wailsapp/wails/v2/..."},
		why: "a window of the library and nothing of ours, to compare with",
	},
	{
		pkg:   "test/...",
		tests: []string{"backend/...", "cmd/...", "test/..."},
		may:   []string{"backend/wire", "backend/config", "test/...", "github.com/google/uuid"},
		why:   "tests of the whole see the program as its users do, and may look inside to check what was kept (backend/config: where a client finds the desk)",
	},
}

// testLibraries are what any test may import.
var testLibraries = []string{
	"github.com/google/go-cmp/...", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/rogpeppe/go-internal/...", "github.com/creack/pty",
}

// never are the imports no row can allow.
var never = []struct{ from, to, why string }{
	{"backend/...", "cmd/...", "the core does not know its command line"},
	{"backend/...", "app/...", "the core does not know its window"},
	{"backend/...", "github.com/wailsapp/...", "the core runs where there is no screen"},
	{"backend/...", "github.com/getlantern/...", "the core runs where there is no screen"},
	{"cmd/countersign", "github.com/wailsapp/...", "the command line starts in milliseconds and links no window"},
	{"backend/agents/...", "backend/state", "adapters are clients: what they may know, the server tells them"},
	{"backend/policy", "backend/state", "policy is pure"},
	{"backend/policy", "backend/sandbox/...", "policy is pure"},
}

// ruleFor returns the row of a package.
func ruleFor(dir string) (row, bool) {
	for _, r := range rules {
		if under(r.pkg, dir) {
			return r, true
		}
	}
	return row{}, false
}

// judge returns why the package dir may not import name, or "".
func judge(dir, name string, test bool) string {
	inside := strings.TrimPrefix(name, module+"/")
	if inside == name && !strings.Contains(strings.Split(name, "/")[0], ".") {
		return "" // standard library
	}
	for _, n := range never {
		if under(n.from, dir) && under(n.to, inside) {
			return n.why
		}
	}
	r, found := ruleFor(dir)
	if !found {
		return "no row of deptest's table names this package: decide what it may import and why"
	}
	allowed := r.may
	if test {
		allowed = append(append([]string{dir + "/..."}, allowed...), append(testLibraries, r.tests...)...)
	}
	for _, pattern := range allowed {
		if under(pattern, inside) {
			return ""
		}
	}
	return r.why
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := judge(s.dir, name, s.test); why != "" {
				t.Errorf("%s: %s may not import %s: %s", positions.Position(spec.Pos()), s.dir, name, why)
			}
		}
	}
}

// TestJudge keeps the table honest: these must be refused, or allowed, whatever is in the tree at the moment.
func TestJudge(t *testing.T) {
	tests := []struct {
		name   string
		dir    string
		path   string
		test   bool
		refuse bool
	}{
		{"standard library", "backend/policy", "encoding/json", false, false},
		{"own leaf", "backend/policy", "countersign/backend/pathid", false, false},
		{"policy does not read the store", "backend/policy", "countersign/backend/state", false, true},
		{"not in a test either", "backend/policy", "countersign/backend/state", true, true},
		{"the parser, not the interpreter", "backend/policy", "mvdan.cc/sh/v3/interp", false, true},
		{"the core does not know the command line", "backend/desk", "countersign/cmd/countersign", false, true},
		{"nor in a test", "backend/desk", "countersign/cmd/countersign", true, true},
		{"adapters do not touch the store", "backend/agents/claude", "countersign/backend/state", false, true},
		{"adapters are clients", "backend/agents/claude", "countersign/backend/wire", false, false},
		{"the leaf stays a leaf", "backend/pathid", "countersign/backend/capability", false, true},
		{"no window in the core", "backend/server", "github.com/wailsapp/wails/v2/pkg/runtime", false, true},
		{"a prefix is not a package", "backend/capability", "countersign/backend/pathidx", false, true},
		{"test libraries in tests", "backend/pathid", "pgregory.net/rapid", true, false},
		{"and only there", "backend/pathid", "pgregory.net/rapid", false, true},
		{"unknown packages have no rights", "backend/util", "countersign/backend/pathid", false, true},
		{"an unknown module", "backend/desk", "example.org/x", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if why := judge(tt.dir, tt.path, tt.test); (why != "") != tt.refuse {
				t.Errorf("judge(%s, %s) = %q", tt.dir, tt.path, why)
			}
		})
	}
}

// TestRulesHaveReasons: a rule nobody can explain is one nobody can change.
func TestRulesHaveReasons(t *testing.T) {
	for i, r := range rules {
		if r.why == "" {
			t.Errorf("row %q gives no reason", r.pkg)
		}
		for _, before := range rules[:i] {
			if under(before.pkg, strings.TrimSuffix(r.pkg, "/...")) {
				t.Errorf("row %q is never reached: %q stands before it", r.pkg, before.pkg)
			}
		}
	}
	for _, s := range sources(t) {
		if _, found := ruleFor(s.dir); !found {
			t.Errorf("%s: no row of deptest's table names %s: decide what it may import and why", s.name, filepath.ToSlash(s.dir))
		}
	}
}
