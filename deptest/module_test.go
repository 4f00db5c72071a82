// Package deptest holds the rules of this repository that a compiler does not know: who may import whom and why, that
// only backend/sandbox starts processes, that nothing but the init is C, that every package says what it is, and that
// nothing lies in the tree that does not belong there.
//
// It has tests only, and reads the files themselves: a file that a build tag or its name hides on this system is
// judged like any other. What reads syntax can be deceived by somebody who wants to; these rules are for people who
// forget, and the boundary around an agent is not made of them.
package deptest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// module is the path of the module in go.mod.
const module = "countersign"

// source is one Go file of the module.
type source struct {
	name   string // slash-separated, below the module
	dir    string // "." for the module's root
	syntax *ast.File
	text   []byte
	test   bool
}

var positions = token.NewFileSet()

// root is the directory of go.mod.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
})

var load = sync.OnceValues(func() ([]source, error) {
	top, err := root()
	if err != nil {
		return nil, err
	}
	return parseTree(top)
})

// sources returns every Go file of the module, whatever its build tags say. The go command does not look into
// testdata either.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func parseTree(top string) ([]source, error) {
	var all []source
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != top && (base == "testdata" || base == "node_modules" || base == "bin" ||
				strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		s, err := parseFile(top, name)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

func parseFile(top, name string) (source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return source{}, err
	}
	rel, err := filepath.Rel(top, name)
	if err != nil {
		return source{}, err
	}
	rel = filepath.ToSlash(rel)
	syntax, err := parser.ParseFile(positions, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	dir := filepath.ToSlash(filepath.Dir(rel))
	return source{name: rel, dir: dir, syntax: syntax, text: text, test: strings.HasSuffix(rel, "_test.go")}, nil
}

// under reports whether dir is the directory of pattern or, if pattern ends in "/...", lies below it.
func under(pattern, dir string) bool {
	prefix, deep := strings.CutSuffix(pattern, "/...")
	return dir == prefix || deep && strings.HasPrefix(dir, prefix+"/")
}
