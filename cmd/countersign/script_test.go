package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"countersign/backend/sandbox/sandboxtest"
)

// program builds the command line and the init beside it, once, as a person has them: the tests run those.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "countersign-bin-")
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "countersign"), ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build countersign: %v\n%s", err, out)
	}
	return dir, nil
})

func programDir(t testing.TB) string {
	t.Helper()
	dir, err := program()
	if err != nil {
		t.Fatal(err)
	}
	init := filepath.Join(dir, "countersign-init")
	if _, err := os.Stat(init); err != nil {
		data, err := os.ReadFile(sandboxtest.Init(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(init, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMain(m *testing.M) {
	if os.Getenv(fakeAgentVariable) != "" {
		playAgent()
		return
	}
	if filepath.Base(os.Args[0]) == fakeDeskName {
		os.Exit(playDesk())
	}
	code := m.Run()
	if dir, err := program(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// TestScripts runs the command line as a person does. Each script says what it shows. Besides the usual commands there
// are:
//
//	core start|kill|stop   a core in $COUNTERSIGN_HOME with a file identity; kill is SIGKILL
func TestScripts(t *testing.T) {
	bin := programDir(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// Socket paths are short: the scripts' own directories may not be.
			home, err := os.MkdirTemp("", "cs-")
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(home) })
			env.Setenv("COUNTERSIGN_HOME", home)
			env.Setenv("COUNTERSIGN_NO_START", "1")
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Values["core"] = &testCore{bin: bin, home: home}
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"core": coreCommand},
	})
}

func coreCommand(ts *testscript.TestScript, neg bool, args []string) {
	c := ts.Value("core").(*testCore)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: core start|kill|stop")
	}
	switch args[0] {
	case "start":
		ts.Check(c.start())
		ts.Defer(c.kill)
	case "kill":
		c.kill()
	case "stop":
		ts.Check(c.stop())
	default:
		ts.Fatalf("core: unknown %q", args[0])
	}
}

// testPassphrase is the desk passphrase of every test core.
const testPassphrase = "correct horse battery"

// testCore is a real core in a home of its own.
type testCore struct {
	bin, home string
	env       []string // more environment
	config    string   // more configuration
	cmd       *exec.Cmd
}

// start starts the core and waits until it answers.
func (c *testCore) start() error {
	for _, dir := range []string{c.home, filepath.Join(c.home, "config")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	pass := filepath.Join(c.home, "passphrase")
	conf := "[identity]\nstore = \"file\"\npassphrase_file = \"" + pass + "\"\n" + c.config
	if err := os.WriteFile(pass, []byte(testPassphrase+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.home, "config", "config.toml"), []byte(conf), 0o600); err != nil {
		return err
	}
	var log strings.Builder
	cmd := exec.Command(filepath.Join(c.bin, "countersign"), "serve", "--background")
	cmd.Env = append(append(os.Environ(), "COUNTERSIGN_HOME="+c.home), c.env...)
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.cmd = cmd
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		probe := exec.Command(filepath.Join(c.bin, "countersign"), "pending", "--json")
		probe.Env = cmd.Env
		if probe.Run() == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.kill()
	return fmt.Errorf("the core did not come up:\n%s", log.String())
}

// kill ends the core as a crash does.
func (c *testCore) kill() {
	if c.cmd != nil && c.cmd.Process != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		c.cmd = nil
	}
}

// stop ends the core as a person does.
func (c *testCore) stop() error {
	if c.cmd == nil {
		return nil
	}
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	err := c.cmd.Wait()
	c.cmd = nil
	return err
}
