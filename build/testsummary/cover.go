package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
)

// covered counts the statements of a package.
type covered struct{ all, hit int }

func (c covered) percent() float64 {
	if c.all == 0 {
		return 0
	}
	return 100 * float64(c.hit) / float64(c.all)
}

// readProfile reads a coverage profile (go help testflag, -coverprofile) and counts statements per import path.
func readProfile(name string) (map[string]covered, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseProfile(f)
}

// parseProfile counts each block once, as hit when any of its lines in the profile says so: a package that is covered
// from several test programs has its blocks listed by each of them.
func parseProfile(r io.Reader) (map[string]covered, error) {
	type block struct {
		statements int
		hit        bool
	}
	blocks := map[string]block{} // by "file:range"
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "mode: ") {
			continue
		}
		// import/path/file.go:10.2,12.3 STATEMENTS COUNT
		fields := strings.Fields(line)
		if len(fields) != 3 || !strings.Contains(fields[0], ".go:") {
			return nil, fmt.Errorf("line %d is not of a coverage profile", n)
		}
		statements, err1 := strconv.Atoi(fields[1])
		count, err2 := strconv.ParseUint(fields[2], 10, 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("line %d holds no numbers", n)
		}
		b := blocks[fields[0]]
		blocks[fields[0]] = block{statements, b.hit || count > 0}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	packages := map[string]covered{}
	for place, b := range blocks {
		file, _, _ := strings.Cut(place, ".go:")
		c := packages[path.Dir(file)]
		c.all += b.statements
		if b.hit {
			c.hit += b.statements
		}
		packages[path.Dir(file)] = c
	}
	return packages, nil
}

// reportGates prints one line per demand and reports whether all are met.
func reportGates(out io.Writer, have map[string]covered, demands gates) bool {
	fmt.Fprintf(out, "\ncoverage:\n")
	ok := true
	for _, d := range demands {
		c, found := have[d.pkg]
		switch {
		case !found:
			ok = false
			fmt.Fprintf(out, "  %s: NOT MEASURED, must be over %g %%\n", d.pkg, d.over)
		case c.percent() <= d.over:
			ok = false
			fmt.Fprintf(out, "  %s: %.1f %%, MUST BE OVER %g %%\n", d.pkg, c.percent(), d.over)
		default:
			fmt.Fprintf(out, "  %s: %.1f %% (over %g %%)\n", d.pkg, c.percent(), d.over)
		}
	}
	return ok
}
