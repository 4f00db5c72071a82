// Testsummary reads the output of `go test -json` on standard input and tells what happened: one line per package as
// it ends, the output of what failed, every skip with its reason, and the closing line "N passed, M failed, K skipped".
//
// It owns the verdict of a test run. It ends with status 1 when a test failed, a package did not build, a coverage gate
// is not met, the input broke off in the middle of a package, or no test ran at all: a run that tests nothing must not
// look like one that passed. It starts nothing itself; the Makefile pipes into it.
//
// A test that has subtests is not counted beside them, so the numbers are those of the cases a reader sees.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// gate is a package that must have more than a given share of its statements covered.
type gate struct {
	pkg  string
	over float64 // per cent; the coverage must be greater
}

type gates []gate

// String prints the gates as they were given.
func (g *gates) String() string {
	var b strings.Builder
	for _, one := range *g {
		fmt.Fprintf(&b, "%s=%g ", one.pkg, one.over)
	}
	return strings.TrimSpace(b.String())
}

// Set reads "import/path=percent".
func (g *gates) Set(text string) error {
	pkg, number, found := strings.Cut(text, "=")
	over, err := strconv.ParseFloat(number, 64)
	if !found || pkg == "" || err != nil || over < 0 || over >= 100 {
		return errors.New("want PACKAGE=PERCENT")
	}
	*g = append(*g, gate{pkg, over})
	return nil
}

func main() {
	var (
		label   = flag.String("label", "tests", "word before the closing line")
		profile = flag.String("cover", "", "coverage profile the gates are checked against")
		mayNone = flag.Bool("allow-none", false, "every test may have been skipped")
		demands gates
	)
	flag.Var(&demands, "gate", "PACKAGE=PERCENT that must be exceeded (repeatable)")
	flag.Parse()

	ok, err := run(os.Stdin, os.Stdout, *label, *mayNone, *profile, demands)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run summarises in, and reports whether the run counts as passed.
func run(in io.Reader, out io.Writer, label string, mayNone bool, profile string, demands gates) (bool, error) {
	s := newSummary(out)
	if err := s.read(in); err != nil {
		return false, fmt.Errorf("read test output: %w", err)
	}
	ok := true
	if len(demands) > 0 {
		covered, err := readProfile(profile)
		if err != nil {
			return false, fmt.Errorf("coverage: %w", err)
		}
		ok = reportGates(out, covered, demands)
	}
	s.close(label)
	switch {
	case s.failed > 0:
		return false, nil
	case s.passed == 0 && (!mayNone || s.skippedCount() == 0):
		return false, errors.New("no test ran")
	}
	return ok, nil
}
