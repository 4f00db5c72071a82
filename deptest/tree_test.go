package deptest

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The most lines a Go file may have. Style asks for 400; over this a file holds two concepts. A test's tables may be
// longer: they are one concept with many rows.
const (
	longestFile = 600
	longestTest = 900
)

// The places where something other than Go is compiled.
var foreign = []struct{ dir, why string }{
	{"backend/sandbox/init", "the init runs inside the boundary, where a Go run-time would be five times slower and have threads"},
}

var foreignExtensions = []string{".c", ".h", ".s", ".S", ".syso", ".cc", ".cpp", ".m", ".mm", ".f"}

// textFiles returns the names of all files that are, or would be, committed: what git knows and does not ignore, or,
// in a tree without git, everything outside the ignored directories.
func textFiles(t *testing.T) []string {
	t.Helper()
	top := moduleRoot(t)
	if git, err := exec.LookPath("git"); err == nil {
		if _, err := os.Stat(filepath.Join(top, ".git")); err == nil {
			cmd := exec.Command(git, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
			cmd.Dir = top
			if out, err := cmd.Output(); err == nil && len(out) > 0 {
				return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			}
		}
	}
	var names []string
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == ".git" || rel == "bin" || rel == "dist" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		names = append(names, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// readText returns a file of the tree; ok is false when it is no text, or gone (deleted but still known to git).
func readText(t *testing.T, name string) (text []byte, ok bool) {
	t.Helper()
	full := filepath.Join(moduleRoot(t), filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	text, err = os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	return text, !bytes.Contains(text[:min(len(text), 8000)], []byte{0})
}

func TestNoForeignCode(t *testing.T) {
	allowed := func(dir string) bool {
		for _, f := range foreign {
			if under(f.dir+"/...", dir) {
				return true
			}
		}
		return false
	}
	for _, name := range textFiles(t) {
		if contains(foreignExtensions, path.Ext(name)) && !allowed(path.Dir(name)) {
			t.Errorf("%s: only Go is compiled here; C lives in backend/sandbox/init alone", name)
		}
	}
	for _, s := range sources(t) {
		for _, spec := range s.syntax.Imports {
			if spec.Path.Value == `"C"` {
				t.Errorf("%s: cgo: the programs are static and build for every system from any of them", positions.Position(spec.Pos()))
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	comment, files := map[string]string{}, map[string]string{}
	for _, s := range sources(t) {
		if files[s.dir] == "" {
			files[s.dir] = s.name
		}
		if s.syntax.Doc == nil || s.test && strings.HasSuffix(s.syntax.Name.Name, "_test") {
			continue
		}
		if comment[s.dir] != "" {
			t.Errorf("%s: %s has a package comment in %s too", s.name, s.dir, comment[s.dir])
		}
		comment[s.dir] = s.name
		text := s.syntax.Doc.Text()
		if name := s.syntax.Name.Name; name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
			t.Errorf("%s: the package comment does not begin with \"Package %s \"", s.name, name)
		}
		if len(strings.Fields(text)) < 12 {
			t.Errorf("%s: the package comment says too little: what the package owns, what it refuses to do, what its limits are", s.name)
		}
		if strings.Count(text, "\n") > 30 && path.Base(s.name) != "doc.go" {
			t.Errorf("%s: a package comment of more than 30 lines goes into doc.go", s.name)
		}
	}
	for dir, name := range files {
		if comment[dir] == "" {
			t.Errorf("%s has no package comment (%s)", dir, name)
		}
	}
}

func TestFileLength(t *testing.T) {
	for _, s := range sources(t) {
		most := longestFile
		if s.test {
			most = longestTest
		}
		if n := bytes.Count(s.text, []byte("\n")); n > most && !ast.IsGenerated(s.syntax) {
			t.Errorf("%s has %d lines, more than %d: it holds more than one concept", s.name, n, most)
		}
	}
}

// leftover finds the words for work that was put off. (Written so that this file does not hold them.)
var leftover = regexp.MustCompile(`\b(?:TO` + `DO|FIX` + `ME|X` + `XX)\b`)

// TestNothingIsPutOff looks at comments in Go, and at everything in the other files we write; a test's data may
// contain what it likes.
func TestNothingIsPutOff(t *testing.T) {
	for _, s := range sources(t) {
		for _, group := range s.syntax.Comments {
			for _, c := range group.List {
				if word := leftover.FindString(c.Text); word != "" {
					t.Errorf("%s: %s: what is missing is built, or said in docs/limitations.md", positions.Position(c.Pos()), word)
				}
			}
		}
	}
	for _, name := range textFiles(t) {
		if path.Ext(name) == ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		text, ok := readText(t, name)
		if !ok {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			if word := leftover.FindString(line); word != "" {
				t.Errorf("%s:%d: %s: what is missing is built, or said in docs/limitations.md", name, i+1, word)
			}
		}
	}
}

// forbidden are texts that tell about the machine something was built on instead of about the product.
var forbidden = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{
		regexp.MustCompile(`(?:^|[\s"'` + "`" + `=:(,\[])/(?:work|root)/[A-Za-z0-9_.]`),
		"an absolute path of a build machine: it exists nowhere else",
	},
	{
		regexp.MustCompile(`\b(?:registry|proxy|sum|index|deb|security|archive|mirror|snapshot)\.(?:npmjs|yarnpkg|golang|debian|ubuntu|crates|pypi)\.(?:org|com|io)\b`),
		"the host of a package registry: packages are named, and the machine's own settings say where they come from",
	},
}

// excused are files that need one of these texts, with the reason.
var excused = map[string]string{}

func TestNothingOfTheBuildMachine(t *testing.T) {
	for _, name := range textFiles(t) {
		if excused[name] != "" {
			continue
		}
		text, ok := readText(t, name)
		if !ok {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, f := range forbidden {
				if word := f.pattern.FindString(line); word != "" {
					t.Errorf("%s:%d: %q: %s", name, i+1, strings.TrimSpace(word), f.why)
				}
			}
		}
	}
}

func TestForbiddenTexts(t *testing.T) {
	home := "/ro" + "ot/"
	tests := []struct {
		name   string
		line   string
		forbid bool
	}{
		{"a build path", "see " + home + "src/x", true},
		{"quoted", `dir = "` + "/wo" + "rk/" + `main"`, true},
		{"below proc", "/proc/12" + home + "etc", false},
		{"a directory of that name", "the directory " + home + " itself", false},
		{"as part of a name", "x" + home + "y", false},
		{"a registry", "https://registry." + "npmjs.org/x", true},
		{"a module path", "golang.org/x/sys", false},
		{"an example", "proxy.example.com", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := false
			for _, f := range forbidden {
				got = got || f.pattern.MatchString(tt.line)
			}
			if got != tt.forbid {
				t.Errorf("%q: forbidden = %v", tt.line, got)
			}
		})
	}
}

// TestArchitectureNamesEveryPackage: docs/architecture.md has a paragraph per package, begun with its name.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]bool{}
	for _, s := range sources(t) {
		dirs[s.dir] = true
	}
	for dir := range dirs {
		if !regexp.MustCompile(`(?m)^\*\*` + regexp.QuoteMeta(dir) + `\*\*`).Match(text) {
			t.Errorf("docs/architecture.md has no paragraph that begins with **%s**", dir)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\*\*([a-z/]+)\*\*`).FindAllStringSubmatch(string(text), -1) {
		if info, err := os.Stat(filepath.Join(moduleRoot(t), m[1])); err != nil || !info.IsDir() {
			t.Errorf("docs/architecture.md describes %s, which is not there", m[1])
		}
	}
}
