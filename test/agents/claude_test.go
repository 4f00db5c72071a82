//go:build agents

// Package agents runs real coding agents, offline, against a real core: what they do is asked, answered, boxed and
// recorded. It needs the agents themselves (make test-agents installs them into a cache directory), a network namespace
// of its own and the scripted model.
package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

const passphrase = "correct horse battery"

// world is one throw-away machine: a desk's home, an agent's home and project, and the programs.
type world struct {
	t       *testing.T
	bin     string // countersign and countersign-init
	home    string // COUNTERSIGN_HOME
	dir     string // of offline-agent: home/, project/, out, err, model.jsonl
	offline string // the offline-agent script
	claude  string // directory of the claude program

	mu   sync.Mutex
	core *exec.Cmd
}

func newWorld(t *testing.T) *world {
	t.Helper()
	claude := os.Getenv("COUNTERSIGN_CLAUDE")
	if claude == "" {
		t.Skip("COUNTERSIGN_CLAUDE does not name the claude program: run make test-agents")
	}
	root := repository(t)
	offline := filepath.Join(root, "..", "shared", "tools", "offline-agent")
	if _, err := os.Stat(offline); err != nil {
		t.Skip("the scripted model and the offline-agent script are not beside this checkout")
	}
	bin := filepath.Join(root, "bin")
	if _, err := os.Stat(filepath.Join(bin, "countersign-init")); err != nil {
		t.Skip("bin/ is not built: run make test-agents")
	}
	base, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, bin: bin, home: filepath.Join(base, "cs"), dir: filepath.Join(base, "agent"), offline: offline, claude: filepath.Dir(claude)}
	t.Cleanup(func() {
		w.kill()
		if t.Failed() {
			t.Logf("kept: %s", base)
			return
		}
		_ = os.RemoveAll(base)
	})
	for _, d := range []string{w.home, filepath.Join(w.home, "config"), filepath.Join(w.dir, "home"), w.project()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	pass := filepath.Join(w.home, "passphrase")
	w.write(pass, passphrase+"\n")
	w.write(filepath.Join(w.home, "config", "config.toml"), "[identity]\nstore = \"file\"\npassphrase_file = \""+pass+"\"\n")
	w.write(filepath.Join(w.dir, "env"), "ANTHROPIC_BASE_URL=http://127.0.0.1:8399\nANTHROPIC_API_KEY=sk-ant-fake-000\nCLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\n")
	w.write(filepath.Join(w.dir, "path"), w.claude)
	return w
}

func repository(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above this package")
	return ""
}

func (w *world) project() string { return filepath.Join(w.dir, "project") }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// command is one run of the command line as the owner types it.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(w.bin, "countersign"), args...)
	cmd.Env = append(os.Environ(), "COUNTERSIGN_HOME="+w.home, "HOME="+filepath.Join(w.dir, "home"))
	return cmd
}

