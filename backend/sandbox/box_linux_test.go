package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/sandbox/sandboxtest"
)

// records is a sink that keeps what it is given and refuses invalid records.
type records struct {
	mu   sync.Mutex
	list []capability.Record
	fail error
}

func (r *records) Append(rec capability.Record) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return "", r.fail
	}
	if err := rec.Validate(); err != nil {
		return "", err
	}
	r.list = append(r.list, rec)
	return capability.Digest(rec), nil
}

func (r *records) all() []capability.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]capability.Record(nil), r.list...)
}

// rig is a broker with a workspace.
type rig struct {
	t         testing.TB
	broker    *Broker
	sink      *records
	scratch   string
	workspace string
	policy    capability.SandboxPolicy
	change    func(*capability.Request)
}

// newRig returns a rig in a boundary that works, or skips the test by the name of what is missing.
func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, sink: &records{}, scratch: privateDir(t), workspace: resolved(t, t.TempDir()), policy: capability.WorkspaceWrite}
	r.broker = New(Options{Sink: r.sink, Init: sandboxtest.Init(t), Scratch: r.scratch})
	report := r.broker.Probe(context.Background())
	if report.Enforcement != capability.Enforced {
		t.Skipf("no boundary on this machine: %v", report.unavailable())
	}
	t.Cleanup(func() {
		if err := r.broker.Forget("session"); err != nil {
			t.Error(err)
		}
		if err := r.broker.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func privateDir(t testing.TB) string {
	t.Helper()
	dir := resolved(t, t.TempDir())
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func resolved(t testing.TB, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// spec is a script in the workspace.
func (r *rig) spec(script string) Spec {
	r.t.Helper()
	req := r.broker.Request(r.policy, []string{r.workspace}, r.workspace)
	if r.change != nil {
		r.change(&req)
	}
	e, err := capability.Intersect(req)
	if err != nil {
		r.t.Fatal(err)
	}
	root, err := pathid.OpenRoot(pathid.OS(), req.Cwd)
	if err != nil {
		r.t.Fatal(err)
	}
	return Spec{
		Call: "call", Session: "session", Principal: "owner", Tool: "shell", Request: "request",
		Class: capability.ClassShell, Script: script, Effective: e, CwdIdentity: root.Identity, RecordDirectory: true,
	}
}

// run starts the specification, waits, and returns what it wrote to both streams.
func (r *rig) run(s Spec) (string, End) {
	r.t.Helper()
	out, end, err := r.try(context.Background(), s)
	if err != nil {
		r.t.Fatal(err)
	}
	return out, end
}

func (r *rig) try(ctx context.Context, s Spec) (string, End, error) {
	r.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	defer read.Close()
	s.Stdout, s.Stderr = write, write
	p, err := r.broker.Start(ctx, s)
	_ = write.Close()
	if err != nil {
		return "", End{}, err
	}
	var out bytes.Buffer
	_ = read.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(&out, read); err != nil {
		r.t.Errorf("output: %v", err)
	}
	return out.String(), p.Wait(), nil
}

// script runs text and returns its trimmed output and exit status, -1 when a signal ended it.
func (r *rig) script(text string) (string, int) {
	r.t.Helper()
	out, end := r.run(r.spec(text))
	return strings.TrimSpace(out), status(end)
}

func status(e End) int {
	if e.Exit == nil {
		return -1
	}
	return *e.Exit
}

// attempt runs one of play's attempts inside and returns what it printed.
func (r *rig) attempt(name string, args ...string) string {
	r.t.Helper()
	r.bring()
	out, _ := r.script(strings.Join(append([]string{"./self play", name}, args...), " "))
	// A test binary built with -cover says this whenever it ends.
	return strings.TrimSpace(strings.ReplaceAll(out, "warning: GOCOVERDIR not set, no coverage data emitted", ""))
}

// bring copies the test binary into the workspace.
func (r *rig) bring() {
	r.t.Helper()
	target := filepath.Join(r.workspace, "self")
	if _, err := os.Stat(target); err == nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := copyFile(self, target); err != nil {
		r.t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func (r *rig) write(path, text string) string {
	r.t.Helper()
	full := filepath.Join(r.workspace, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return full
}

// workspaceEntries lists the workspace as the host sees it.
func (r *rig) workspaceEntries() []string {
	r.t.Helper()
	entries, err := os.ReadDir(r.workspace)
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
