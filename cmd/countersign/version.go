package main

import (
	"fmt"
	"runtime/debug"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

type versionCmd struct{}

func (versionCmd) Run(s *streams) error {
	_, err := fmt.Fprintln(s.Out, versionLine())
	return err
}

func versionLine() string {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
				revision = " " + setting.Value[:12]
			}
		}
	}
	return "countersign " + version + revision
}
