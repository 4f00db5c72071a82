package approval_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/backend/approval"
)

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	coded := []interface {
		error
		Code() string
	}{&approval.AlreadyAnswered{Outcome: "allow"}, &approval.TransitionError{State: "a", Event: "b"}}
	for _, err := range approval.Errors() {
		coded = append(coded, err)
	}
	for _, err := range coded {
		if seen[err.Code()] || !form.MatchString(err.Code()) || err.Error() == "" {
			t.Errorf("code %q, text %q", err.Code(), err.Error())
		}
		seen[err.Code()] = true
	}
	save := &approval.SaveError{Cause: errors.New("disk full")}
	if save.Code() != approval.ErrNotSaved.Code() || save.Error() == approval.ErrNotSaved.Error() {
		t.Errorf("%s: %s", save.Code(), save)
	}
	if approval.ErrCancelled.Unwrap() != nil {
		t.Error("a plain error wraps something")
	}
}

// Every error variable is in the list that the reference is made from, and says what it means.
func TestErrorsAreListedAndDocumented(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			n++
			if v := spec.(*ast.ValueSpec); v.Doc.Text() == "" && group.Doc.Text() == "" {
				t.Errorf("%s is not documented", v.Names[0])
			}
		}
	}
	if n != len(approval.Errors()) {
		t.Errorf("%d errors are declared, %d are listed", n, len(approval.Errors()))
	}
}

// Every bucket the package comment describes is in the list a store may be opened with, and the other way round.
func TestBucketsAreDocumented(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(file.Doc.Text(), "# Buckets")
	table, _, _ = strings.Cut(table, "# Limits")
	var documented []string
	for line := range strings.Lines(table) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			documented = append(documented, name)
		}
	}
	slices.Sort(documented)
	buckets := approval.Buckets()
	slices.Sort(buckets)
	if !slices.Equal(documented, buckets) {
		t.Errorf("documented %q, listed %q", documented, buckets)
	}
}
