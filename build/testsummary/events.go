package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// event is one line of `go test -json` (go doc cmd/test2json; build events: go help buildjson).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build events
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string // of a package that failed because this import path did not build
}

// result is what is known about one test of one package.
type result struct {
	ended  string // "pass", "fail", "skip", or "" while it runs
	output strings.Builder
	parent bool // has subtests
}

// pack is what is known about one package while it runs.
type pack struct {
	tests  map[string]*result
	order  []string
	output strings.Builder // not belonging to a test
}

type skip struct{ pkg, test, reason string }

// slowTest is how many seconds a test may take before the summary names it.
const slowTest = 20

type slow struct {
	pkg, test string
	seconds   float64
}

// summary collects a run. It is used by one goroutine.
type summary struct {
	out            io.Writer
	running        map[string]*pack
	builds         map[string]*strings.Builder // compiler output by import path
	skips          []skip
	slow           []slow
	passed, failed int
	broken         []string // packages that failed
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, running: map[string]*pack{}, builds: map[string]*strings.Builder{}}
}

func (s *summary) skippedCount() int { return len(s.skips) }

// read consumes events to the end of in. A line that is not JSON is somebody's plain output and is passed on.
func (s *summary) read(in io.Reader) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				fmt.Fprintf(s.out, "%s\n", bytes.TrimRight(line, "\n"))
			} else {
				s.add(e)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	for _, pkg := range sortedKeys(s.running) {
		s.endPackage(event{Action: "fail", Package: pkg}, "its output broke off: the test process was killed")
	}
	return nil
}

func (s *summary) add(e event) {
	switch e.Action {
	case "build-output":
		if s.builds[e.ImportPath] == nil {
			s.builds[e.ImportPath] = &strings.Builder{}
		}
		s.builds[e.ImportPath].WriteString(e.Output)
		return
	case "build-fail":
		return // told with the packages that needed it
	}
	p := s.running[e.Package]
	if p == nil {
		p = &pack{tests: map[string]*result{}}
		s.running[e.Package] = p
	}
	if e.Test == "" {
		switch e.Action {
		case "output":
			p.output.WriteString(e.Output)
		case "pass", "fail", "skip":
			s.endPackage(e, "")
		}
		return
	}
	t := p.tests[e.Test]
	if t == nil {
		t = &result{}
		p.tests[e.Test] = t
		p.order = append(p.order, e.Test)
		for name := e.Test; strings.Contains(name, "/"); {
			name = name[:strings.LastIndexByte(name, '/')]
			if above := p.tests[name]; above != nil {
				above.parent = true
			}
		}
	}
	switch e.Action {
	case "output":
		t.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		t.ended = e.Action
		if e.Elapsed > slowTest && !strings.Contains(e.Test, "/") {
			s.slow = append(s.slow, slow{e.Package, e.Test, e.Elapsed})
		}
	}
}

// endPackage counts the tests of a package that ended, prints its line and what failed in it, and forgets it.
func (s *summary) endPackage(e event, why string) {
	p := s.running[e.Package]
	delete(s.running, e.Package)
	if len(p.order) == 0 && e.Action != "fail" {
		return // no tests; the closing line says when that holds for all
	}
	passed, skipped := 0, 0
	var failures []string
	for _, name := range p.order {
		t := p.tests[name]
		if t.ended == "" && e.Action == "fail" {
			t.ended = "fail" // it was running when the process ended
		}
		switch {
		case t.ended == "fail":
			failures = append(failures, name)
		case t.parent:
		case t.ended == "skip":
			skipped++
			s.skips = append(s.skips, skip{e.Package, name, reason(t.output.String())})
		default:
			passed++
		}
	}
	s.passed += passed
	if e.Action != "fail" {
		fmt.Fprintf(s.out, "ok    %s  %.1fs  %d passed%s%s\n", e.Package, e.Elapsed, passed, plural(skipped), coverage(p))
		return
	}
	s.broken = append(s.broken, e.Package)
	fmt.Fprintf(s.out, "FAIL  %s  %.1fs\n", e.Package, e.Elapsed)
	if e.FailedBuild != "" {
		s.failed++
		fmt.Fprintf(s.out, "--- %s does not build\n", e.FailedBuild)
		if b := s.builds[e.FailedBuild]; b != nil {
			indent(s.out, b.String())
			b.Reset() // said once, though many packages may need it
		}
		return
	}
	told := 0
	for _, name := range failures {
		if p.tests[name].parent && failsBelow(failures, name) {
			indent(s.out, ownLines(p.tests[name].output.String()))
			continue // its subtests are the failures
		}
		told++
		fmt.Fprintf(s.out, "--- FAIL %s %s\n", e.Package, name)
		indent(s.out, p.tests[name].output.String())
	}
	if told == 0 { // a panic outside a test, a leak found by TestMain, a killed process
		told = 1
	}
	s.failed += told
	if why != "" {
		fmt.Fprintf(s.out, "      %s\n", why)
	}
	indent(s.out, p.output.String())
}

// close prints the skips, what took long, and the closing line.
func (s *summary) close(label string) {
	if len(s.skips) > 0 {
		fmt.Fprintf(s.out, "\nskipped:\n")
		for _, k := range s.skips {
			fmt.Fprintf(s.out, "  %s %s: %s\n", k.pkg, k.test, k.reason)
		}
	}
	if len(s.slow) > 0 {
		sort.Slice(s.slow, func(i, j int) bool { return s.slow[i].seconds > s.slow[j].seconds })
		fmt.Fprintf(s.out, "\nslow:\n")
		for _, t := range s.slow {
			fmt.Fprintf(s.out, "  %s %s: %.0f s\n", t.pkg, t.test, t.seconds)
		}
	}
	if len(s.broken) > 0 {
		fmt.Fprintf(s.out, "\nfailed packages: %s\n", strings.Join(s.broken, " "))
	}
	fmt.Fprintf(s.out, "\n%s: %d passed, %d failed, %d skipped\n", label, s.passed, s.failed, len(s.skips))
}

// reason is what a skipped test said, without the place it said it at.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if place, rest, found := strings.Cut(line, ": "); found && strings.Contains(place, ".go:") {
			line = rest
		}
		said = append(said, line)
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// ownLines drops the frame lines of the test runner, so that a parent's own messages remain.
func ownLines(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "=== ") && !strings.HasPrefix(t, "--- ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func failsBelow(failures []string, name string) bool {
	for _, f := range failures {
		if strings.HasPrefix(f, name+"/") {
			return true
		}
	}
	return false
}

func plural(skipped int) string {
	if skipped == 0 {
		return ""
	}
	return fmt.Sprintf(", %d skipped", skipped)
}

// coverage is the coverage line of a package, as go test printed it.
func coverage(p *pack) string {
	for line := range strings.Lines(p.output.String()) {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), "coverage: "); found {
			if percent, _, found := strings.Cut(rest, " of statements"); found {
				return ", " + percent + " covered"
			}
		}
	}
	return ""
}

func indent(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
