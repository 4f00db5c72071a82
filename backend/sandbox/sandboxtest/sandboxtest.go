// Package sandboxtest builds countersign-init for tests of other packages. It starts the C compiler and nothing else,
// and is imported by tests only.
package sandboxtest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

var build = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("COUNTERSIGN_TEST_INIT"); path != "" {
		return path, nil
	}
	_, self, _, _ := runtime.Caller(0)
	sources := filepath.Join(filepath.Dir(filepath.Dir(self)), "init")
	hash := sha256.New()
	for _, name := range []string{"countersign-init.c", "build.sh"} {
		text, err := os.ReadFile(filepath.Join(sources, name))
		if err != nil {
			return "", err
		}
		hash.Write(text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "countersign-test")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// The name changes with the source, and build.sh renames a finished file into place: several test processes may
	// build at once.
	out := filepath.Join(dir, "countersign-init-"+runtime.GOARCH+"-"+hex.EncodeToString(hash.Sum(nil)[:8]))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	cmd := exec.Command("/bin/sh", filepath.Join(sources, "build.sh"), out)
	cmd.Stderr = os.Stderr
	return out, cmd.Run()
})

// Init returns the path of countersign-init, built once for each version of its source into the user's cache directory.
// COUNTERSIGN_TEST_INIT names one that is built already. A machine that cannot build it skips the test by name.
func Init(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("countersign-init: Linux only")
	}
	path, err := build()
	if err != nil {
		t.Skipf("countersign-init: cannot be built here: %v", err)
	}
	return path
}
