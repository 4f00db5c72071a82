package sandbox

import (
	"flag"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain lets the test binary play other parts too: what runs inside a box, a core that is killed, and a helper.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "play" && os.Args[2] == "helper" {
		syscall.Exit(playHelper(os.Args[3])) // without what a test program says at its end when it measures coverage
	}
	if len(os.Args) > 2 && os.Args[1] == "play" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	goleak.VerifyTestMain(m)
}
