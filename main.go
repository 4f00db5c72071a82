// Command countersign-desk is the window of Countersign. The command line is cmd/countersign.
package main

import (
	_ "embed"
	"os"

	"countersign/app"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

//go:embed build/appicon.png
var icon []byte

func main() { os.Exit(app.Run(version, icon, os.Args[1:])) }
