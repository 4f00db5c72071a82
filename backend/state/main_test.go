package state

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

// roleVariable makes the test binary play another process: the value names a function of roles.
const roleVariable = "STATE_TEST_ROLE"

var roles = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// asRole returns a command that runs this test binary in a role. Its environment is env and nothing else.
func asRole(t *testing.T, role string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(must(os.Executable())(t), args...)
	cmd.Env = append(env, roleVariable+"="+role)
	return cmd
}

// must returns a function that returns v, or fails the test on an error: must(os.ReadFile(path))(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