func (w *world) run(args ...string) string {
	w.t.Helper()
	out, err := w.command(args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("countersign %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *world) start() {
	w.t.Helper()
	cmd := w.command("serve", "--background")
	log, err := os.OpenFile(filepath.Join(w.home, "core.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.core = cmd
	w.mu.Unlock()
	w.until("the core answers", func() bool { return w.command("pending").Run() == nil })
}

// kill ends the core as a crash does.
func (w *world) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.core != nil {
		_ = w.core.Process.Kill()
		_ = w.core.Wait()
		w.core = nil
	}
}

func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(w.home, "core.log"))
			out, _ := os.ReadFile(filepath.Join(w.dir, "out"))
			errs, _ := os.ReadFile(filepath.Join(w.dir, "err"))
			w.t.Fatalf("not within a minute: %s\ncore: %s\nagent: %s\n%s", what, log, out, errs)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// question is what the test reads of a pending approval.
type question struct {
	ID     string `json:"id"`
	Detail struct {
		Command  string `json:"command"`
		Verified bool   `json:"verified"`
	} `json:"detail"`
}

// waiting waits until exactly the given command is asked about.
func (w *world) waiting(command string) question {
	w.t.Helper()
	var found question
	w.until("asked about "+command, func() bool {
		out, err := w.command("pending", "--json").Output()
		if err != nil {
			return false
		}
		var list []question
		if err := json.Unmarshal(out, &list); err != nil {
			w.t.Fatalf("pending --json: %v\n%s", err, out)
		}
		for _, q := range list {
			if q.Detail.Command == command {
				found = q
				return true
			}
		}
		return false
	})
	return found
}

// answer answers as a person does: on a terminal, with the passphrase typed.
func (w *world) answer(q question, args ...string) {
	w.t.Helper()
	cmd := w.command(append([]string{"answer", q.ID}, args...)...)
	terminal, err := pty.Start(cmd)
	if err != nil {
		w.t.Fatal(err)
	}
	defer terminal.Close()
	var seen bytes.Buffer
	buf := make([]byte, 4096)
	typed := false
	for {
		n, err := terminal.Read(buf)
		seen.Write(buf[:n])
		if !typed && strings.Contains(seen.String(), "passphrase:") {
			typed = true
			if _, err := io.WriteString(terminal, passphrase+"\n"); err != nil {
				w.t.Fatal(err)
			}
		}
		if err != nil {
			break // the program ended: reading a terminal without the other end is EIO
		}
	}
	if err := cmd.Wait(); err != nil {
		w.t.Fatalf("answer %v: %v\n%s", args, err, seen.String())
	}
}

// turn is one answer of the scripted model: Bash calls, or words.
func turn(command string) map[string]any {
	return map[string]any{"text": "Next.", "tools": []map[string]any{{"name": "Bash", "args": map[string]any{"command": command, "description": "a step"}}}}
}

// agent starts the real Claude Code on a script of commands. The returned function waits for its end.
func (w *world) agent(ctx context.Context, commands ...string) (wait func() error) {
	w.t.Helper()
	script := map[string]any{"end": "All done."}
	var turns []map[string]any
	for _, c := range commands {
		turns = append(turns, turn(c))
	}
	script["turns"] = append(turns, map[string]any{"text": "All done."})
	data, err := json.Marshal(script)
	if err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(w.dir, "script.json")
	w.write(file, string(data))
	cmd := exec.CommandContext(ctx, "bash", w.offline, w.dir, file, "240", "claude", "-p", "do the steps", "--allowedTools", "Bash")
	cmd.Env = append(os.Environ(), "SCRIPTEDMODEL="+scriptedModel(w.t, w.offline))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		if err := cmd.Wait(); err != nil {
			done <- fmt.Errorf("%w: %s", err, log.String())
			return
		}
		done <- nil
	}()
	return func() error { return <-done }
}

var modelOnce sync.Once
var modelPath string

// scriptedModel builds the model once.
func scriptedModel(t *testing.T, offline string) string {
	t.Helper()
	modelOnce.Do(func() {
		dir, err := os.MkdirTemp("", "scriptedmodel-")
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "scriptedmodel")
		cmd := exec.Command("go", "build", "-o", out, ".")
		cmd.Dir = filepath.Join(filepath.Dir(offline), "scriptedmodel")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build the scripted model: %v\n%s", err, text)
		}
		modelPath = out
	})
	return modelPath
}

// results returns what the model was told about each of its tool calls, in order.
func (w *world) results() []string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "model.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	var last string
	for _, line := range strings.Split(string(data), "\n") {
		if strings.Contains(line, "tool_result") {
			last = line
		}
	}
	var request struct {
		Body struct {
			Messages []struct {
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		} `json:"body"`
	}
	if err := json.Unmarshal([]byte(last), &request); err != nil {
		w.t.Fatalf("model log: %v", err)
	}
	var out []string
	for _, m := range request.Body.Messages {
		var parts []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(m.Content, &parts) != nil {
			continue
		}
		for _, p := range parts {
			if p.Type == "tool_result" {
				out = append(out, string(p.Content))
			}
		}
	}
	return out
}

