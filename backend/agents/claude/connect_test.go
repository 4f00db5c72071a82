package claude

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/backend/agents/settings"
)

// place is a throw-away home with Claude's settings and our state.
type place struct {
	dir     string
	options ConnectOptions
}

func newPlace(t *testing.T, text string) place {
	t.Helper()
	dir := t.TempDir()
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(resolved, "bin", "countersign")
	p := place{dir: resolved, options: ConnectOptions{
		Settings: SettingsPath(filepath.Join(resolved, "home")), State: filepath.Join(resolved, "state"),
		Command: HookCommand{Binary: binary, Home: filepath.Join(resolved, "state"), Core: "SHA256:abc"},
		Now:     time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
	}}
	for _, d := range []string{filepath.Dir(binary), filepath.Dir(p.options.Settings)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if text != "-" {
		p.write(t, text)
	}
	return p
}

func (p place) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(p.options.Settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p place) read(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(p.options.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (p place) connect(t *testing.T) Change {
	t.Helper()
	c, err := Connect(p.options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (p place) disconnect(t *testing.T) Change {
	t.Helper()
	c, err := Disconnect(p.options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConnectAndDisconnect(t *testing.T) {
	inputs, err := filepath.Glob("testdata/settings/*.in")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		if strings.Contains(in, "oldbinary") {
			continue // it holds our own entries, and Disconnect takes those out too (TestReplacesAnotherInstallation)
		}
		t.Run(filepath.Base(in), func(t *testing.T) {
			before, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			p := newPlace(t, string(before))
			c := p.connect(t)
			if !c.Changed || c.Diff == "" || c.Backup != p.options.Settings+settings.BackupSuffix {
				t.Errorf("%+v", c)
			}
			if backup, err := os.ReadFile(c.Backup); err != nil || !bytes.Equal(backup, before) {
				t.Errorf("backup %q, %v", backup, err)
			}
			connected := p.read(t)
			if again := p.connect(t); again.Changed || again.Diff != "" || p.read(t) != connected {
				t.Errorf("connected twice: %s", again.Diff)
			}
			if c := p.disconnect(t); !c.Exact || c.Removed || p.read(t) != string(before) {
				t.Errorf("%+v\n%q", c, p.read(t))
			}
			if c := p.disconnect(t); c.Changed {
				t.Errorf("disconnected twice: %+v", c)
			}
		})
	}
}

func TestConnectMakesTheFileAndDisconnectRemovesIt(t *testing.T) {
	p := newPlace(t, "-")
	if c := p.connect(t); !c.Changed || c.Backup != "" {
		t.Errorf("%+v", c)
	}
	p.connect(t)
	p.options.Command.Core = "SHA256:other"
	p.connect(t)
	if c := p.disconnect(t); !c.Exact || !c.Removed {
		t.Errorf("%+v", c)
	}
	if _, err := os.Lstat(p.options.Settings); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestConnectThenDisconnectIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := text(rt)
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		o := ConnectOptions{
			Settings: filepath.Join(dir, "settings.json"), State: filepath.Join(dir, "state"), Command: command,
			Mode: rapid.SampledFrom([]Mode{ModeStrict, ModeQuiet}).Draw(rt, "mode"),
		}
		if err := os.WriteFile(o.Settings, before, 0o600); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(rt, "times") {
			o.Command.Core = rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "core")
			if _, err := Connect(o); err != nil {
				rt.Fatal(err)
			}
		}
		if _, err := Disconnect(o); err != nil {
			rt.Fatal(err)
		}
		if after, err := os.ReadFile(o.Settings); err != nil || !bytes.Equal(after, before) {
			rt.Fatalf("%q became %q, %v", before, after, err)
		}
	})
}

// Somebody edited the file meanwhile: only ours goes, theirs stays, and the difference is shown.
func TestDisconnectAfterAnotherChange(t *testing.T) {
	p := newPlace(t, "{\n  \"permissions\": {\n    \"ask\": [\"Bash\"]\n  }\n}\n")
	p.connect(t)
	p.write(t, strings.Replace(p.read(t), "{\n", "{\n  \"theme\": \"dark\",\n", 1))
	c := p.disconnect(t)
	if c.Exact || !c.Changed || !strings.Contains(c.Diff, "-  \"hooks\": {") {
		t.Errorf("%+v", c)
	}
	if want := "{\n  \"theme\": \"dark\",\n  \"permissions\": {\n    \"ask\": [\"Bash\"]\n  }\n}\n"; p.read(t) != want {
		t.Errorf("got %q", p.read(t))
	}
}

func TestDisconnectWithoutAJournal(t *testing.T) {
	p := newPlace(t, "{}\n")
	p.connect(t)
	if err := os.Remove(filepath.Join(p.options.State, settings.JournalName)); err != nil {
		t.Fatal(err)
	}
	c := p.disconnect(t)
	if got := p.read(t); strings.Contains(got, "hooks") || !strings.Contains(got, `"mcp__*"`) {
		t.Errorf("%s", got)
	}
	if !strings.Contains(strings.Join(c.Notes, " "), "No journal") {
		t.Errorf("%v", c.Notes)
	}
}

func TestReplacesAnotherInstallation(t *testing.T) {
	before, err := os.ReadFile("testdata/settings/oldbinary.in")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, string(before))
	p.connect(t)
	if got := p.read(t); strings.Contains(got, "/opt/old") || !strings.Contains(got, `"mine"`) {
		t.Errorf("%s", got)
	}
	p.disconnect(t)
	if got := p.read(t); strings.Contains(got, "countersign") || !strings.Contains(got, `"mine"`) {
		t.Errorf("%s", got)
	}
}

func TestConnectRefusesAndWritesNothing(t *testing.T) {
	for _, tc := range []struct{ name, text, problem string }{
		{"trailing comma", "{\n\"a\": 1,\n}", "line 2, column 7"},
		{"duplicate key", `{"hooks": {}, "hooks": {}}`, "stands twice"},
		{"foreign shape", `{"hooks": "x"}`, "hooks must be an object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t, tc.text)
			for _, do := range []func(ConnectOptions) (Change, error){Connect, Disconnect} {
				_, err := do(p.options)
				if tc.name == "foreign shape" && err == nil {
					continue // nothing of ours stands in it
				}
				if err == nil || !strings.Contains(err.Error(), tc.problem) || !strings.Contains(err.Error(), "settings.json") {
					t.Errorf("got %v", err)
				}
			}
			if p.read(t) != tc.text {
				t.Error("the file was written")
			}
			if _, err := os.Lstat(p.options.Settings + settings.BackupSuffix); err == nil {
				t.Error("a backup was made")
			}
		})
	}
	p := newPlace(t, "{}")
	if err := os.Chmod(p.options.Settings, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(p.options); !errors.Is(err, settings.ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
	p.options.Mode = "loud"
	if _, err := Connect(p.options); err == nil {
		t.Error("an unknown mode was taken")
	}
}

func TestDryRun(t *testing.T) {
	p := newPlace(t, "{}")
	p.options.DryRun = true
	if c := p.connect(t); !c.Changed || !strings.Contains(c.Diff, "PreToolUse") {
		t.Errorf("%+v", c)
	}
	if _, err := os.Lstat(p.options.State); err == nil || p.read(t) != "{}" {
		t.Error("something was written")
	}
}

func TestConnectThroughALink(t *testing.T) {
	p := newPlace(t, "-")
	target := filepath.Join(p.dir, "dotfiles.json")
	if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, p.options.Settings); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	c := p.connect(t)
	if !c.Linked || c.Target != target || len(c.Notes) != 1 {
		t.Errorf("%+v", c)
	}
	paths := OwnPaths(filepath.Join(p.dir, "home"))
	if !strings.Contains(strings.Join(paths, "\n"), target) {
		t.Errorf("own paths: %v", paths)
	}
	if c := p.disconnect(t); !c.Exact {
		t.Errorf("%+v", c)
	}
	if info, err := os.Lstat(p.options.Settings); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

func TestConnectImportsAndNotes(t *testing.T) {
	p := newPlace(t, "{ // mine\n\"permissions\": {\"deny\": [\"Bash(git push:*)\"], \"ask\": [\"Bash\"]}}")
	first := p.connect(t)
	want := Imported{Deny: []string{"bash(git push:*)"}, Ask: []string{"bash"}}
	if diff := cmp.Diff(want, first.Import); diff != "" {
		t.Error(diff)
	}
	if len(first.Notes) != 1 || !strings.Contains(first.Notes[0], "comments") {
		t.Errorf("%v", first.Notes)
	}
	// Our own ask rules are not the owner's words.
	if diff := cmp.Diff(want, p.connect(t).Import); diff != "" {
		t.Error(diff)
	}
}

func codes(r Report) string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Code)
	}
	return strings.Join(out, " ")
}

