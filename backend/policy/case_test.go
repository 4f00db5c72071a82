package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedCases is where the collection of cases from other programs' faults lies: beside the repository.
func sharedCases(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		next := filepath.Dir(dir)
		if next == dir {
			t.Fatal("no go.mod above the package")
		}
		dir = next
	}
	file := filepath.Join(dir, "..", "shared", "cases", "policy.jsonl")
	if _, err := os.Stat(file); err != nil {
		t.Skip("shared cases are not here: ../shared/cases/policy.jsonl beside the repository")
	}
	return file
}

// pending returns the ids of the shared cases that are known to fail. The file only shrinks: an entry that passes is a
// failure of its own.
func pending(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/cases-pending.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if id := strings.TrimSpace(line); id != "" {
			out[id] = true
		}
	}
	return out
}

func judge(t *testing.T, file string, known map[string]bool) {
	t.Helper()
	cases := map[string]BatchCase{}
	results := map[string]BatchResult{}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var c BatchCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if _, ok := cases[c.ID]; ok {
			t.Errorf("the id %s stands twice", c.ID)
		}
		cases[c.ID] = c
	}
	var out, errs bytes.Buffer
	ok, err := RunBatch(bytes.NewReader(text), &out, &errs, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ok != (errs.Len() == 0) {
		t.Errorf("ok is %v with these mismatches:\n%s", ok, errs.String())
	}
	scan := bufio.NewScanner(&out)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var r BatchResult
		if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		results[r.ID] = r
	}
	if len(results) != len(cases) {
		t.Errorf("%d cases gave %d results", len(cases), len(results))
	}
	for id, c := range cases {
		problem := c.mismatch(results[id])
		switch {
		case known[id] && problem == "":
			t.Errorf("%s passes now: take it out of cases-pending.txt", id)
		case !known[id] && problem != "":
			t.Errorf("%s: %s\nargs %s\nwhy: %s", id, problem, c.Args, c.Why)
		}
		if len(results[id].Trace) != 13 {
			t.Errorf("%s: the trace has %d lines, want one for each of the 13 steps", id, len(results[id].Trace))
		}
	}
	for id := range known {
		if _, ok := cases[id]; !ok {
			t.Errorf("cases-pending.txt lists %s, which is no case", id)
		}
	}
}

func TestSharedCases(t *testing.T) { judge(t, sharedCases(t), pending(t)) }

func TestOwnCases(t *testing.T) { judge(t, "testdata/cases.jsonl", nil) }

// The faults of other programs that need a described filesystem, a principal or a gate to show; each line keeps the id it
// is known by.
func TestLifecycleCases(t *testing.T) { judge(t, "testdata/lifecycle.jsonl", nil) }

// Neighbours of the shared cases, of the same kinds.
func TestNeighbours(t *testing.T) { judge(t, "testdata/neighbours.jsonl", nil) }

// A fault of another program stands for its kind: every kind has at least two cases of our own.
func TestEveryKindHasNeighbours(t *testing.T) {
	kinds := func(file string) map[string]int {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int{}
		for line := range bytes.Lines(text) {
			var c BatchCase
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			out[c.Kind]++
		}
		return out
	}
	own := kinds("testdata/neighbours.jsonl")
	for kind := range kinds(sharedCases(t)) {
		if own[kind] < 2 {
			t.Errorf("%d cases of the kind %q, want 2", own[kind], kind)
		}
	}
}
