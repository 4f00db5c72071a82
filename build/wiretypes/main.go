// Command wiretypes makes what other languages and people read about the wire from the types that the desk has
// registered: the TypeScript interfaces of the screens, a JSON Schema, and the reference page. It knows no type by itself;
// a type that cannot be told in one of these forms ends it with an error, and nothing is guessed.
//
//	go run ./build/wiretypes          writes the files
//	go run ./build/wiretypes -check   names the files that are stale, and exits 1 when there are any
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// output is one file that is made here, below the module's root.
type output struct {
	name string
	make func(*model) ([]byte, error)
}

var outputs = []output{
	{"frontend/src/wire/types.gen.ts", typescript},
	{"docs/wire.schema.json", schema},
	{"docs/wire.md", page},
}

func main() {
	check := flag.Bool("check", false, "write nothing; name the files that are stale")
	flag.Parse()
	stale, err := run(".", *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiretypes:", err)
		os.Exit(1)
	}
	for _, name := range stale {
		if *check {
			fmt.Fprintf(os.Stderr, "%s is stale: go run ./build/wiretypes\n", name)
		} else {
			fmt.Println(name)
		}
	}
	if *check && len(stale) > 0 {
		os.Exit(1)
	}
}

// run makes every file, and writes those that differ from what lies below root unless only asked to check. It returns
// their names.
func run(root string, check bool) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, fmt.Errorf("run this in the module's root: %w", err)
	}
	m, err := registered()
	if err != nil {
		return nil, err
	}
	var stale []string
	for _, o := range outputs {
		made, err := o.make(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		name := filepath.Join(root, filepath.FromSlash(o.name))
		kept, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && bytes.Equal(kept, made) {
			continue
		}
		stale = append(stale, o.name)
		if check {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, made, 0o644); err != nil {
			return nil, err
		}
	}
	return stale, nil
}