func TestStatus(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, p *place, o *StatusOptions)
		state  State
		codes  string
	}{
		{"as connected", func(*testing.T, *place, *StatusOptions) {}, StateConnected, ""},
		{"another setting changed", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), "{\n", "{\n  \"theme\": \"dark\",\n", 1))
		}, StateConnected, ""},
		{"taken out", func(t *testing.T, p *place, _ *StatusOptions) { p.write(t, "{}") }, StateChanged, FindEventMissing},
		{"never connected", func(t *testing.T, p *place, _ *StatusOptions) { p.disconnect(t) }, StateNotConnected, ""},
		{"one gate taken out", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), `"PreToolUse"`, `"Setup"`, 1))
		}, StateChanged, FindEventMissing},
		{"matcher narrowed", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), `"matcher": "*"`, `"matcher": "Read"`, 1))
		}, StateChanged, FindEntryChanged},
		{"made asynchronous", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), `"timeout": 86400`, `"async": true, "timeout": 86400`, 1))
		}, StateChanged, FindEntryChanged},
		{"time limit lowered", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), "86400", "1", 1))
		}, StateChanged, FindEntryChanged},
		{"ask rules gone", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), "      \"Bash\",\n", "", 1))
		}, StateChanged, FindAskMissing},
		{"hooks disabled", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), "{\n", "{\n  \"disableAllHooks\": true,\n", 1))
		}, StateNotGated, FindHooksDisabled},
		{"bypass with ask rules", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), `"permissions": {`, `"permissions": {"defaultMode": "bypassPermissions",`, 1))
		}, StateConnected, FindBypass},
		{"bypass in mode quiet", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, `{"permissions": {"defaultMode": "bypassPermissions"}}`)
			p.options.Mode = ModeQuiet
			p.connect(t)
		}, StateNotGated, FindBypass + " " + FindNoNative},
		{"an allow rule", func(t *testing.T, p *place, _ *StatusOptions) {
			p.write(t, strings.Replace(p.read(t), `"permissions": {`, `"permissions": {"allow": ["Bash(ls)"],`, 1))
		}, StateConnected, FindAllowRule},
		{"binary gone", func(t *testing.T, p *place, _ *StatusOptions) { _ = os.Remove(p.options.Command.Binary) }, StateNotGated, FindBinaryMissing},
		{"binary not executable", func(t *testing.T, p *place, _ *StatusOptions) { _ = os.Chmod(p.options.Command.Binary, 0o600) }, StateNotGated, FindBinaryUnusable},
		{"another core", func(_ *testing.T, _ *place, o *StatusOptions) { o.Command.Core = "SHA256:new" }, StateNotGated, strings.TrimSpace(strings.Repeat(FindOtherCore+" ", 9))},
		{"another binary", func(_ *testing.T, _ *place, o *StatusOptions) { o.Command.Binary = "/elsewhere" }, StateChanged, strings.TrimSpace(strings.Repeat(FindOtherBinary+" ", 9))},
		{"comments", func(t *testing.T, p *place, _ *StatusOptions) { p.write(t, "// x\n"+p.read(t)) }, StateNotGated, FindComments},
		{"unreadable", func(t *testing.T, p *place, _ *StatusOptions) { p.write(t, "{") }, StateNotGated, FindUnreadable},
		{"a foreign hook in the project", func(t *testing.T, p *place, o *StatusOptions) {
			o.Projects = []string{p.other(t, ".claude/settings.local.json", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sneaky"}]}],"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`)}
		}, StateNotGated, FindForeignHook},
		{"a foreign hook of another kind", func(t *testing.T, p *place, o *StatusOptions) {
			o.Projects = []string{p.other(t, ".claude/settings.json", `{"hooks":{"PermissionRequest":[{"hooks":[{"type":"http","url":"http://x"}]}]}}`)}
		}, StateNotGated, FindForeignHook},
		{"managed hooks only", func(t *testing.T, p *place, o *StatusOptions) {
			o.Managed = p.other(t, "managed-settings.d/10.json", `{"allowManagedHooksOnly": true}`)
		}, StateNotGated, FindHooksDisabled},
		{"a project that cannot be read", func(t *testing.T, p *place, o *StatusOptions) {
			o.Projects = []string{p.other(t, ".claude/settings.json", `{`)}
		}, StateConnected, FindOtherUnreadable},
		{"plugins", func(t *testing.T, p *place, o *StatusOptions) {
			o.Projects = []string{p.other(t, ".claude/settings.json", `{"enabledPlugins": {"a@b": true, "c@d": false}}`)}
		}, StateConnected, FindPlugins},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t, "{}")
			p.connect(t)
			o := StatusOptions{Settings: p.options.Settings, State: p.options.State, Command: p.options.Command, Managed: filepath.Join(p.dir, "none")}
			tc.change(t, &p, &o)
			r, err := Status(o)
			if err != nil {
				t.Fatal(err)
			}
			if r.State != tc.state || codes(r) != tc.codes {
				t.Errorf("got %s %q, want %s %q\n%+v", r.State, codes(r), tc.state, tc.codes, r.Findings)
			}
		})
	}
}

// other writes a file below a directory of its own and returns the directory.
func (p place) other(t *testing.T, name, text string) string {
	t.Helper()
	dir := filepath.Join(p.dir, "other")
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
