package deptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// knownStarters are the packages of other modules that can start a process and are linked into ours, with what we do
// about it. A new one is a decision, and one that is gone must leave the list.
var knownStarters = map[string]string{
	"github.com/pkg/browser": "the window's library opens a browser when its page asks for it; ours shows only its own pages, which never do",
	"github.com/wailsapp/wails/v2/internal/frontend/desktop/darwin": "on macOS it runs pbcopy and pbpaste with fixed arguments when the page uses its clipboard",
	"github.com/wailsapp/wails/v2/internal/webview2runtime":         "on Windows it runs Microsoft's installer where WebView2 is missing, after asking",
	"git.sr.ht/~jackmordaunt/go-toast/v2/wintoast":                  "on Windows it shows a notification through a PowerShell script where COM fails; app takes the meaning out of the text first",
	"github.com/zalando/go-keyring":                                 "on macOS it runs /usr/bin/security with fixed arguments; limitations.md names it",
	"github.com/getlantern/errors":                                  "names the types of os/exec's errors in its messages and starts nothing; the tray helper's library logs through it",
	"github.com/godbus/dbus/v5":                                     "runs dbus-launch when no bus is set; state looks for a bus address first and does not call it without one",
}

// goCommand runs the go command in the module's root and returns what it printed.
func goCommand(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	program, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in PATH")
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = moduleRoot(t)
	cmd.Env = append(os.Environ(), env...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return out
}

// TestDependenciesThatStartProcesses looks through everything that is linked into the program on each system.
func TestDependenciesThatStartProcesses(t *testing.T) {
	seen := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		out := goCommand(t, []string{"GOOS=" + system, "GOARCH=amd64", "CGO_ENABLED=0"},
			"list", "-e", "-deps", "-tags=desktop,production", "-json=ImportPath,Imports,Standard", ".", "./backend/...", "./cmd/...")
		list := json.NewDecoder(bytes.NewReader(out))
		for {
			var pkg struct {
				ImportPath string
				Imports    []string
				Standard   bool
			}
			err := list.Decode(&pkg)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(pkg.ImportPath, module+"/") || !slices.Contains(pkg.Imports, "os/exec") {
				continue
			}
			if knownStarters[pkg.ImportPath] == "" {
				t.Errorf("%s is linked for %s and imports os/exec: find out what it starts and when, and say it in knownStarters", pkg.ImportPath, system)
			}
			seen[pkg.ImportPath] = true
		}
	}
	for name := range knownStarters {
		if !seen[name] {
			t.Errorf("%s is no longer linked, or no longer starts anything: take it out of knownStarters", name)
		}
	}
}

// requirements are the modules of go.mod with their versions.
func requirements(t *testing.T) map[string]string {
	t.Helper()
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(goCommand(t, nil, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range mod.Require {
		versions[r.Path] = r.Version
	}
	return versions
}

// TestDependenciesAreExplained compares docs/dependencies.md with what is imported: each module that our own files
// name has a section headed "## MODULE VERSION", and no section is left over.
func TestDependenciesAreExplained(t *testing.T) {
	versions := requirements(t)
	direct := map[string]string{} // module to a file that imports it
	for _, s := range sources(t) {
		for _, spec := range s.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Split(name, "/")[0], ".") {
				continue
			}
			found := ""
			for m := range versions {
				if under(m+"/...", name) && len(m) > len(found) {
					found = m
				}
			}
			if found == "" {
				t.Errorf("%s: go.mod has no module for %s", positions.Position(spec.Pos()), name)
				continue
			}
			direct[found] = s.name
		}
	}
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^## (\S+\.\S+/?\S*) (v\S+)$`).FindAllStringSubmatch(string(text), -1) {
		explained[m[1]] = m[2]
	}
	for m, where := range direct {
		if explained[m] != versions[m] {
			t.Errorf("docs/dependencies.md has no section \"## %s %s\" (imported by %s; it has version %q)", m, versions[m], where, explained[m])
		}
	}
	for m := range explained {
		if direct[m] == "" {
			t.Errorf("docs/dependencies.md explains %s, which nothing imports", m)
		}
	}
}
