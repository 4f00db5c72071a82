//go:build window

package desktop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for something that a person would see at once; the machine may be busy.
const patience = 40 * time.Second

// testDesk is one desk in a home of its own: the window's program, and the command line beside it.
type testDesk struct {
	t       *testing.T
	bin     string
	home    string // COUNTERSIGN_HOME
	project string
	log     string
	desk    *exec.Cmd
	more    []string // of the environment
}

// newDesk prepares a home. Its key is in the keyring of the session, as on a person's machine.
func newDesk(t *testing.T, config string) *testDesk {
	t.Helper()
	if missing != "" {
		t.Skip(missing)
	}
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"countersign-desk", "countersign-tray", "countersign", "test/claude"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			t.Fatalf("%s is not built: run make test-desktop", name)
		}
	}
	base, err := os.MkdirTemp("", "cs-")
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	d := &testDesk{t: t, bin: bin, home: filepath.Join(base, "desk"), project: filepath.Join(base, "payments-api"), log: filepath.Join(base, "desk.log")}
	t.Cleanup(func() {
		d.kill()
		if t.Failed() {
			if out, err := os.ReadFile(d.log); err == nil {
				t.Logf("the desk said:\n%s", lastBytes(out, 4000))
			}
		}
		_ = os.RemoveAll(base)
	})
	for _, dir := range []string{filepath.Join(d.home, "config"), d.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.write(filepath.Join(d.home, "config", "config.toml"), config)
	d.write(filepath.Join(d.project, "README.md"), "# Payments\n")
	return d
}

func (d *testDesk) write(path, text string) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *testDesk) env() []string {
	return append(append(os.Environ(), "COUNTERSIGN_HOME="+d.home), d.more...)
}

// start starts the window and waits until it shows its pages.
func (d *testDesk) start(args ...string) *window {
	d.t.Helper()
	d.launch(args...)
	w := &window{t: d.t, app: windowName}
	w.wait("the window shows the inbox", func(n node) bool { return n.Role == "heading" && n.Name != "" || n.Role == "landmark" && n.Name != "" })
	return w
}

// launch starts the program and does not wait.
func (d *testDesk) launch(args ...string) {
	d.t.Helper()
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	d.desk = exec.Command(filepath.Join(d.bin, "countersign-desk"), args...)
	d.desk.Env, d.desk.Stdout, d.desk.Stderr = d.env(), log, log
	if err := d.desk.Start(); err != nil {
		d.t.Fatal(err)
	}
}

// kill ends the window as a power cut does.
func (d *testDesk) kill() {
	if d.desk != nil && d.desk.Process != nil {
		_ = d.desk.Process.Kill()
		_ = d.desk.Wait()
		d.desk = nil
	}
}

// countersign runs the command line as the owner types it.
func (d *testDesk) countersign(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(d.bin, "countersign"), args...)
	cmd.Env = d.env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// event is what the scripted agent says about one of its calls (test/agent).
type event struct {
	ID, Event, Call, Question, State, Outcome, Reason, Comment, Code, Output string
	Exit                                                                     *int
}

// agent is a scripted agent in a process of its own.
type agent struct {
	t   *testing.T
	in  io.WriteCloser
	cmd *exec.Cmd

	mu   sync.Mutex
	said []event
}

func (d *testDesk) agent() *agent {
	d.t.Helper()
	// An agent lies where agents lie, outside of the desk's own directories.
	program := filepath.Join(filepath.Dir(d.project), "bin", "claude")
	data, err := os.ReadFile(filepath.Join(d.bin, "test", "claude"))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(program), 0o700)
	}
	if err == nil {
		err = os.WriteFile(program, data, 0o700)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env, cmd.Dir, cmd.Stderr = d.env(), d.project, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	a := &agent{t: d.t, in: in, cmd: cmd}
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			var c event
			if json.Unmarshal(lines.Bytes(), &c) == nil {
				a.mu.Lock()
				a.said = append(a.said, c)
				a.mu.Unlock()
			}
		}
	}()
	d.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		<-done
		_ = cmd.Wait()
	})
	return a
}

// propose sends one call.
func (a *agent) propose(tool string, args map[string]any, more map[string]any) {
	a.t.Helper()
	line := map[string]any{"tool": tool, "args": args}
	for k, v := range more {
		line[k] = v
	}
	data, err := json.Marshal(line)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(data, '\n')); err != nil {
		a.t.Fatal(err)
	}
}

