package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/backend/capability"
	"countersign/backend/policy"
)

func TestParse(t *testing.T) {
	got, err := Parse("config.toml", []byte(`
# a comment
identity.passphrase_file = "/secret/pass"
[sandbox]
on_missing = "warn"
policy = "read-only"
[approval]
expiry_seconds = 60
interactive = false
attended = false
[decision]
mode = "acceptEdits"
boxed_reads = true
[classifier]
kind = "openai"
url = "http://localhost:11434/v1"
model = "m"
timeout_seconds = 20
[rules]
deny = ["bash(git push:*)"]
ask = []
allow = [
  "edit(greeting.txt)", # one
  "bash(./build.sh)",
]
[receipts]
segment_bytes = 100_000
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Identity:   Identity{Store: "keyring", PassphraseFile: "/secret/pass"},
		Sandbox:    Sandbox{OnMissing: "warn", Policy: "read-only"},
		Approval:   Approval{ExpirySeconds: 60},
		Decision:   Decision{Mode: "acceptEdits", BoxedReads: true},
		Classifier: Classifier{Kind: "openai", URL: "http://localhost:11434/v1", Model: "m", TimeoutSeconds: 20},
		Rules:      Rules{Deny: []string{"bash(git push:*)"}, Ask: []string{}, Allow: []string{"edit(greeting.txt)", "bash(./build.sh)"}},
		Receipts:   Receipts{SegmentBytes: 100_000},
	}
	if runtime.GOOS == "windows" {
		t.Skip("the path above is not absolute there")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Mode() != policy.ModeAcceptEdits || got.SandboxPolicy() != capability.ReadOnly || !got.BoxedReads() || !got.RunUnavailable() || got.Expiry() != time.Minute || got.ClassifierTimeout() != 20*time.Second {
		t.Error("an accessor is wrong")
	}
}

// The defaults refuse, ask and use the keyring.
func TestDefaultIsSafe(t *testing.T) {
	got, err := Parse("config.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got); diff != "" {
		t.Error(diff)
	}
	if got.RunUnavailable() || got.BoxedReads() || got.Mode() != policy.ModeAsk || got.SandboxPolicy() != capability.WorkspaceWrite || got.Identity.Store != "keyring" || !got.Approval.Interactive || got.Classifier.Kind != "" || got.ClassifierTimeout() != 10*time.Second {
		t.Errorf("%+v", got)
	}
	for _, k := range keysOf(reflect.ValueOf(got)) {
		if k.doc == "" || strings.HasSuffix(k.name, ".") {
			t.Errorf("%q has no name or no documentation", k.name)
		}
		if !k.table && k.problem() != "" {
			t.Errorf("%s: the default is refused: %s", k.name, k.problem())
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name, text string
		line       int
		key        string
		nearest    string
		problem    string
	}{
		{"misspelled key", "[identity]\nstroe = \"file\"\n", 2, "identity.stroe", "identity.store", "no such key"},
		{"misspelled table", "\n[identiy]\nstore = \"file\"\n", 2, "identiy", "identity", "no such key"},
		{"key without its table", "store = \"file\"\n", 1, "store", "identity.store", "no such key"},
		{"key in another table", "[sandbox]\n\nexpiry_seconds = 5\n", 3, "sandbox.expiry_seconds", "approval.expiry_seconds", "no such key"},
		{"dotted key", "rules.alow = []\n", 1, "rules.alow", "rules.allow", "no such key"},
		{"long key", "x" + strings.Repeat("y", 5000) + " = 1\n", 1, "x" + strings.Repeat("y", 5000), "", "no such key"},
		{"value that is not listed", "[sandbox]\n# c\non_missing = \"ignore\"\n", 3, "sandbox.on_missing", "", `"refuse", "warn"`},
		{"danger-full-access", "[sandbox]\npolicy = \"danger-full-access\"\n", 2, "sandbox.policy", "", "none of"},
		{"bypass", "[decision]\nmode = \"bypass\"\n", 2, "decision.mode", "", "none of"},
		{"mode in another case", "decision.mode = \"Plan\"\n", 1, "decision.mode", "", "none of"},
		{"empty place", "[identity]\nstore = \"\"\n", 2, "identity.store", "", "none of"},
		{"number too small", "[approval]\nexpiry_seconds = 0\n", 2, "approval.expiry_seconds", "", "not between 10 and 86400"},
		{"number too large", "[receipts]\nsegment_bytes = 99999999999\n", 2, "receipts.segment_bytes", "", "not between"},
		{"inline table", "approval = { expiry_seconds = 0 }\n", 0, "approval.expiry_seconds", "", "not between"},
		{"relative passphrase file", "[identity]\npassphrase_file = \"pass\"\n", 2, "identity.passphrase_file", "", "not an absolute path"},
		{"string for a number", "[approval]\nexpiry_seconds = \"60\"\n", 2, "approval.expiry_seconds", "", ""},
		{"number for a list", "[rules]\n\nallow = 1\n", 3, "rules.allow", "", ""},
		{"unknown kind of classifier", "[classifier]\nkind = \"Claude\"\n", 2, "classifier.kind", "", `"", "openai", "anthropic"`},
		{"classifier without an address", "[classifier]\nkind = \"openai\"\nmodel = \"m\"\n", 2, "classifier.url", "", "address"},
		{"classifier without a model", "[classifier]\nurl = \"https://x\"\nkind = \"openai\"\n", 3, "classifier.model", "", "name"},
		{"classifier without time", "[classifier]\ntimeout_seconds = 0\n", 2, "classifier.timeout_seconds", "", "not between 1 and 60"},
		{"a key in the file", "[classifier]\nkey = \"k\"\n", 2, "classifier.key", "", "no such key"},
		{"key twice", "[rules]\nallow = []\nallow = []\n", 3, "", "", ""},
		{"not TOML", "[rules\n", 1, "", "", ""},
		{"not text", "\xff\xfe", 0, "", "", "not UTF-8"},
		{"NUL", "\x00", 1, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Parse("/c/config.toml", []byte(tt.text))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(Config{}, c); diff != "" {
				t.Error("a configuration came back with the error")
			}
			if e.Line != tt.line || tt.key != "" && e.Key != tt.key || tt.nearest != "" && e.Nearest != tt.nearest || !strings.Contains(e.Problem, tt.problem) || e.Hint() == "" {
				t.Errorf("got %+v", e)
			}
			if !strings.HasPrefix(e.Error(), "/c/config.toml:") || tt.nearest != "" && !strings.Contains(e.Error()+e.Hint(), tt.nearest) {
				t.Errorf("text: %v", e)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	c, err := Load(path)
	if diff := cmp.Diff(Default(), c); err != nil || diff != "" {
		t.Fatalf("missing file: %v: %s", err, diff)
	}
	write := func(text string, mode fs.FileMode) {
		t.Helper()
		_ = os.Remove(path)
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o400} {
		write("decision.mode = \"plan\"", mode)
		if c, err := Load(path); err != nil || c.Mode() != policy.ModePlan {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
	write(strings.Repeat("# x\n", maxFile/4+1), 0o600)
	var e *Error
	if _, err := Load(path); !errors.As(err, &e) {
		t.Errorf("huge file: %v", err)
	}
	write("decision.mood = 1", 0o600)
	if _, err := Load(path); !errors.As(err, &e) || e.Path != path {
		t.Errorf("bad file: %v", err)
	}
	if _, err := Load(filepath.Join(path, "below-a-file")); err == nil {
		t.Error("a path through a file")
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, mode := range []fs.FileMode{0o620, 0o602, 0o666} {
		write("", mode)
		if c, err := Load(path); !errors.Is(err, ErrUnsafe) || !cmp.Equal(c, Config{}) {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
	write("", 0o600)
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"symbolic link": link, "directory": filepath.Dir(path), "device": "/dev/null"} {
		if _, err := Load(path); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if os.Getuid() == 0 {
		_ = os.Chown(path, 1, 1)
		if _, err := Load(path); !errors.Is(err, ErrUnsafe) {
			t.Errorf("owned by another account: %v", err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"identity.store", "identity.passphrase_file", "sandbox.on_missing", "rules.deny", "rules.allow"}
	for name, want := range map[string]string{
		"identity.stor": "identity.store", "identity.passphrasefile": "identity.passphrase_file",
		"sandbox.onmissing": "sandbox.on_missing", "rule.allow": "rules.allow", "deny": "rules.deny",
		// A guess that shares next to nothing with what was written sends people the wrong way.
		"": "", "bogus": "", "rules.xyz": "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d", tt.a, tt.b, got)
		}
	}
}

// The page is made from the type: COUNTERSIGN_WRITE_DOCS=1 writes it.
func TestReferencePage(t *testing.T) {
	root := "."
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
		if len(root) > 60 {
			t.Fatal("no go.mod above this package")
		}
	}
	path := filepath.Join(root, "docs", "configuration.md")
	if os.Getenv("COUNTERSIGN_WRITE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("docs/configuration.md is not there")
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Reference(), string(have)); diff != "" {
		t.Errorf("docs/configuration.md is stale (write it with COUNTERSIGN_WRITE_DOCS=1): %s", diff)
	}
	for _, k := range keysOf(reflect.ValueOf(Default())) {
		if !strings.Contains(string(have), k.name) {
			t.Errorf("%s is missing", k.name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "[identity]\nstore = \"file\"\n", "rules.allow = [\"bash\"]", "a.b.c.d = 1", "[[rules]]", "approval = { x = 1 }",
		"decision.mode = '''\nplan'''", "\xff", "[sandbox]\non_missing = \"warn\" # c\n[sandbox]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("config.toml", data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || !cmp.Equal(c, Config{}) {
				t.Fatalf("%v with %+v", err, c)
			}
			return
		}
		for _, k := range keysOf(reflect.ValueOf(c)) {
			if !k.table && k.problem() != "" {
				t.Fatalf("accepted: %s: %s", k.name, k.problem())
			}
		}
	})
}