// TestClaude is the whole way with the real agent: asked, allowed once, run Enforced with a receipt; the directory
// holds for the next call; a denial's note reaches the model; a wait survives the death of the core.
func TestClaude(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.run("connect", "claude", "--no-start") // the test alone starts and ends the core
	if out := w.run("status"); !strings.Contains(out, "connected") {
		t.Errorf("status says:\n%s", out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	first := "mkdir -p sub && echo hello-from-tool > made.txt && cat made.txt"
	wait := w.agent(ctx, first, "cd sub && touch inside.txt", "touch here.txt && pwd", "touch denied.txt", "touch after-restart.txt && echo survived")

	q := w.waiting(first)
	if !q.Detail.Verified {
		t.Error("the real agent's identity is not verified")
	}
	w.answer(q, "allow", "--comment", "just this once")
	w.answer(w.waiting("cd sub && touch inside.txt"), "allow")
	w.answer(w.waiting("touch here.txt && pwd"), "allow")
	w.answer(w.waiting("touch denied.txt"), "deny", "--comment", "leave that file alone")
	q = w.waiting("touch after-restart.txt && echo survived")
	w.kill()
	time.Sleep(2 * time.Second)
	w.start()
	if again := w.waiting("touch after-restart.txt && echo survived"); again.ID != q.ID {
		t.Errorf("after the restart the approval has id %s, was %s", again.ID, q.ID)
	}
	w.answer(q, "allow")
	if err := wait(); err != nil {
		t.Fatalf("claude: %v", err)
	}

	results := w.results()
	if len(results) != 5 {
		t.Fatalf("the model saw %d results, want 5: %q", len(results), results)
	}
	sub := filepath.Join(w.project(), "sub")
	for i, want := range []string{"hello-from-tool", "", sub, "leave that file alone", "survived"} {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d is %q, want %q in it", i+1, results[i], want)
		}
	}
	for name, want := range map[string]bool{"made.txt": true, "sub/inside.txt": true, "sub/here.txt": true, "sub/after-restart.txt": true, "denied.txt": false, "sub/denied.txt": false} {
		if _, err := os.Stat(filepath.Join(w.project(), name)); (err == nil) != want {
			t.Errorf("%s there: %v, want %v", name, err == nil, want)
		}
	}
	if out := w.run("receipts", "verify"); !strings.Contains(out, "9 receipts verify") {
		t.Errorf("receipts verify says:\n%s", out)
	}
	if out := w.run("receipts", "list"); strings.Count(out, "Enforced") < 4 {
		t.Errorf("receipts list says:\n%s", out)
	}
	model, err := os.ReadFile(filepath.Join(w.dir, "model.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(model, []byte("just this once")) {
		t.Error("the owner's note on an allow did not reach the model")
	}

	before := w.settings()
	w.run("disconnect", "claude")
	if after := w.settings(); strings.Contains(after, "countersign") {
		t.Errorf("after disconnect the settings still hold:\n%s\nbefore:\n%s", after, before)
	}
}

func (w *world) settings() string {
	data, err := os.ReadFile(filepath.Join(w.dir, "home", ".claude", "settings.json"))
	if err != nil {
		return ""
	}
	return string(data)
}

// TestClaudeWithoutCore shows that with the core gone and starting forbidden a call is denied with the reason.
func TestClaudeWithoutCore(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.run("connect", "claude", "--no-start")
	w.kill()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := w.agent(ctx, "touch never.txt")(); err != nil {
		t.Fatalf("claude: %v", err)
	}
	results := w.results()
	if len(results) != 1 || !strings.Contains(results[0], "countersign serve") {
		t.Errorf("the model saw %q, want a denial that says how to start the desk", results)
	}
	if _, err := os.Stat(filepath.Join(w.project(), "never.txt")); err == nil {
		t.Error("the command ran without a core")
	}
}
