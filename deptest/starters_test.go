package deptest

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// starter is the one package that may start processes: what it starts has a boundary and a receipt, and a process
// started anywhere else would have neither.
const starter = "backend/sandbox/..."

const whyStarter = "only backend/sandbox starts processes, so that each has a boundary and a receipt"

// finding is one place that starts a process, or could hide that it does.
type finding struct {
	pos  token.Pos
	what string
}

var (
	// Packages whose import alone is a finding.
	startingImports = map[string]string{
		"C":                        "cgo can call fork and exec",
		"os/exec":                  "starts processes",
		"plugin":                   "loads code this test cannot read",
		"mvdan.cc/sh/v3/interp":    "runs shell text; only its parser is used here",
		"net/http/cgi":             "starts a process per request",
		"golang.org/x/sys/execabs": "starts processes",
	}
	// Names of packages that are otherwise welcome.
	startingNames = map[string][]string{
		"os":                       {"StartProcess"},
		"syscall":                  append([]string{"ForkExec", "Exec", "StartProcess", "CreateProcess", "CreateProcessAsUser"}, startingCalls...),
		"golang.org/x/sys/unix":    append([]string{"Exec"}, startingCalls...),
		"golang.org/x/sys/windows": {"CreateProcess", "CreateProcessAsUser", "ShellExecute"},
		"github.com/creack/pty":    {"Start", "StartWithSize", "StartWithAttrs"},
	}
	startingCalls = []string{"SYS_EXECVE", "SYS_EXECVEAT", "SYS_FORK", "SYS_VFORK", "SYS_CLONE", "SYS_CLONE3", "SYS_POSIX_SPAWN"}
	// Windows procedures, which are looked up by their name in a string.
	startingProcedures = []string{
		"CreateProcessA", "CreateProcessW", "CreateProcessAsUserA", "CreateProcessAsUserW", "CreateProcessWithLogonW", "CreateProcessWithTokenW",
		"NtCreateProcess", "NtCreateProcessEx", "NtCreateUserProcess", "ShellExecuteA", "ShellExecuteW", "ShellExecuteExA", "ShellExecuteExW", "WinExec",
	}
	// Direct system calls must name what they call with a SYS_ constant, which startingNames can see.
	directCalls = []string{"Syscall", "Syscall6", "RawSyscall", "RawSyscall6", "SyscallNoError", "RawSyscallNoError"}
)

// findStarters returns what in the file starts a process or hides from this analysis.
func findStarters(file *ast.File) []finding {
	var found []finding
	add := func(pos token.Pos, what string) { found = append(found, finding{pos, what}) }

	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				add(c.Pos(), "//go:linkname reaches functions that are not exported, the one that forks included")
			}
		}
	}
	imported := map[string]string{} // local name to path
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if why := startingImports[name]; why != "" {
			add(spec.Pos(), "import of "+name+": "+why)
		}
		local := path.Base(name)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if _, watched := startingNames[name]; watched && local == "." {
			add(spec.Pos(), "dot import of "+name+": it hides who is called")
		}
		imported[local] = name
	}

	named := map[*ast.SelectorExpr]bool{} // direct calls whose number is a SYS_ constant
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fun, direct := n.Fun.(*ast.SelectorExpr)
			if !direct || len(n.Args) == 0 {
				break
			}
			if number, ok := n.Args[0].(*ast.SelectorExpr); ok && strings.HasPrefix(number.Sel.Name, "SYS_") {
				named[fun] = true
			}
		case *ast.SelectorExpr:
			base, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			from := imported[base.Name]
			if contains(startingNames[from], n.Sel.Name) {
				add(n.Pos(), path.Base(from)+"."+n.Sel.Name+" starts a process")
			}
			if (from == "syscall" || from == "golang.org/x/sys/unix") && contains(directCalls, n.Sel.Name) && !named[n] {
				add(n.Pos(), path.Base(from)+"."+n.Sel.Name+" without a SYS_ constant: it hides what is called")
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && contains(startingProcedures, text) {
				add(n.Pos(), "the Windows procedure "+text+" starts a process")
			}
		}
		return true
	})
	return found
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

func TestOnlyTheSandboxStartsProcesses(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || under(starter, s.dir) {
			continue
		}
		for _, f := range findStarters(s.syntax) {
			t.Errorf("%s: %s; %s", positions.Position(f.pos), f.what, whyStarter)
		}
	}
}

// TestStartersAreFound shows that the analysis sees what it is for: in the fixtures each line that must be found ends
// in a comment "want", followed by a part of the message; no other line may be found.
func TestStartersAreFound(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/starters/*.go")
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range fixtures {
		t.Run(filepath.Base(name), func(t *testing.T) {
			here, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			s, err := parseFile(here, filepath.Join(here, name))
			if err != nil {
				t.Fatal(err)
			}
			want, got := map[int]string{}, map[int]string{}
			for i, line := range strings.Split(string(s.text), "\n") {
				if _, expected, found := strings.Cut(line, "// want "); found {
					want[i+1] = strings.TrimSpace(expected)
				}
			}
			for _, f := range findStarters(s.syntax) {
				line := positions.Position(f.pos).Line
				got[line] = f.what
				if want[line] != "" && strings.Contains(f.what, want[line]) {
					got[line] = want[line]
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
