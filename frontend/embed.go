// Package frontend holds the built pages of the desk, the same for the window and for a browser. The pages are built by
// npm into dist, which is empty in a fresh checkout: Pages then says so instead of serving nothing.
package frontend

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// ErrNotBuilt means that this program was built without its pages.
var ErrNotBuilt = errors.New("the pages were not built into this program")

// Pages returns the built pages; index.html is at the top.
func Pages() (fs.FS, error) {
	pages, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	if _, err := fs.Stat(pages, "index.html"); err != nil {
		return nil, ErrNotBuilt
	}
	return pages, nil
}
