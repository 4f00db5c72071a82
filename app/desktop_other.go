//go:build !linux

package app

import (
	"context"
	"runtime"
)

// probe answers what these systems always have. Whether they really show a notification is known when one is sent.
func probe(context.Context) desktop {
	return desktop{trayHost: true, notifications: true, script: runtime.GOOS == "windows"}
}