// heard waits until the agent was told something that fits.
func (a *agent) heard(what string, fits func(event) bool) event {
	a.t.Helper()
	var found event
	err := eventually(patience, func() error {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, c := range a.said {
			if fits(c) {
				found = c
				return nil
			}
		}
		return fmt.Errorf("the agent was not told %s; it heard %+v", what, a.said)
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return found
}

// was reports whether the agent was told something that fits.
func (a *agent) was(fits func(event) bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.said, fits)
}

// node is one accessible.
type node struct {
	Path       []int             `json:"path"`
	Role       string            `json:"role"`
	Name       string            `json:"name"`
	Text       string            `json:"text"`
	States     []string          `json:"states"`
	Box        [4]int            `json:"box"`
	Attributes map[string]string `json:"attributes"`
}

func (n node) is(state string) bool { return slices.Contains(n.States, state) }

// windowName is what the window is called on the accessibility bus: its program name.
const windowName = "dev.countersign.Desk"

// window is the window of a desk as a screen reader sees it.
type window struct {
	t   *testing.T
	app string
}

var driver struct {
	sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
}

// ask sends one request to drive.py, which is started once and ends with this process.
func ask(request map[string]any, into any) error {
	driver.Lock()
	defer driver.Unlock()
	if driver.in == nil {
		cmd := exec.Command("/usr/bin/python3", "drive.py")
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		driver.in, driver.out = in, bufio.NewReaderSize(out, 1<<20)
	}
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := driver.in.Write(append(data, '\n')); err != nil {
		return err
	}
	line, err := driver.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	var reply struct {
		OK    json.RawMessage `json:"ok"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return err
	}
	if reply.Error != "" {
		return fmt.Errorf("accessibility: %s", reply.Error)
	}
	return json.Unmarshal(reply.OK, into)
}

func (w *window) tree() ([]node, error) {
	var nodes []node
	err := ask(map[string]any{"op": "tree", "app": w.app}, &nodes)
	return nodes, err
}

// wait waits for an accessible that fits, and fails with what is there instead.
func (w *window) wait(what string, fits func(node) bool) node {
	w.t.Helper()
	var found node
	var nodes []node
	err := eventually(patience, func() error {
		var err error
		if nodes, err = w.tree(); err != nil {
			return err
		}
		for _, n := range nodes {
			if fits(n) {
				found = n
				return nil
			}
		}
		return fmt.Errorf("not there: %s", what)
	})
	if err != nil {
		w.t.Fatalf("%v\nThe window holds:\n%s", err, render(nodes))
	}
	return found
}

// gone waits until nothing fits any more.
func (w *window) gone(what string, fits func(node) bool) {
	w.t.Helper()
	err := eventually(patience, func() error {
		nodes, err := w.tree()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(nodes, fits) {
			return fmt.Errorf("still there: %s", what)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// press presses a button once it can be pressed: a card's buttons wait before they arm.
func (w *window) press(name string) {
	w.t.Helper()
	n := w.wait("button "+name, func(n node) bool {
		return strings.Contains(n.Role, "button") && strings.HasPrefix(n.Name, name) && n.is("sensitive") && n.is("enabled")
	})
	var done bool
	if err := ask(map[string]any{"op": "press", "app": w.app, "path": n.Path}, &done); err != nil || !done {
		w.t.Fatalf("press %q: %v", name, err)
	}
}

// choose selects the waiting call whose row shows this command.
func (w *window) choose(command string) {
	w.t.Helper()
	row := w.wait("a row with "+command, func(n node) bool {
		return (n.Role == "list item" || n.Role == "option") && strings.Contains(n.Name+n.Text, command)
	})
	if row.is("selected") {
		return
	}
	var done bool
	if err := ask(map[string]any{"op": "press", "app": w.app, "path": row.Path}, &done); err != nil {
		w.t.Fatalf("choose %q: %v", command, err)
	}
}

// decide presses a button of a card until the agent was told: a card that has just come to the front does not count a press.
func (w *window) decide(name string, a *agent, what string, fits func(event) bool) event {
	w.t.Helper()
	for range 5 {
		w.press(name)
		if eventually(3*time.Second, func() error {
			if !a.was(fits) {
				return fmt.Errorf("not yet")
			}
			return nil
		}) == nil {
			break
		}
	}
	return a.heard(what, fits)
}

// focus gives something the keyboard focus.
func (w *window) focus(n node) {
	w.t.Helper()
	var done bool
	if err := ask(map[string]any{"op": "focus", "app": w.app, "path": n.Path}, &done); err != nil {
		w.t.Fatal(err)
	}
}

// says waits until a text is somewhere in the window.
func (w *window) says(text string) {
	w.t.Helper()
	w.wait(fmt.Sprintf("the text %q", text), func(n node) bool { return strings.Contains(n.Name, text) || strings.Contains(n.Text, text) })
}

func render(nodes []node) string {
	var b strings.Builder
	for _, n := range nodes {
		if n.Name != "" || n.Text != "" {
			fmt.Fprintf(&b, "%s%s %q %q %v\n", strings.Repeat(" ", len(n.Path)), n.Role, n.Name, n.Text, n.States)
		}
	}
	return string(lastBytes([]byte(b.String()), 6000))
}

// shoot takes a picture of the screen.
func shoot(t *testing.T, file string) {
	t.Helper()
	if out, err := exec.Command("import", "-window", "root", file).CombinedOutput(); err != nil {
		t.Fatalf("import: %v %s", err, out)
	}
}
