package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// bare are the places where a goroutine may be started without bridge.Go, each with its reason.
var bare = map[string]string{
	"bridge/guard.go":      "the guard itself",
	"pageprocess_linux.go": "what it starts sets a deadline, and calls nothing of ours",
	"tray/supervise.go":    "app/tray may not import the bridge; what it calls of ours is guarded by who hands it over",
	"tray/session.go":      "the same",
	"tray/tray.go":         "the same",
	"tray/helper.go":       "the same",
}

// TestGoroutines: a panic in a goroutine ends the window and the core in it, so each must pass through the guard.
func TestGoroutines(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(source, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if bare[filepath.ToSlash(path)] == "" {
					t.Errorf("%s: a bare go statement; use bridge.Go", files.Position(n.Pos()))
				}
			case *ast.CallExpr:
				// time.AfterFunc and context.AfterFunc run their function in a goroutine of its own too, and so does
				// WaitGroup.Go.
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "AfterFunc" || s.Sel.Name == "Go" && !isBridge(s.X)) && bare[filepath.ToSlash(path)] == "" {
					t.Errorf("%s: %s starts a goroutine without the guard", files.Position(n.Pos()), s.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isBridge(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && name.Name == "bridge"
}
