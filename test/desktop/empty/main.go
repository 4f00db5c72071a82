//go:build window

// Command empty is a window of the library with one heading in it and nothing else: what the desk's window is measured
// against.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
)

func main() {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Empty</title><h1>Empty</h1>")
	})
	if err := wails.Run(&options.App{
		Title: "Empty", Width: 1240, Height: 800, AssetServer: &assetserver.Options{Handler: page},
		Linux: &linux.Options{WebviewGpuPolicy: linux.WebviewGpuPolicyNever, ProgramName: "dev.countersign.Empty"},
	}); err != nil {
		fmt.Fprintln(os.Stderr, "empty:", err)
		os.Exit(1)
	}
}
