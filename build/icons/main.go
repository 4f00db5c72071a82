// Command icons draws the program's icons into the tree: build/appicon.png for every packager, the icon of Windows, and
// the sizes of a Linux icon theme. The output is committed, so that packaging needs no drawing; a test compares.
package main

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"

	"countersign/app/mark"
)

var (
	appSize      = 1024
	themeSizes   = []int{16, 22, 24, 32, 48, 64, 128, 256, 512}
	windowsSizes = []int{16, 20, 24, 32, 48, 64, 256}
)

const theme = "build/linux/icons/hicolor"

// files are all icons: name in the tree to content.
func files() map[string][]byte {
	all := map[string][]byte{
		"build/appicon.png": mark.PNG(mark.App(appSize)),
		theme + "/scalable/apps/dev.countersign.Desk.svg": []byte(mark.SVG()),
	}
	for _, size := range themeSizes {
		all[fmt.Sprintf("%s/%dx%d/apps/dev.countersign.Desk.png", theme, size, size)] = mark.PNG(mark.App(size))
	}
	var images []*image.NRGBA
	for _, size := range windowsSizes {
		images = append(images, mark.App(size))
	}
	all["build/windows/icon.ico"] = mark.ICO(images...)
	return all
}

func main() {
	if len(os.Args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./build/icons (in the root of the tree)")
		os.Exit(2)
	}
	if text, err := os.ReadFile("go.mod"); err != nil || !strings.HasPrefix(string(text), "module countersign\n") {
		fmt.Fprintln(os.Stderr, "icons: not in the root of the tree")
		os.Exit(1)
	}
	for name, content := range files() {
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, content, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "icons:", err)
			os.Exit(1)
		}
	}
}
